"""`serve --auth keys`: the two keys that it prints open what it says, and the rest is refused."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import httpx2
import pytest

from drift.auth.project_keys import parse
from drift.http import settings
from drift.local.cli.options import DEMO_PROJECT
from drift.local.cli.servers import running
from drift.local.cli.trial import NO_PROJECT, TrialKey, choose, instructions, settings_with
from drift.local.hosts.local_host import serving
from drift.local.stack.stack import StackOptions
from tests.fakes_reading import FakeReader, Held

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_settings")]

MINE = TrialKey("drift_mine", DEMO_PROJECT, True)
OTHER = TrialKey("drift_other", 'it\'s, "théirs"', True)
GIVEN = {
    "NEO4J_URI": "bolt://127.0.0.1:1",
    "NEO4J_PASSWORD": "p",
    "OAI_BASE_URL": "http://127.0.0.1:1",
    "OAI_MODEL": "m",
    "OAI_EMBED_MODEL_NAME": "e",
    "REDIS_URL": "redis://127.0.0.1:1",
}


def requests(text: str) -> list[httpx2.Request]:
    """Return what the commands in a text send, read as a shell and curl read them."""
    lines = text.replace("\\\n", " ").splitlines()
    return [_request(shlex.split(line)) for line in lines if line.strip().startswith("curl")]


def _request(words: list[str]) -> httpx2.Request:
    assert words[:3] == ["curl", "-sw", r"\n%{http_code}\n"]
    url, *options = words[3:]
    given = list(zip(options[::2], options[1::2], strict=True))
    assert {option for option, _ in given} == {"-H", "-d"}
    headers = [value.split(": ", 1) for option, value in given if option == "-H"]
    return httpx2.Request("POST", url, headers=dict(headers), content=dict(given)["-d"])


def held(*projects: str) -> FakeReader:
    return FakeReader({project: Held() for project in projects})


async def test_what_is_printed_gets_what_it_is_said_to_get(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in settings_with([MINE, OTHER]).items():
        monkeypatch.setenv(name, value)
    async with serving() as url, httpx2.AsyncClient(trust_env=False) as client:
        text = instructions(url, MINE, OTHER)
        answers = [await client.send(request) for request in requests(text)]
    # no server stands behind it: who is let in is told so, and nobody else
    codes = [(answer.status_code, answer.json()["code"]) for answer in answers]
    assert codes == [(503, "not_configured"), (403, "forbidden"), (401, "unauthenticated")]
    prose = " ".join(line for line in text.splitlines() if not line.startswith(" "))
    assert re.findall(r"\b\d{3}\b", prose) == ["200", "403", "401"]


@pytest.mark.parametrize(
    ("projects", "second", "are_held"),
    [
        ((), NO_PROJECT, (False, False)),
        ((DEMO_PROJECT,), NO_PROJECT, (True, False)),
        (("b", DEMO_PROJECT, "a"), "a", (True, True)),
        (("a", "b"), "a", (False, True)),
        (("*", "a*", "a*b", "a\x07", "z, y"), "z, y", (False, True)),
        ((*(f"a{number:03}*" for number in range(99)), DEMO_PROJECT, "b"), "b", (True, True)),
        ((*(f"a{number:03}*" for number in range(200)), DEMO_PROJECT), NO_PROJECT, (True, False)),
    ],
    ids=["none", "the demo's", "three", "two others", "patterns", "many", "too many"],
)
async def test_one_key_is_the_demo_s_and_one_of_a_project_that_is_there(
    projects: tuple[str, ...], second: str, are_held: tuple[bool, bool]
) -> None:
    two = await choose(held(*projects))
    assert [one.project for one in two] == [DEMO_PROJECT, second]
    assert tuple(one.is_held for one in two) == are_held
    keys = parse(settings_with(two)["PROJECT_KEYS"])
    for one, other in (two, two[::-1]):
        caller = keys.caller(one.key.encode())
        assert caller.may(one.project, "read")
        assert not caller.may(other.project, "read")
        assert not caller.may(f"{one.project}x", "read")
        assert caller.only_project == one.project


def test_what_holds_nothing_is_said_with_what_fills_it() -> None:
    empty = [TrialKey(one.key, one.project, False) for one in (MINE, OTHER)]
    assert "holds nothing" not in instructions("http://a.example", MINE, OTHER)
    text = instructions("http://a.example", *empty)
    assert f"{DEMO_PROJECT} holds nothing yet" in text
    assert "drift ingest --sample" in text
    assert f"{OTHER.project} holds nothing yet" in text


@pytest.mark.parametrize(
    ("access", "mode"), [((), "function"), (({},), "keys")], ids=["a command", "as it is set"]
)
async def test_commands_ask_nobody_for_a_key_whatever_is_set_for_the_function(
    access: tuple[Mapping[str, str], ...],
    mode: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    for name, value in {**GIVEN, **settings_with([MINE])}.items():
        monkeypatch.setenv(name, value)
    async with running(StackOptions(data_dir=tmp_path, given=GIVEN), *access) as (_, values):
        assert (values.auth_mode, settings.load_access().auth_mode) == (mode, mode)
        assert (values.project_keys is None) == (mode == "function")

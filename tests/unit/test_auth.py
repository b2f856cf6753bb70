"""The one way in: which mode it has, and that it is closed where nothing says that it is open."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import Headers

from drift.auth.caller import EVERYBODY
from drift.auth.project_keys import hash_of
from drift.core.errors import ForbiddenError, NotConfiguredError, UnauthenticatedError
from drift.http.auth import Authentication
from drift.http.settings import load_access
from drift.http.settings_access import AccessSettings
from tests.unit.test_principal import TENANT, header

ROOT = Path(__file__).resolve().parents[2]
KEYS = json.dumps([{"name": "team a", "sha256": hash_of(b"key-a"), "projects": ["a"]}])
LEVELS = """
import json, sys
import function_app
functions = function_app.app.get_functions()
levels = {f.get_function_name(): f.get_trigger().auth_level.value for f in functions}
json.dump(levels, sys.stdout)
"""


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in AccessSettings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)


def authentication(*, platform_asks: bool = False, **values: str) -> Authentication:
    return Authentication(
        platform_asks_for_keys=platform_asks, read_settings=lambda: load_access(values)
    )


def headers(**values: str) -> Headers:
    return Headers({name.replace("_", "-"): text for name, text in values.items()})


async def test_function_keys_open_every_project() -> None:
    assert await authentication(platform_asks=True).caller(headers()) is EVERYBODY


async def test_a_mode_that_changed_since_the_start_opens_nothing() -> None:
    with pytest.raises(NotConfiguredError, match="AUTH_MODE"):
        await authentication(platform_asks=False).caller(headers())


async def test_a_principal_is_read_in_its_own_mode_only() -> None:
    forged = headers(x_ms_client_principal="eyJhdXRoX3R5cCI6ImFhZCJ9")
    with pytest.raises(UnauthenticatedError):
        await authentication(AUTH_MODE="keys", PROJECT_KEYS=KEYS).caller(forged)
    own = authentication(AUTH_MODE="easyauth", AUTH_TENANT_ID="t", WEBSITE_AUTH_ENABLED="True")
    with pytest.raises(UnauthenticatedError):
        await own.caller(headers(x_api_key="key-a"))


@pytest.mark.parametrize(
    "word", [{}, *({"WEBSITE_AUTH_ENABLED": word} for word in ("false", "truest"))], ids=str
)
async def test_a_principal_counts_only_where_the_platform_says_that_it_authenticates(
    word: dict[str, str],
) -> None:
    mode = {"AUTH_MODE": "easyauth", "AUTH_TENANT_ID": TENANT}
    principal = headers(
        x_ms_client_principal=header(("tid", TENANT), ("oid", "x"), ("roles", "read:a"))
    )
    said = {**mode, "WEBSITE_AUTH_ENABLED": " True"}
    assert (await authentication(**said).caller(principal)).project("a").id == "a"
    for shown in (principal, headers()):
        with pytest.raises(NotConfiguredError) as refused:
            await authentication(**mode, **word).caller(shown)
        assert "the platform's authentication is off: turn it on" in refused.value.detail


async def test_a_key_opens_its_projects() -> None:
    caller = await authentication(AUTH_MODE="KEYS ", PROJECT_KEYS=KEYS).caller(
        headers(x_api_key="key-a")
    )
    assert caller.project(None).id == "a"
    with pytest.raises(ForbiddenError):
        caller.project("b")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"AUTH_MODE": "nobody"}, "AUTH_MODE: "),
        ({"AUTH_MODE": "keys"}, "AUTH_MODE=keys needs PROJECT_KEYS or PROJECT_KEYS_SECRET"),
        (
            {
                "AUTH_MODE": "keys",
                "PROJECT_KEYS": KEYS,
                "PROJECT_KEYS_SECRET": "https://v.vault.azure.net/secrets/k",
            },
            "one of them",
        ),
        ({"AUTH_MODE": "keys", "PROJECT_KEYS": '[{"canary": 1}]'}, "PROJECT_KEYS: entry 1"),
        ({"AUTH_MODE": "keys", "PROJECT_KEYS_SECRET": "canary"}, "PROJECT_KEYS_SECRET: must be"),
        ({"AUTH_MODE": "easyauth"}, "AUTH_MODE=easyauth needs AUTH_TENANT_ID"),
    ],
)
async def test_wrong_settings_let_nobody_in_and_name_the_place(
    values: dict[str, Any], said: str
) -> None:
    closed = authentication(**values)
    with pytest.raises(NotConfiguredError) as refused:
        await closed.caller(headers(x_api_key="key-a"))
    assert said in refused.value.detail
    assert "canary" not in refused.value.detail


async def test_settings_that_have_been_mended_are_read_with_the_next_request() -> None:
    values = {"AUTH_MODE": "keys"}
    mended = Authentication(platform_asks_for_keys=False, read_settings=lambda: load_access(values))
    with pytest.raises(NotConfiguredError):
        await mended.caller(headers())
    values["PROJECT_KEYS"] = KEYS
    assert (await mended.caller(headers(authorization="Bearer key-a"))).name == "team a"


@pytest.mark.parametrize("none", ["[]", "", None])
async def test_keys_that_are_taken_away_while_requests_go_on_open_nothing(none: str | None) -> None:
    values, now = {"AUTH_MODE": "keys", "PROJECT_KEYS": KEYS}, [0.0]
    revoked = Authentication(
        platform_asks_for_keys=False,
        read_settings=lambda: load_access(values),
        clock=lambda: now[0],
    )
    await revoked.caller(headers(x_api_key="key-a"))
    values["PROJECT_KEYS"] = none or ""
    if none is None:
        del values["PROJECT_KEYS"]
    now[0] += 61
    with pytest.raises(NotConfiguredError, match="PROJECT_KEYS: "):
        await revoked.caller(headers(x_api_key="key-a"))


def test_another_loop_reads_its_own() -> None:
    shared = authentication(AUTH_MODE="keys", PROJECT_KEYS=KEYS)
    for _ in range(2):
        assert asyncio.run(shared.caller(headers(x_api_key="key-a"))).name == "team a"


@pytest.mark.parametrize(
    ("mode", "level"),
    [(None, "function"), ("no such mode", "function"), (" EasyAuth", "anonymous")],
)
def test_the_platforms_level_follows_from_the_mode(mode: str | None, level: str) -> None:
    clean = {"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    if mode is not None:
        clean["AUTH_MODE"] = mode
    run = subprocess.run(  # noqa: S603 - our own interpreter and text
        [sys.executable, "-c", LEVELS],
        cwd=ROOT,
        env=clean,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    levels = json.loads(run.stdout)
    for is_open in ("health_live", "mcp_metadata", "show_page", "show_page_file"):
        assert levels.pop(is_open) == "anonymous"
    assert set(levels.values()) == {level}

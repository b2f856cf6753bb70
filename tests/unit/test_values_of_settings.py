"""What people paste and `echo` into settings: taken as it is meant, or refused by name."""

from __future__ import annotations

import pytest

from drift.http import at_import
from drift.http.settings import environment, load, names
from tests.unit.test_settings import GOOD, problems


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in names():
        monkeypatch.delenv(name, raising=False)


AROUND = ("{}\n", "{}\r\n", " {}\t", "\ufeff{}", '"{}"', "'{}'\n", '"{}\n"', "\u200b{}\xa0")
"""What `echo`, an editor, a form or a shell leaves around a value."""


@pytest.mark.parametrize("around", AROUND)
def test_what_is_left_around_a_value_is_no_part_of_it(
    monkeypatch: pytest.MonkeyPatch, around: str
) -> None:
    given = {
        **GOOD,
        "OAI_KEY": "sk-1",
        "ANTHROPIC_KEY": "sk-2",
        "REDIS_URL": "rediss://:p@host:6380",
        "MILVUS_TOKEN": "u:p",
        "OAI_API_VERSION": "2024-10-21",
        "MAX_PASSES": "3",
        "AUTH_MODE": "keys",
        "PROJECT_KEYS": '[{"name": "a", "sha256": "' + "0" * 64 + '", "projects": ["a"]}]',
    }
    for name, value in given.items():
        monkeypatch.setenv(name, around.format(value))

    read = load()
    for name, value in given.items():
        found = getattr(read, name.lower())
        assert str(getattr(found, "get_secret_value", lambda f=found: f)()) == value
    assert environment()["NEO4J_PASSWORD"] == GOOD["NEO4J_PASSWORD"]
    assert not at_import.platform_asks_for_keys()


@pytest.mark.parametrize("nothing", ["\n", " \r\n", '""', "\ufeff"])
def test_what_is_nothing_but_that_is_not_set(nothing: str) -> None:
    read = load({**GOOD, "OAI_KEY": nothing, "NEO4J_DATABASE": nothing, "MAX_PASSES": nothing})
    assert (read.oai_key, read.neo4j_database, read.max_passes) == (None, None, 2)
    assert problems(NEO4J_PASSWORD=nothing) == ("NEO4J_PASSWORD is not set.",)


def test_a_password_may_hold_quotes_and_blanks_within() -> None:
    for password in ('a "b" c', "it's", '"', "'a"):
        assert (
            load({**GOOD, "NEO4J_PASSWORD": password}).neo4j_password.get_secret_value() == password
        )
    quoted = load({**GOOD, "NEO4J_PASSWORD": "' a'"})
    assert quoted.neo4j_password.get_secret_value() == " a"


@pytest.mark.parametrize("name", ["OAI_KEY", "ANTHROPIC_KEY"])
def test_a_key_that_no_header_can_carry_is_refused_by_name(name: str) -> None:
    for key in ("canary\nX-Other: 1", "canary-k\u00e9y", "canary\0x"):
        [problem] = problems(**{name: key})
        assert problem.startswith(f"{name}: holds characters")
        assert "canary" not in problem
    pasted = getattr(load({**GOOD, name: "Bearer sk-1"}), name.lower())
    assert pasted.get_secret_value() == "sk-1"


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("NEO4J_URI", "canary.databases.neo4j.io", "and begins with none"),
        ("NEO4J_URI", "canary.example:7687", "and begins with none"),
        ("NEO4J_URI", "redis://canary", "and begins with another"),
        ("NEO4J_URI", "neo4j+s://", "the host, which it does not name"),
        ("NEO4J_URI", "neo4j+s://canary:bolt", "a port that is none"),
        ("NEO4J_URI", "neo4j+s://canary:99999", "a port that is none"),
        ("NEO4J_URI", "neo4j+s://u:canary@host", "NEO4J_USERNAME and NEO4J_PASSWORD"),
        ("NEO4J_URI", "neo4j+s://host/canary", "NEO4J_DATABASE names the database"),
        ("NEO4J_URI", "bolt+s://host?database=canary", "end it behind the port"),
        ("NEO4J_URI", "neo4j+s://canary host", "a blank or a line end"),
        ("REDIS_URL", "canary:6380", "and begins with none"),
        ("REDIS_URL", "rediss://canary:http", "a port that is none"),
        ("OAI_BASE_URL", "canary.openai.azure.com", "and begins with none"),
        ("OAI_BASE_URL", "https://canary:0", "a port that is none"),
    ],
)
def test_an_address_that_cannot_be_says_which_part_is_wrong(
    name: str, value: str, says: str
) -> None:
    [problem] = problems(**{name: value})
    assert problem.startswith(f"{name}: ")
    assert says in problem
    assert "canary" not in problem

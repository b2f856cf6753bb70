"""docs/deploy.md says what the parameter files say."""

from __future__ import annotations

import re

from drift.local.infra.bicep_parameters import given_in
from tests.infra.ways import DECLARED, DEFAULTS, ROOT, Way, way_of, ways_of_people

DOCS = (ROOT / "docs/deploy.md").read_text()
WAYS = [way_of(file) for file in ways_of_people()]


def test_the_variables_that_are_given_for_a_way_make_the_same_parameters() -> None:
    for way in WAYS:
        given = given_in((ROOT / "infra/main.bicepparam").read_text(), _variables(way))
        own = {
            name: way[name]
            for name, one in given.items()
            if isinstance(one.value, str | int | bool)
        }
        read = {name: given[name].value for name in own}
        required = {name for name, one in DECLARED.items() if one.required}
        for name in required | {
            "keyVaultPurgeProtection",
            "alertEmail",
            "neo4jPassword",
            "neo4jCredentialId",
        }:
            own.pop(name, None), read.pop(name, None)
        assert read == own, way.name


def _variables(way: Way) -> dict[str, str]:
    """Return the variables of the row of a way, with the way's own values for `…`."""
    (row,) = re.findall(
        rf"^\| `{way.name}` \|.*\|([^|]*)\|$", DOCS.split("### Who may do what")[0], re.MULTILINE
    )
    if row.strip().startswith("the same and"):
        settings = "OPENAI_MODE=existing OPENAI_EXISTING_ID=…"
        settings += " REDIS_MODE=existing REDIS_EXISTING_ID=…"
        row = f"`{settings}` {row}"
    pairs = dict(re.findall(r"(\w+)=([^\s`]+)", row))
    return {name: _value(way, name) if value == "…" else value for name, value in pairs.items()}


def _value(way: Way, variable: str) -> str:
    file = given_in((ROOT / "infra/main.bicepparam").read_text(), {})
    return str(next((way[name] for name, one in file.items() if one.variable == variable), ""))


def test_every_variable_that_is_named_is_read() -> None:
    read = set(
        re.findall(
            r"readEnvironmentVariable\('(\w+)'", (ROOT / "infra/main.bicepparam").read_text()
        )
    )
    choices = DOCS.split("## Choices")[1].split("## AuraDB")[0]
    rows = re.findall(r"^\| (`.*?) \|", choices, re.MULTILINE)
    assert rows
    for names in rows:
        assert set(re.findall(r"`(\w+)`", names)) <= read | {"NEO4J_PASSWORD"}, names


def test_the_default_capacity_carries_four_of_the_requests_that_were_measured() -> None:
    assert DEFAULTS["chatCapacity"] >= 4 * 130
    assert f"default of {DEFAULTS['chatCapacity']} carries four" in DOCS

"""docs/deploy.md says what the parameter files say."""

from __future__ import annotations

import re
from pathlib import Path

from tests.infra.rules.files import given, variables
from tests.infra.ways import ROOT, ways_of_people

DOCS = (ROOT / "docs/deploy.md").read_text()
FILE = (ROOT / "infra/main.bicepparam").read_text()
VARIABLE = {
    **variables(FILE),
    "NEO4J_PASSWORD": "NEO4J_CREDENTIAL_ID",
    "developer.id": "DEVELOPER_PRINCIPAL_ID",
    "foundryExistingIds": "RERANK_EXISTING_ID",
    "vaultOfficer.id": "VAULT_OFFICER_PRINCIPAL_ID",
}
"""The variable behind each parameter, setting and id of a secret."""

BESIDES = {"AZURE_ENV_NAME", "AZURE_LOCATION", "NEO4J_URI"} | {
    "ALERT_EMAIL",
    "KEY_VAULT_PURGE_PROTECTION",
}
"""What a way needs in any case, and what `developer` shows besides."""


def test_the_variables_that_are_given_for_a_way_make_the_same_parameters() -> None:
    for file in ways_of_people():
        of_claude = {"foundryExistingIds": "ANTHROPIC_EXISTING_ID"} if file.stem == "claude" else {}
        read = VARIABLE | of_claude
        chosen = {
            read[name]: value.strip("'")
            for name, value in given(file.read_text())
            if name in read
            and "readEnvironmentVariable(" not in value
            and read[name] not in BESIDES
        }
        told = _variables(file)
        assert told.keys() - BESIDES == chosen.keys(), file.stem
        assert all(value in {"…", chosen.get(name)} for name, value in told.items()), file.stem


def _variables(file: Path) -> dict[str, str]:
    """Return the variables of the row of a way."""
    rows = DOCS.split("### Who may do what")[0]
    (row,) = re.findall(rf"^\| `{file.stem}` \|.*\|([^|]*)\|$", rows, re.MULTILINE)
    if row.strip().startswith("the same and"):
        row += "`OPENAI_MODE=existing OPENAI_EXISTING_ID=… REDIS_MODE=existing REDIS_EXISTING_ID=…`"
    return dict(re.findall(r"(\w+)=([^\s`]+)", row))


def test_every_variable_that_is_named_is_read() -> None:
    read = set(re.findall(r"readEnvironmentVariable\('(\w+)'", FILE))
    choices = DOCS.split("## Choices")[1].split("## AuraDB")[0]
    rows = re.findall(r"^\| (`.*?) \|", choices, re.MULTILINE)
    assert rows
    for names in rows:
        assert set(re.findall(r"`(\w+)`", names)) <= read | {"NEO4J_PASSWORD"}, names


def test_the_default_capacity_carries_four_of_the_requests_that_were_measured() -> None:
    (capacity,) = re.findall(r"'CHAT_CAPACITY', '(\d+)'", FILE)
    assert int(capacity) >= 4 * 130
    assert f"default of {capacity} carries four" in DOCS

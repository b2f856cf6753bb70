"""`doctor --infra` with the real compiler: a refusal is told with its place, and no secret."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from drift.local.cli.doctor.infra import infra_findings
from drift.local.infra.bicep_compiler import find_compiler
from tests.infra.ways import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

CANARY = "canary-password-3f81"
GOOD = {
    "AZURE_ENV_NAME": "dev-1",
    "AZURE_LOCATION": "westeurope",
    "NEO4J_URI": "neo4j+s://graph.example.com",
    "NEO4J_PASSWORD": CANARY,
}
ENTRY = json.dumps([{"name": CANARY, "sha256": "0" * 64, "projects": ["a"]}])
SHARED = "/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared"
SECRET = f"{SHARED}/providers/Microsoft.KeyVault/vaults/team/secrets/neo4j"


@pytest.mark.parametrize(
    ("variables", "lines", "places"),
    [
        (GOOD, "", {}),
        ({**GOOD, "NEO4J_PASSWORD": "", "NEO4J_CREDENTIAL_ID": SECRET}, "", {}),
        (
            {"AZURE_LOCATION": "westeurope", "NEO4J_PASSWORD": "short", "VNET_ENABLED": "perhaps"},
            "param neo4jUri = 'bolt://graph.example.com'\nparam maximumInstances = 50",
            {
                "environmentName": "AZURE_ENV_NAME",
                "NEO4J_URI": "main.bicepparam:",
                "neo4jPassword": "8",
                "vnetEnabled": "VNET_ENABLED",
                "neo4jUri": "appSettings.NEO4J_URI",
                "maximumInstances": "without being declared",
            },
        ),
        (
            {**GOOD, "NEO4J_URI": f"bolt://neo4j:{CANARY}@graph", "AZURE_LOCATION": "westeurop"},
            "param corsOrigins = concat(['https://portal.example.com'], ['https://*.example.com'])",
            {
                "parameters": "corsOrigins must name each origin",
                "NEO4J_URI": "",
                "appSettings": "holds a password",
                "location": "'westeurope' is",
            },
        ),
        ({**GOOD, "PROJECT_KEYS": ENTRY}, "", {"parameters": "are for authMode keys"}),
        ({**GOOD, "OPENAI_MODE": "off"}, "", {"openAiMode": "'create,existing'"}),
    ],
    ids=["right", "own-secret", "compiler", "engine", "keys", "allowed"],
)
def test_what_is_refused_is_told_with_its_place(
    variables: dict[str, str], lines: str, places: dict[str, str], tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "infra", tmp_path / "infra", ignore=shutil.ignore_patterns("ways"))
    file = tmp_path / "infra/main.bicepparam"
    file.write_text(f"{file.read_text()}\n{lines}\n")
    findings = infra_findings(tmp_path, variables, find_compiler())
    assert CANARY not in str(findings)
    told = {one.name: one.text for one in reversed(findings) if one.state == "problem"}
    assert set(told) == set(places)
    assert all(said in told[name] for name, said in places.items())

"""The templates of this repository as the tests see them: where they are, and what they would deploy."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests.infra.bicep_deployment import Resource, Scope, deploy
from tests.infra.bicep_tree import BicepFile

ROOT = Path(__file__).resolve().parents[2]
INFRA = ROOT / "infra"
MAIN = INFRA / "main.bicep"
FILES = sorted(INFRA.rglob("*.bicep"))

CANARY = "canary-password"
REQUIRED = {
    "environmentName": "dev",
    "location": "westeurope",
    "neo4jUri": "neo4j+s://0a1b2c3d.databases.neo4j.io",
    "neo4jPassword": CANARY,
}
OTHER_GROUP = "/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers"
EXISTING_OPENAI = f"{OTHER_GROUP}/Microsoft.CognitiveServices/accounts/models"
EXISTING_REDIS = f"{OTHER_GROUP}/Microsoft.Cache/redisEnterprise/cache"
EXISTING_NETWORK = f"{OTHER_GROUP}/Microsoft.Network/virtualNetworks/hub"

WAYS: dict[str, dict[str, Any]] = {
    "default": {},
    "private": {"vnetEnabled": True},
    "all private": {"vnetEnabled": True, "functionAccess": "private"},
    "own network": {
        "vnetEnabled": True,
        "existingAppSubnetId": f"{EXISTING_NETWORK}/subnets/functions",
        "existingEndpointSubnetId": f"{EXISTING_NETWORK}/subnets/endpoints",
        "privateDnsZonesEnabled": False,
    },
    "own models and cache": {
        "openAiMode": "existing",
        "openAiExistingId": EXISTING_OPENAI,
        "redisMode": "existing",
        "redisExistingId": EXISTING_REDIS,
    },
    "without redis": {"redisMode": "off"},
    "private without redis": {"vnetEnabled": True, "redisMode": "off", "natGatewayEnabled": False},
    "developer": {"developerPrincipalId": "44444444-4444-4444-4444-444444444444", "alertEmail": "ops@example.com"},
}
"""Ways to deploy: together they reach every condition of the templates."""


@cache
def _deployed(way: str) -> Scope:
    return deploy(MAIN, {**REQUIRED, **WAYS[way]})


def deployed(way: str = "default") -> Scope:
    """Return what a way of `WAYS` would deploy."""
    return _deployed(way)


def resources(way: str = "default", kind: str = "") -> list[Resource]:
    """Return the resources that are made, of one type or of all."""
    return [one for one in deployed(way).resources() if not one.existing and kind in {"", one.type}]


def only(way: str, kind: str) -> Resource:
    """Return the one resource of a type."""
    (found,) = resources(way, kind)
    return found


def app_settings(way: str = "default") -> dict[str, str]:
    """Return the settings of the site."""
    pairs = only(way, "Microsoft.Web/sites").properties["siteConfig"]["appSettings"]
    found = {pair["name"]: pair["value"] for pair in pairs}
    assert len(found) == len(pairs)
    return found


def outputs(way: str = "default") -> dict[str, Any]:
    """Return the outputs of the template."""
    scope = deployed(way)
    return {name: scope.output(name) for name in scope.file.outputs}


def texts(value: Any) -> Iterator[str]:
    """Return every text inside a value, keys too."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)
    elif isinstance(value, str):
        yield value


def parameter_file() -> BicepFile:
    """Return infra/main.bicepparam; its `param x = …` are read as variables, which the parsers know."""
    path = INFRA / "main.bicepparam"
    lines = path.read_text().splitlines()
    source = "\n".join(
        "" if line.startswith("using ") else line.replace("param ", "var ", 1) if line.startswith("param ") else line
        for line in lines
    )
    return BicepFile(path, source + "\n")

"""Wrong parameters are refused by the deployment engine itself, before anything is made, with what
is wrong.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.infra.compiler import Compiler, RefusedError
from tests.infra.ways import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

SHARED = "/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers"
OPENAI = f"{SHARED}/Microsoft.CognitiveServices/accounts/models"
REDIS = f"{SHARED}/Microsoft.Cache/redisEnterprise/cache"
KEYS = f"{SHARED}/Microsoft.KeyVault/vaults/team/secrets/callers"
CLIENT = "66666666-6666-6666-6666-666666666666"
NETWORK = f"{SHARED}/Microsoft.Network/virtualNetworks/hub"

RIGHT: dict[str, Any] = {
    "environmentName": "dev",
    "location": "westeurope",
    "neo4jUri": "neo4j+s://0a1b2c3d.databases.neo4j.io",
    "neo4jPassword": "canary-password",
}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"environmentName": None}, "environmentName"),
    ({"environmentName": "my_env"}, "letters, digits and dashes only"),
    ({"neo4jPassword": None}, "neo4jPassword"),
    ({"neo4jUri": "bolt://graph.example.com"}, "neo4j+s:// or bolt+s://"),
    ({"neo4jUri": "neo4j+s://neo4j:pw@graph.example.com"}, "no user and no password"),
    (
        {"neo4jCredentialId": f"{SHARED}/Microsoft.KeyVault/vaults/team"},
        "neo4jCredentialId must be",
    ),
    ({"maximumInstanceCount": 39}, "maximumInstanceCount"),
    ({"appSettings": {"neo4j_password": "pw"}}, "appSettings must not hold neo4j_password"),
    ({"appSettings": {"MAX_PASSES": "3", "AUTH_MODE": "function"}}, "must not hold AUTH_MODE:"),
    ({"corsOrigins": ["https://ok.example.com", "*"]}, "corsOrigins must name each origin"),
    ({"openAiMode": "existing"}, "openAiExistingId must be"),
    ({"openAiMode": "existing", "openAiExistingId": REDIS}, "openAiExistingId must be"),
    ({"redisMode": "existing", "redisExistingId": OPENAI}, "redisExistingId must be"),
    ({"existingAppSubnetId": f"{NETWORK}/subnets/a"}, "must be given together"),
    (
        {"existingAppSubnetId": f"{NETWORK}/subnets/a", "existingEndpointSubnetId": NETWORK},
        "existingEndpointSubnetId must be the resource id of a subnet",
    ),
    ({"authMode": "keys"}, "authMode keys needs projectKeys"),
    ({"projectKeysCredentialId": KEYS}, "are for authMode keys"),
    (
        {"authMode": "keys", "projectKeysCredentialId": REDIS},
        "projectKeysCredentialId must be the resource id of a secret",
    ),
    (
        {"authMode": "keys", "neo4jCredentialId": KEYS},
        "projectKeysCredentialId must be given with neo4jCredentialId",
    ),
    ({"authMode": "easyauth"}, "authMode easyauth needs entraClientId"),
    ({"entraClientId": CLIENT}, "are for authMode easyauth"),
    (
        {"authMode": "easyauth", "entraClientId": CLIENT, "authTenantId": "contoso"},
        "authTenantId must be the id of a tenant",
    ),
    (
        {"chatSkuName": "DataZoneProvisionedManaged"},
        "chatCapacity must be given with a provisioned chatSkuName",
    ),
    ({"vnetAddressPrefix": "10.60.0.0/26"}, "vnetAddressPrefix must be a range"),
    ({"functionAccess": "deployOnly"}, "functionAccess must be public without vnetEnabled"),
    ({"plainPassword": "in plain sight"}, "plainPassword"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("refused") / "infra"
    shutil.copytree(ROOT / "infra", copy)
    return copy


@pytest.mark.parametrize(
    ("changes", "said"), WRONG, ids=[f"{n}-{'-'.join(one[0])}" for n, one in enumerate(WRONG)]
)
def test_a_wrong_parameter_is_refused_with_what_is_wrong(
    changes: dict[str, Any], said: str, folder: Path, compiler: Compiler
) -> None:
    with pytest.raises(RefusedError) as refused:
        compiler.snapshot(_parameter_file(folder, {**RIGHT, **changes}))
    assert said in str(refused.value)


def test_what_is_right_is_not_refused(folder: Path, compiler: Compiler) -> None:
    assert compiler.snapshot(_parameter_file(folder, RIGHT))["predictedResources"]


def _parameter_file(folder: Path, values: dict[str, Any]) -> Path:
    lines = [
        f"param {name} = {_literal(value)}" for name, value in values.items() if value is not None
    ]
    file = folder / "tried.bicepparam"
    file.write_text("\n".join(["using './main.bicep'", *lines, ""]))
    return file


def _literal(value: Any) -> str:
    if isinstance(value, dict):
        lines = [f"  {name}: {_literal(one)}" for name, one in value.items()]
        return "\n".join(["{", *lines, "}"])
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return f"'{value}'" if isinstance(value, str) else str(value)

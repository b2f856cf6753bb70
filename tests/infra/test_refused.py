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

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SHARED = "/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/shared/providers"
OPENAI = f"{SHARED}/Microsoft.CognitiveServices/accounts/models"
REDIS = f"{SHARED}/Microsoft.Cache/redisEnterprise/cache"
CLIENT = "66666666-6666-6666-6666-666666666666"
SECRET = f"{SHARED}/Microsoft.KeyVault/vaults/team/secrets/one"
NETWORK = f"{SHARED}/Microsoft.Network/virtualNetworks/hub"

CHAT = {
    "deployment": "chat",
    "model": "gpt-5.4",
    "version": "1",
    "sku": "GlobalStandard",
    "capacity": 520,
}
RIGHT: dict[str, Any] = {
    "environmentName": "dev",
    "location": "westeurope",
    "appSettings": {"NEO4J_URI": "neo4j+s://0a1b2c3d.databases.neo4j.io"},
    "neo4jPassword": "canary-password",
}
REFUSED_SETTINGS = [
    "APPLICATIONINSIGHTS_CONNECTION_STRING",
    "AzureWebJobsStorage",
    "ALLOW_PLAINTEXT",
    "ANTHROPIC_KEY",
    "AUTH_MODE",
    "AUTH_TENANT_ID",
    "AZURE_CLIENT_ID",
    "MAX_INFLIGHT",
    "MILVUS_TOKEN",
    "OAI_BASE_URL",
    "OAI_EMBED_DEPLOYMENT_NAME",
    "OAI_EMBED_MODEL_NAME",
    "OAI_KEY",
    "OAI_MODEL",
    "PROJECT_KEYS",  # a setting is read once a process: a revoked key would be good until a restart
    "PROJECT_KEYS_SECRET",
    "REDIS_AUTH",
    "REDIS_URL",
    "RERANK_KEY",
    "WEBSITE_AUTH_ENABLED",  # by hand it would have the function believe whom nobody has checked
    "neo4j_password",
]
"""Settings of the template, secrets, and what is for local use."""

WRONG: list[tuple[dict[str, Any], list[str]]] = [
    (
        {
            "environmentName": "my_env",
            "appSettings": {
                "MAX_PASSES": "DefaultEndpointsProtocol=https;AccountKey=abc",
                "NEO4J_URI": "bolt://neo4j:pw@graph.example.com",
                "CHAT_PROVIDER": "claude",
                "VECTOR_STORE": "pinecone",
                "RERANK_MODEL": "rerank",
                **dict.fromkeys(REFUSED_SETTINGS, "1"),
            },
            "credentialIds": {
                "NEO4J_PASSWORD": f"{SHARED}/Microsoft.KeyVault/vaults/team",
                "ANTHROPIC_KEY": OPENAI,
                "MILVUS_TOKEN": OPENAI,
                "OAI_KEY": SECRET,
            },
            "corsOrigins": ["https://ok.example.com", "*"],
            "openAiMode": "existing",
            "redisMode": "existing",
            "redisExistingId": OPENAI,
            "existingAppSubnetId": f"{NETWORK}/subnets/a",
            "authMode": "keys",
            "entraClientId": CLIENT,
            "authTenantId": "contoso",
            "vnetAddressPrefix": "10.60.0.0/26",
            "functionAccess": "deployOnly",
            "alwaysReadyInstances": 41,
            "existingMonitorScopeId": REDIS,
            "foundryExistingIds": [REDIS],
        },
        [
            "letters, digits and dashes only",
            "appSettings.NEO4J_URI must be given and begin with neo4j+s://",
            "no user and no password",
            "credentialIds.ANTHROPIC_KEY and MILVUS_TOKEN and NEO4J_PASSWORD must be the resource",
            "credentialIds must not hold OAI_KEY",
            "appSettings.CHAT_PROVIDER must be openai or anthropic",
            "appSettings.VECTOR_STORE must be neo4j or milvus",
            f"appSettings must not hold {', '.join(sorted(map(str.upper, REFUSED_SETTINGS)))}:",
            "corsOrigins must name each origin",
            "openAiExistingId must be",
            "redisExistingId must be",
            "must be given together",
            "authMode keys needs projectKeys",
            "credentialIds.PROJECT_KEYS must be given with NEO4J_PASSWORD",
            "are for authMode easyauth",
            "authTenantId must be the id of a tenant",
            "vnetAddressPrefix must be a range",
            "functionAccess must be public without vnetEnabled",
            "are for CHAT_PROVIDER anthropic",
            "are for VECTOR_STORE milvus",
            "are for appSettings.RERANK_URL",
            "foundryExistingIds must be resource ids",
            "foundryExistingIds are for",
            "existingAppSubnetId and existingEndpointSubnetId are for vnetEnabled",
            "must hold no key",
            "alwaysReadyInstances must not be",
            "existingMonitorScopeId must be",
            "existingMonitorScopeId is for vnetEnabled",
        ],
    ),
    (
        {
            "appSettings": {
                "NEO4J_URI": "https://0a1b2c3d.databases.neo4j.io",
                "CHAT_PROVIDER": "anthropic",
                "VECTOR_STORE": "milvus",
                "MILVUS_URI": "http://milvus.example.com:19530",
                "RERANK_URL": "http://rerank.example.com",
            },
            "credentialIds": {"PROJECT_KEYS": REDIS},
            "existingAppSubnetId": f"{NETWORK}/subnets/a",
            "existingEndpointSubnetId": NETWORK,
            "vnetEnabled": True,
            "chat": {**CHAT, "sku": "DataZoneProvisionedManaged"},
            "authMode": "easyauth",
        },
        [
            "appSettings.NEO4J_DATABASE must be given",
            "appSettings.OAI_MODEL must name the Claude model",
            "CHAT_PROVIDER anthropic needs appSettings.ANTHROPIC_BASE_URL",
            "VECTOR_STORE milvus needs appSettings.MILVUS_URI",
            "appSettings.RERANK_URL must begin with https://",
            "appSettings.RERANK_MODEL must name the model",
            "are for authMode keys",
            "credentialIds.PROJECT_KEYS must be the resource id of a secret",
            "existingEndpointSubnetId must be the resource id of a subnet",
            "chat.capacity must be given with a provisioned chat.sku",
            "authMode easyauth needs entraClientId",
        ],
    ),
    (
        {
            "openAiMode": "existing",
            "openAiExistingId": REDIS,
            "redisExistingId": REDIS,
            "vnetEnabled": True,
            "existingAppSubnetId": NETWORK,
            "existingEndpointSubnetId": f"{NETWORK}/subnets/a",
        },
        [
            "openAiExistingId must be",
            "redisExistingId is for redisMode existing",
            "existingAppSubnetId must be the resource id of a subnet",
        ],
    ),
    (
        {
            "openAiExistingId": OPENAI,
            "chat": {**CHAT, "deployment": "One"},
            "embedding": {**CHAT, "deployment": "one"},
            "vnetEnabled": True,
            "existingAppSubnetId": f"{NETWORK}/subnets/a",
            "existingEndpointSubnetId": f"{NETWORK}-of-others/subnets/a",
        },
        [
            "openAiExistingId is for openAiMode existing",
            "must be two names",
            "must lie in one network",
        ],
    ),
]
SENTENCES = {sentence for _, said in WRONG for sentence in said}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("refused") / "infra"
    shutil.copytree(ROOT / "infra", copy)
    return copy


@pytest.mark.parametrize(("changes", "said"), WRONG, ids=["many", "sign-in", "three", "unused"])
def test_wrong_parameters_are_refused_with_all_that_is_wrong(
    changes: dict[str, Any], said: list[str], folder: Path, compiler: Compiler
) -> None:
    text = _refused(folder, changes, compiler)
    assert {sentence for sentence in SENTENCES if sentence in text} == set(said)


@pytest.mark.parametrize(
    "changes",
    [
        {"environmentName": None},
        {"neo4jPassword": None},
        {"maximumInstanceCount": 39},
        {"plainPassword": "in plain sight"},
    ],
    ids=str,
)
def test_a_parameter_that_is_missing_unknown_or_out_of_bounds_is_named(
    changes: dict[str, Any], folder: Path, compiler: Compiler
) -> None:
    assert next(iter(changes)) in _refused(folder, changes, compiler)


def _refused(folder: Path, changes: dict[str, Any], compiler: Compiler) -> str:
    with pytest.raises(RefusedError) as refused:
        compiler.snapshot(_parameter_file(folder, {**RIGHT, **changes}))
    return str(refused.value)


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
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}'" if isinstance(value, str) else str(value)

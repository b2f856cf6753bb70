"""Planted faults: a deployment would swallow each, and one of the rules has to notice.

What the compiler refuses needs no rule and is not planted.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.infra.compiler import Compiler
from tests.infra.rules import EVERY_WAY, files, template
from tests.infra.ways import ROOT, Project, way_files

pytestmark = [pytest.mark.deep, pytest.mark.slow, pytest.mark.timeout(600)]

COPIED = "host.json .funcignore .gitignore azure.yaml local.settings.json.example"
FIRST = ("every-parameter", "all-private")
"""The ways that show most faults: asked first, since working one out takes a second."""

FAULTS = [
    ("infra/modules/keyvault.bicep", "  tags: tags\n", "  tags: { p: neo4jPassword }\n"),
    ("infra/modules/keyvault.bicep", "@onlyIfNotExists()\n", ""),
    ("infra/modules/openai.bicep", "@batchSize(1)\n", ""),
    (
        "infra/modules/function.bicep",
        "AzureWebJobsStorage__credential: 'managedidentity'",
        "AzureWebJobsStorage: ''",
    ),
    (
        "infra/modules/function.bicep",
        "  APPLICATIONINSIGHTS_AUTHENTICATION_STRING:",
        "  OF_TELEMETRY:",
    ),
    ("infra/modules/function.bicep", "  dependsOn: [\n    noFtpPassword\n  ]\n", ""),
    ("infra/modules/function.bicep", "enabled: signIn", "enabled: false"),
    ("infra/main.bicep", "name: 'checks-${token}'", "name: 'checks'"),
    ("infra/main.bicep", "${workload}-${environmentName}", "${environmentName}-${workload}"),
    (
        "infra/main.bicep",
        "'privatelink.redis.azure.net'",
        "'privatelink.redisenterprise.azure.net'",
    ),
    ("infra/main.bicep", "milvus ? [milvusPort] : []", "milvus ? ['1${milvusPort}'] : []"),
    (
        "infra/main.bicep",
        "    publicAccess: !vnetEnabled\n    publicQueries",
        "    publicAccess: true\n    publicQueries",
    ),
    ("infra/main.bicep", "createNetwork ? (network.?outputs.outgoingAddress ?? '') : ''", "''"),
    (
        "infra/main.bicep",
        "natGatewayEnabled: natGatewayEnabled",
        "natGatewayEnabled: natGatewayEnabled && privateDnsZonesEnabled",
    ),
    (
        "infra/modules/rbac.bicep",
        "'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'",
        "'8e3af657-a8ff-443c-a75c-2fe8c4bcb635'",
    ),
    (
        "infra/modules/secret-access.bicep",
        "secretsUser)\n  }\n}\n\nresource developer",
        "secretsOfficer)\n  }\n}\n\nresource developer",
    ),
    (
        "infra/modules/monitoring.bicep",
        "InsightsName string = applicationInsights.name",
        "InsightsName string = applicationInsights.properties.ConnectionString",
    ),
    ("infra/modules/network.bicep", "          protocol: 'Tcp'", "          protocol: '*'"),
    ("host.json", '"00:05:00"', '"00:03:00"'),
    ("host.json", '"no-store"', '"max-age=60"'),
    ("azure.yaml", "  predown:", "  postdown:"),
    (
        "infra/bicepconfig.json",
        '"secure-parameter-default": { "level": "error" }',
        '"secure-parameter-default": { "level": "off" }',
    ),
    (
        "infra/main.bicepparam",
        "readEnvironmentVariable('NEO4J_USERNAME'",
        "readEnvironmentVariable('NEO4J_DATABASE'",
    ),
    ("local.settings.json.example", '"ALLOW_PLAINTEXT": "false"', '"ALLOW_PLAINTEXT": "true"'),
    ("infra/modules/endpoints.bicep", "union(allZones, allZones)", "concat(allZones, [])"),
    ("infra/modules/storage.bicep", "'TLS1_2'", "'TLS1_0'"),
    ("infra/modules/storage.bicep", "allowSharedKeyAccess: false", "allowSharedKeyAccess: true"),
    ("infra/modules/redis.bicep", "clientProtocol: 'Encrypted'", "clientProtocol: 'Plaintext'"),
    ("infra/modules/redis.bicep", "port: 10000", "port: 10001"),
    ("infra/modules/keyvault.bicep", "name: 'standard'", "name: 'premium'"),
    ("infra/modules/keyvault.bicep", "'AzureServices' : 'None'", "'None' : 'AzureServices'"),
    (
        "infra/modules/network.bicep",
        "cidrSubnet(addressPrefix, 26,",
        "cidrSubnet(addressPrefix, 27,",
    ),
    (
        "infra/modules/network.bicep",
        "'Microsoft.App/environments'",
        "'Microsoft.Web/serverFarms'",
    ),
    ("infra/modules/watching.bicep", "'PT5M'", "'PT1H'"),
    ("infra/modules/watching.bicep", "Frequency: 900", "Frequency: 300"),
    ("infra/modules/monitoring.bicep", "DisableLocalAuth: true", "DisableLocalAuth: false"),
    ("infra/modules/function.bicep", "AdminIsolationEnabled: true", "AdminIsolationEnabled: false"),
    ("infra/modules/function.bicep", "minTlsVersion: minTlsVersion", "minTlsVersion: '1.0'"),
    ("infra/main.bicep", "claude ? [embedding] : [chat, embedding]", "[embedding]"),
    ("infra/main.bicep", "deployments: claude ?", "deployments: !claude ?"),
    ("infra/modules/openai.bicep", "capacity: item.capacity", "capacity: 1"),
    ("azure.yaml", "host: function", "host: appservice"),
    (".funcignore", "local.settings.json\n", ""),
]
"""A file, what stands there, and what it becomes."""


@pytest.mark.parametrize(("file", "right", "wrong"), FAULTS)
def test_a_planted_fault_is_found(
    file: str, right: str, wrong: str, compiler: Compiler, tmp_path: Path
) -> None:
    for folder in ("infra", ".github"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copytree(ROOT / "tests/infra", tmp_path / "tests/infra")
    for name in COPIED.split():
        shutil.copy(ROOT / name, tmp_path / name)
    text = (tmp_path / file).read_text(encoding="utf-8")
    assert right in text
    (tmp_path / file).write_text(text.replace(right, wrong, 1), encoding="utf-8")
    assert next(found(tmp_path, compiler), "")


def found(root: Path, compiler: Compiler) -> Iterator[str]:
    """Yield what the rules find: over files, over the template, over one way after the other."""
    for rule in files.RULES:
        yield from rule(Project(root))
    compiled = compiler.compiled(root / "infra/main.bicep")
    for rule in template.RULES:
        yield from rule(Project(root, template=compiled))
    for file in sorted(way_files(root), key=lambda file: file.stem not in FIRST):
        way = compiler.way(file)
        for rule in EVERY_WAY:
            yield from rule(Project(root, [way]))

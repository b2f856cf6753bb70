"""The templates are valid Bicep for two parsers and for our checker; faults planted in them are found."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pycep import BicepParser

from tests.infra.bicep_check import check
from tests.infra.templates import FILES, INFRA, parameter_file

MODULES = {"identity", "monitoring", "storage", "keyvault", "redis", "openai", "rbac", "network", "function"}


def test_the_templates_are_where_the_commands_look_for_them() -> None:
    assert {path.stem for path in (INFRA / "modules").glob("*.bicep")} >= MODULES
    assert {"main.bicep", "main.bicepparam", "abbreviations.json", "bicepconfig.json"} <= {
        p.name for p in INFRA.iterdir()
    }


@pytest.fixture(scope="module")
def second_parser() -> BicepParser:
    return BicepParser()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_second_parser_reads_every_template(path: Path, second_parser: BicepParser) -> None:
    assert second_parser.parse(text=path.read_text())


def test_both_parsers_read_the_parameter_file(second_parser: BicepParser) -> None:
    file = parameter_file()
    assert file.syntax_errors() == []
    assert second_parser.parse(text=file.source)


def test_the_checker_finds_nothing_in_the_templates() -> None:
    assert [str(finding) for finding in check(INFRA)] == []


FAULTS = [
    ("syntax", "modules/storage.bicep", "kind: 'StorageV2'", "kind: 'StorageV2"),
    ("undefined", "main.bicep", "publicAccess: !vnetEnabled", "publicAccess: !networkEnabled"),
    ("undefined", "modules/endpoints.bicep", "id: subnetId", "id: subnet"),
    ("unknown-function", "main.bicep", "token = uniqueString(", "token = uniqueText("),
    ("unknown-decorator", "modules/redis.bicep", "@maxLength(60)", "@minimum(1)"),
    ("unknown-type", "modules/redis.bicep", "param publicAccess bool", "param publicAccess boolean"),
    ("unused", "modules/keyvault.bicep", "purgeProtection ? true : null", "true"),
    ("unused", "main.bicep", "subnetId: vnetEnabled ? appSubnetId : ''", "subnetId: ''"),
    ("declared-twice", "main.bicep", "output AZURE_TENANT_ID string", "output AZURE_LOCATION string"),
    ("no-such-module", "main.bicep", "'modules/identity.bicep'", "'modules/identities.bicep'"),
    ("unknown-parameter", "main.bicep", "containerName: 'app-package'", "container: 'app-package'"),
    ("missing-parameter", "main.bicep", "    planName: names.plan\n", ""),
    ("wrong-type", "main.bicep", "dailyQuotaGb: logDailyQuotaGb", "dailyQuotaGb: alertEmail"),
    ("wrong-type", "main.bicep", "containerName: 'app-package'", "containerName: 5"),
    ("unknown-output", "main.bicep", "identity.outputs.clientId", "identity.outputs.clientID"),
    ("may-be-absent", "main.bicep", "redisAccess.?outputs.url", "redisAccess.outputs.url"),
    ("needless-dependency", "main.bicep", "    endpoints\n    rbac\n", "    endpoints\n    rbac\n    storage\n"),
    ("unknown-property", "modules/function.bicep", "httpsOnly: true", "httpOnly: true"),
    ("unknown-property", "modules/function.bicep", "instanceMemoryMB: instanceMemoryMB", "memoryMB: instanceMemoryMB"),
    ("wrong-type", "modules/storage.bicep", "allowSharedKeyAccess: false", "allowSharedKeyAccess: 'false'"),
    ("wrong-type", "modules/function.bicep", "httpsOnly: true", "httpsOnly: minTlsVersion"),
    ("unknown-value", "modules/storage.bicep", "accessTier: 'Hot'", "accessTier: 'Warm'"),
    ("unknown-value", "modules/keyvault.bicep", "name: 'standard'", "name: 'Basic'"),
    ("missing-property", "modules/keyvault.bicep", "    tenantId: tenant().tenantId\n", ""),
    ("read-only", "modules/redis.bicep", "minimumTlsVersion: '1.2'", "minimumTlsVersion: '1.2'\n    hostName: 'x'"),
    ("unknown-resource-type", "modules/redis.bicep", "redisEnterprise@2025-07-01' =", "redisEnterprise@2025-99-01' ="),
    ("wrong-parent", "modules/storage.bicep", "parent: blobs", "parent: account"),
    ("no-parent", "modules/redis-access.bicep", "  parent: database\n", ""),
    ("secret-not-secure", "modules/keyvault.bicep", "@secure()\n", ""),
    ("secret-with-default", "main.bicep", "param neo4jPassword string", "param neo4jPassword string = 'changeme'"),
    (
        "secret-in-output",
        "modules/keyvault.bicep",
        "string = graphSecret.properties.secretUri",
        "string = neo4jPassword",
    ),
    ("secret-in-plain-sight", "modules/keyvault.bicep", "  tags: tags\n", "  tags: { p: neo4jPassword }\n"),
    ("default-not-allowed", "main.bicep", "param pythonVersion string = '3.13'", "param pythonVersion string = '3.10'"),
    ("default-out-of-bounds", "main.bicep", "maximumInstanceCount int = 40", "maximumInstanceCount int = 4"),
    ("no-description", "modules/identity.bicep", "@description('Region.')\n", ""),
]


@pytest.mark.parametrize(("rule", "file", "right", "wrong"), FAULTS, ids=[f"{f[0]}-{n}" for n, f in enumerate(FAULTS)])
def test_a_planted_fault_is_found(rule: str, file: str, right: str, wrong: str, tmp_path: Path) -> None:
    shutil.copytree(INFRA, tmp_path / "infra")
    path = tmp_path / "infra" / file
    source = path.read_text()
    assert right in source
    path.write_text(source.replace(right, wrong, 1))
    assert rule in {finding.rule for finding in check(tmp_path / "infra")}

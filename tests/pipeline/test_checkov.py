"""What checkov finds in each way to deploy is mended, or has a reason in checkov.toml that is still
needed.
"""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from drift.local.infra.bicep_compiler import find_compiler
from tests.infra.compiler import started
from tests.infra.ways import committed_snapshots, ways_of_people
from tests.pipeline.tools import CHECKOV, run

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, func_only=True)]

SCHEMA = "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#"
Resource = dict[str, Any]


def having(kind: str, name: str, value: object) -> Callable[[list[Resource]], bool]:
    """Return whether a way has a resource of this kind with this value of a property."""
    return lambda way: any(
        one["type"] == kind and one["properties"].get(name) == value for one in way
    )


STORAGE, SITE, VAULT = (
    "Microsoft.Storage/storageAccounts",
    "Microsoft.Web/sites",
    "Microsoft.KeyVault/vaults",
)
WHERE: Mapping[str, Callable[[list[Resource]], bool]] = {
    "every way": lambda _way: True,
    "public stores": having(STORAGE, "publicNetworkAccess", "Enabled"),
    "private stores": having(STORAGE, "publicNetworkAccess", "Disabled"),
    "public entrances": having(SITE, "publicNetworkAccess", "Enabled"),
    "vaults of trials": lambda way: (
        having(VAULT, "enableSoftDelete", True)(way)
        and not having(VAULT, "enablePurgeProtection", True)(way)
    ),
}


@dataclass(frozen=True, slots=True)
class Left:
    """A finding that stays: the check, the type of resource, the ways that have it, and why."""

    check: str
    resource: str
    where: str
    reason: str


LEFT = [
    Left(**entry)
    for entry in tomllib.loads(Path(__file__).with_name("checkov.toml").read_text("utf-8"))["left"]
]


def expected(ways: Mapping[str, list[Resource]]) -> set[tuple[str, str, str]]:
    """Return check, resource and way of every finding that has a reason."""
    return {
        (left.check, left.resource, name)
        for left in LEFT
        for name, way in ways.items()
        if WHERE[left.where](way) and any(one["type"] == left.resource for one in way)
    }


def found(ways: Mapping[str, list[Resource]], folder: Path) -> set[tuple[str, str, str]]:
    """Return check, resource and way of everything that checkov finds, each way as one flat
    template.
    """
    for name, way in ways.items():
        template = {"$schema": SCHEMA, "contentVersion": "1.0.0.0", "resources": way}
        (folder / f"{name}.json").write_text(json.dumps(template), encoding="utf-8")
    done = run(CHECKOV, "--directory", folder, "--framework", "arm", "--output", "json", "--quiet")
    report = json.loads(done.stdout)
    assert report["summary"]["parsing_errors"] == 0
    assert report["summary"]["resource_count"] >= 20 * len(ways)
    return {
        (one["check_id"], _kind(one), Path(one["file_path"]).stem)
        for one in report["results"]["failed_checks"]
    }


def _kind(finding: dict[str, Any]) -> str:
    """Return the type of `Microsoft.Web/sites.func-1`, whose first dot belongs to the type."""
    provider, kind, *_ = finding["resource"].split(".")
    return f"{provider}.{kind}"


@pytest.fixture(scope="module")
def ways() -> Mapping[str, list[Resource]]:
    """What each way of people would deploy; without a compiler, the ways that are committed."""
    executable = find_compiler()
    if executable is None:
        made = committed_snapshots()
    else:
        with started(executable) as compiler:
            made = {file.stem: compiler.snapshot(file) for file in ways_of_people()}
    return {name: snapshot["predictedResources"] for name, snapshot in made.items()}


@pytest.mark.skipif(find_compiler() is None, reason="no Bicep compiler works the ways out")
def test_every_finding_has_a_reason_and_every_reason_its_finding(
    ways: Mapping[str, list[Resource]], tmp_path: Path
) -> None:
    seen, reasons = found(ways, tmp_path), expected(ways)
    assert (seen - reasons, reasons - seen) == (set(), set())
    assert {left.check for left in LEFT} == {check for check, _, _ in seen}


def test_a_door_that_is_opened_is_found(ways: Mapping[str, list[Resource]], tmp_path: Path) -> None:
    """Without this an empty report could mean that nothing was read."""
    way = copy.deepcopy(ways["default"])
    for one in way:
        if one["type"] == STORAGE:
            one["properties"]["allowBlobPublicAccess"] = True
            one["properties"]["supportsHttpsTrafficOnly"] = False
    checks = {check for check, _, _ in found({"default": way}, tmp_path)}
    assert checks & {"CKV_AZURE_3", "CKV_AZURE_190", "CKV_AZURE_59"}


def test_every_reason_is_a_sentence() -> None:
    assert len({(left.check, left.resource) for left in LEFT}) == len(LEFT)
    assert not [
        left.check for left in LEFT if len(left.reason) < 30 or not left.reason.endswith(".")
    ]

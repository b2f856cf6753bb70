"""The hook of azd refuses a resource group that holds what the environment did not make.

`az` is stood in for.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.infra.ways import ROOT

HOOK = ROOT / "infra/hooks/only-ours.sh"
GROUP = "/subscriptions/s/resourceGroups/rg-drift-prod-westeurope/providers"
OURS = {"tags": {"azd-env-name": "prod"}}

AZ = """\
#!{python}
import json, pathlib, sys
import jmespath
here = pathlib.Path(__file__).parent
arguments = sys.argv[1:]
with (here / "asked").open("a") as asked:
    print(*arguments, file=asked)
held = json.loads((here / "held.json").read_text())
if arguments[:2] == ["group", "exists"]:
    print("false" if held is None else "true")
else:
    for one in jmespath.search(arguments[arguments.index("--query") + 1], held):
        print(one)
"""

Ran = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def hook(tmp_path: Path) -> Ran:
    """Run the hook over a group that holds these resources; None is no group at all."""
    az = tmp_path / "az"
    az.write_text(AZ.format(python=sys.executable))
    az.chmod(0o755)

    def run(
        held: list[dict[str, Any]] | None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        (tmp_path / "held.json").write_text(json.dumps(held))
        given = {
            "AZURE_ENV_NAME": "prod",
            "AZURE_LOCATION": "westeurope",
            "PATH": f"{tmp_path}:/usr/bin:/bin",
            **variables,
        }
        return subprocess.run(  # noqa: S603 - our own words
            ["/bin/sh", str(HOOK)], capture_output=True, text=True, check=False, env=given
        )

    return run


def _held(path: str, kind: str, **more: Any) -> dict[str, Any]:
    return {
        "id": f"{GROUP}/{path}",
        "type": kind,
        "name": path.rsplit("/", 1)[-1],
        "tags": None,
        **more,
    }


SITE = _held("Microsoft.Web/sites/func-api-x", "Microsoft.Web/sites", **OURS)
BY_AZURE = [
    _held(
        "Microsoft.Network/networkInterfaces/pep-x-blob.nic.1",
        "Microsoft.Network/networkInterfaces",
    ),
    _held(
        "microsoft.alertsmanagement/smartDetectorAlertRules/f",
        "microsoft.alertsmanagement/smartDetectorAlertRules",
    ),
    _held(
        "microsoft.insights/actiongroups/Application Insights Smart Detection",
        "microsoft.insights/actiongroups",
    ),
    _held(
        "Microsoft.Cache/redisEnterprise/amr-x/databases/default",
        "Microsoft.Cache/redisEnterprise/databases",
    ),
]


@pytest.mark.parametrize(
    "held", [None, [], [SITE], [SITE, *BY_AZURE]], ids=["none", "empty", "ours", "and-azures"]
)
def test_a_group_of_this_environment_is_accepted(
    hook: Ran, held: list[dict[str, Any]] | None
) -> None:
    ran = hook(held)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("tags", [None, {}, {"azd-env-name": "stage"}])
def test_a_group_that_holds_something_else_is_refused_by_name(
    hook: Ran, tags: dict[str, str] | None
) -> None:
    ran = hook([SITE, _held("Microsoft.Sql/servers/books", "Microsoft.Sql/servers", tags=tags)])
    assert ran.returncode == 1
    assert "Microsoft.Sql/servers/books" in ran.stderr
    assert "func-api-x" not in ran.stderr
    assert "RESOURCE_GROUP_NAME" in ran.stderr


KINDS = [
    "Microsoft.Storage/storageAccounts",
    "Microsoft.KeyVault/vaults",
    "Microsoft.Network/virtualNetworks",
]


def test_what_is_of_a_kind_that_the_environment_makes_too_is_named(hook: Ran) -> None:
    ran = hook([SITE, *BY_AZURE, *(_held(f"{kind}/theirs", kind) for kind in KINDS)])
    assert ran.returncode == 1
    assert [line.rsplit("/providers/")[-1] for line in ran.stderr.splitlines()[1:-1]] == [
        f"{k}/theirs" for k in KINDS
    ]


def test_the_group_is_the_one_that_the_template_would_use(hook: Ran, tmp_path: Path) -> None:
    hook([], AZURE_SUBSCRIPTION_ID="sub-1")
    hook([], RESOURCE_GROUP_NAME="rg-given")
    hook([], AZURE_RESOURCE_GROUP="rg-deployed", RESOURCE_GROUP_NAME="rg-given")
    hook([], AZURE_ENV_NAME="e" * 64, AZURE_LOCATION="germanywestcentral")
    asked = [
        line
        for line in (tmp_path / "asked").read_text().splitlines()
        if line.startswith("group exists")
    ]
    assert asked == [
        "group exists --name rg-drift-prod-westeurope --subscription sub-1",
        "group exists --name rg-given",
        "group exists --name rg-deployed",
        f"group exists --name rg-drift-{'e' * 64}-germanywestcentr",
    ]


def test_without_az_it_says_what_is_needed(hook: Ran, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    ran = hook([], PATH=str(empty))
    assert ran.returncode == 1
    assert "az login" in ran.stderr

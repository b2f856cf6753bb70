"""Names keep to the rules of each service, for any environment, and are the same the next time."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterator
from typing import Any

import pytest

from tests.infra.bicep_deployment import deploy, opened
from tests.infra.bicep_types import resource_types
from tests.infra.templates import FILES, MAIN, REQUIRED, WAYS, resources

GUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
RULES = {
    "Microsoft.Authorization/roleAssignments": GUID,
    "Microsoft.Cache/redisEnterprise": r"(?=.{1,60}$)[A-Za-z0-9]+(-[A-Za-z0-9]+)*",
    "Microsoft.Cache/redisEnterprise/databases": "default",
    "Microsoft.Cache/redisEnterprise/databases/accessPolicyAssignments": r"[A-Za-z0-9]{1,60}",
    "Microsoft.CognitiveServices/accounts": r"[A-Za-z0-9][A-Za-z0-9-]{0,62}[A-Za-z0-9]",
    "Microsoft.CognitiveServices/accounts/deployments": r"[A-Za-z0-9][A-Za-z0-9._-]{1,63}",
    "Microsoft.Insights/actionGroups": r"[^:<>+/&%\\?|.]{1,260}",
    "Microsoft.Insights/components": r"[A-Za-z0-9()._-]{0,259}[A-Za-z0-9()_-]",
    "Microsoft.Insights/diagnosticSettings": r"[A-Za-z0-9-]{1,260}",
    "Microsoft.Insights/scheduledQueryRules": r"[^#<>%&:\\?/{}*]{1,260}",
    "Microsoft.KeyVault/vaults": r"(?=.{3,24}$)[A-Za-z](-?[A-Za-z0-9]+)*",
    "Microsoft.KeyVault/vaults/secrets": r"[A-Za-z0-9-]{1,127}",
    "Microsoft.ManagedIdentity/userAssignedIdentities": r"[A-Za-z0-9][A-Za-z0-9_-]{2,127}",
    "Microsoft.Network/natGateways": r"[A-Za-z0-9][A-Za-z0-9._-]{0,78}[A-Za-z0-9_]",
    "Microsoft.Network/networkSecurityGroups": r"[A-Za-z0-9][A-Za-z0-9._-]{0,78}[A-Za-z0-9_]",
    "Microsoft.Network/privateDnsZones": r"([a-z0-9-]{1,63}\.){1,33}[a-z0-9-]{1,63}",
    "Microsoft.Network/privateDnsZones/virtualNetworkLinks": r"[A-Za-z0-9][A-Za-z0-9._-]{0,78}[A-Za-z0-9_]",
    "Microsoft.Network/privateEndpoints": r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}[A-Za-z0-9_]",
    "Microsoft.Network/privateEndpoints/privateDnsZoneGroups": "default",
    "Microsoft.Network/publicIPAddresses": r"[A-Za-z0-9][A-Za-z0-9._-]{0,78}[A-Za-z0-9_]",
    "Microsoft.Network/virtualNetworks": r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}[A-Za-z0-9_]",
    "Microsoft.OperationalInsights/workspaces": r"[A-Za-z0-9][A-Za-z0-9-]{2,61}[A-Za-z0-9]",
    "Microsoft.Resources/resourceGroups": r"[A-Za-z0-9()._-]{0,89}[A-Za-z0-9()_-]",
    "Microsoft.Storage/storageAccounts": r"[a-z0-9]{3,24}",
    "Microsoft.Storage/storageAccounts/blobServices": "default",
    "Microsoft.Storage/storageAccounts/blobServices/containers": r"(?=.{3,63}$)[a-z0-9](-?[a-z0-9])*",
    "Microsoft.Storage/storageAccounts/managementPolicies": "default",
    "Microsoft.Web/serverfarms": r"[A-Za-z0-9-]{1,60}",
    "Microsoft.Web/sites": r"(?=.{2,60}$)[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9]",
    "Microsoft.Web/sites/basicPublishingCredentialsPolicies": "ftp|scm",
}


def test_there_is_a_rule_for_every_type() -> None:
    assert set(RULES) == {reference.partition("@")[0] for reference in resource_types()}


NAMED = {
    "actionGroup": "Microsoft.Insights/actionGroups",
    "applicationInsights": "Microsoft.Insights/components",
    "functionApp": "Microsoft.Web/sites",
    "identity": "Microsoft.ManagedIdentity/userAssignedIdentities",
    "keyVault": "Microsoft.KeyVault/vaults",
    "logAnalytics": "Microsoft.OperationalInsights/workspaces",
    "natGateway": "Microsoft.Network/natGateways",
    "openAi": "Microsoft.CognitiveServices/accounts",
    "plan": "Microsoft.Web/serverfarms",
    "privateEndpointPrefix": "Microsoft.Network/privateEndpoints",
    "publicIp": "Microsoft.Network/publicIPAddresses",
    "redis": "Microsoft.Cache/redisEnterprise",
    "resourceGroup": "Microsoft.Resources/resourceGroups",
    "securityGroupPrefix": "Microsoft.Network/networkSecurityGroups",
    "storage": "Microsoft.Storage/storageAccounts",
    "virtualNetwork": "Microsoft.Network/virtualNetworks",
}


def _environments(count: int) -> Iterator[dict[str, Any]]:
    chance = random.Random(20260822)  # noqa: S311 - the same environments each time
    letters = string.ascii_letters + string.digits + "-"
    for turn in range(count):
        environment = "".join(chance.choices(letters, k=1 + turn % 64))
        region = chance.choice(["westeurope", "eastus2", "swedencentral"])
        yield {**REQUIRED, **WAYS["private"], "environmentName": environment, "location": region}


@pytest.mark.slow
def test_names_are_allowed_for_a_thousand_environments() -> None:
    for way in _environments(1000):
        names = opened(MAIN, way).symbol("names")
        assert set(names) == set(NAMED)
        for key, name in names.items():
            assert re.fullmatch(RULES[NAMED[key]], name), f"{way['environmentName']}: {key} {name}"


@pytest.mark.slow
def test_names_that_are_made_of_names_are_allowed_too() -> None:
    for way in _environments(65):
        for one in deploy(MAIN, way).resources():
            assert re.fullmatch(RULES[one.type], one.name), f"{way['environmentName']}: {one.type} {one.name}"


@pytest.mark.parametrize("way", WAYS)
def test_a_second_run_makes_the_same_names(way: str) -> None:
    again = deploy(MAIN, {**REQUIRED, **WAYS[way]})
    assert [one.id for one in again.resources() if not one.existing] == [one.id for one in resources(way)]
    source = "".join(path.read_text() for path in FILES)
    assert "utcNow" not in source
    assert "newGuid" not in source


@pytest.mark.parametrize("way", WAYS)
def test_no_two_resources_have_the_same_name(way: str) -> None:
    ids = [(one.on.id if one.on else "", one.id) for one in resources(way)]
    assert len(ids) == len(set(ids))


def test_another_environment_subscription_or_region_gets_other_names() -> None:
    def vault(**changes: str) -> str:
        scope = deploy(MAIN, {**REQUIRED, **changes})
        return next(one.name for one in scope.resources() if one.type == "Microsoft.KeyVault/vaults")

    assert len({vault(), vault(environmentName="prod"), vault(location="eastus2")}) == 3


NO_TAGS = {
    "Microsoft.Authorization/roleAssignments",
    "Microsoft.Insights/diagnosticSettings",
    "Microsoft.Network/privateEndpoints/privateDnsZoneGroups",
}


@pytest.mark.parametrize("way", WAYS)
def test_everything_that_can_be_tagged_is(way: str) -> None:
    scope = deploy(MAIN, {**REQUIRED, **WAYS[way], "tags": {"cost-centre": "42"}})
    for one in scope.resources():
        top = one.type.count("/") == 1
        if not one.existing and top and one.type not in NO_TAGS:
            assert one.body["tags"]["azd-env-name"] == REQUIRED["environmentName"], one.type
            assert one.body["tags"]["cost-centre"] == "42", one.type


def test_names_that_are_given_are_used() -> None:
    given = {
        "resourceGroupName": "rg-drift",
        "functionAppName": "drift",
        "storageAccountName": "driftstore",
        "keyVaultName": "drift-kv",
        "openAiName": "drift-models",
        "redisName": "drift-cache",
    }
    made = {one.name for one in deploy(MAIN, {**REQUIRED, **given}).resources()}
    assert set(given.values()) <= made

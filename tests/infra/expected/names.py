"""What everything of a way is called; expressions for what only a deployed resource knows."""

from __future__ import annotations

import uuid
from typing import Any

from tests.infra.ways import Body, Way

SUBSCRIPTION = "11111111-1111-1111-1111-111111111111"
TENANT = "22222222-2222-2222-2222-222222222222"
_GUIDS = uuid.UUID("11fb06fb-712d-4ddd-98c7-e71bbd588830")
"""The namespace of `guid()` in templates."""

IDENTITY = "Microsoft.ManagedIdentity/userAssignedIdentities"

VERSIONS = {
    "Microsoft.Authorization/roleAssignments": "2022-04-01",
    "Microsoft.Cache/redisEnterprise": "2025-07-01",
    "Microsoft.Cache/redisEnterprise/databases": "2025-07-01",
    "Microsoft.Cache/redisEnterprise/databases/accessPolicyAssignments": "2025-07-01",
    "Microsoft.CognitiveServices/accounts": "2025-06-01",
    "Microsoft.CognitiveServices/accounts/deployments": "2025-06-01",
    "Microsoft.Insights/actionGroups": "2023-01-01",
    "Microsoft.Insights/components": "2020-02-02",
    "Microsoft.Insights/diagnosticSettings": "2021-05-01-preview",
    "Microsoft.Insights/privateLinkScopes": "2021-09-01",
    "Microsoft.Insights/privateLinkScopes/scopedResources": "2021-09-01",
    "Microsoft.Insights/scheduledQueryRules": "2026-03-01",
    "Microsoft.KeyVault/vaults": "2026-05-15",
    "Microsoft.KeyVault/vaults/secrets": "2026-05-15",
    IDENTITY: "2024-11-30",
    "Microsoft.Network/natGateways": "2026-03-01",
    "Microsoft.Network/networkSecurityGroups": "2026-03-01",
    "Microsoft.Network/privateDnsZones": "2024-06-01",
    "Microsoft.Network/privateDnsZones/virtualNetworkLinks": "2024-06-01",
    "Microsoft.Network/privateEndpoints": "2026-03-01",
    "Microsoft.Network/privateEndpoints/privateDnsZoneGroups": "2026-03-01",
    "Microsoft.Network/publicIPAddresses": "2026-03-01",
    "Microsoft.Network/virtualNetworks": "2026-03-01",
    "Microsoft.Network/virtualNetworks/subnets": "2026-03-01",
    "Microsoft.OperationalInsights/workspaces": "2025-02-01",
    "Microsoft.OperationalInsights/workspaces/tables": "2025-02-01",
    "Microsoft.Resources/resourceGroups": "2025-04-01",
    "Microsoft.Storage/storageAccounts": "2025-01-01",
    "Microsoft.Storage/storageAccounts/blobServices": "2025-01-01",
    "Microsoft.Storage/storageAccounts/blobServices/containers": "2025-01-01",
    "Microsoft.Storage/storageAccounts/managementPolicies": "2025-01-01",
    "Microsoft.Web/serverfarms": "2025-03-01",
    "Microsoft.Web/sites": "2025-03-01",
    "Microsoft.Web/sites/config": "2025-03-01",
    "Microsoft.Web/sites/basicPublishingCredentialsPolicies": "2025-03-01",
}
"""Every type that is made or read, with its version: the newest finished one that the compiler
knows, but for one type."""


class Names:
    """Names and ids of one way; the token is the engine's `uniqueString` of subscription,
    environment and region.
    """

    def __init__(self, way: Way) -> None:
        (identity,) = way.resources(IDENTITY)
        self.token = identity["name"].removeprefix("id-")
        self.group_name = (
            way["resourceGroupName"] or f"rg-drift-{way['environmentName']}-{way['location']}"[:90]
        )
        self.group = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{self.group_name}"
        self.site_name = way["functionAppName"] or f"func-api-{self.token}"
        self.storage_name = way["storageAccountName"] or f"st{self.token}"
        self.openai_name = way["openAiName"] or f"oai-{self.token}"
        self.redis_name = way["redisName"] or f"amr-{self.token}"
        self.vault_name = way["keyVaultName"] or f"kv-{self.token}"
        self.identity = self.id(IDENTITY, f"id-{self.token}")
        self.workspace = self.id("Microsoft.OperationalInsights/workspaces", f"log-{self.token}")
        self.component_name = f"appi-{self.token}"
        self.component = self.id("Microsoft.Insights/components", self.component_name)
        self.link_scope = self.id("Microsoft.Insights/privateLinkScopes", f"ampls-{self.token}")
        self.action_group = self.id("Microsoft.Insights/actionGroups", f"ag-{self.token}")
        self.plan = self.id("Microsoft.Web/serverfarms", f"asp-{self.token}")
        self.site = self.id("Microsoft.Web/sites", self.site_name)
        self.storage = self.id("Microsoft.Storage/storageAccounts", self.storage_name)
        own_openai = way["openAiMode"] == "existing" and way["openAiExistingId"]
        own_redis = way["redisMode"] == "existing" and way["redisExistingId"]
        self.openai = own_openai or self.id(
            "Microsoft.CognitiveServices/accounts", self.openai_name
        )
        self.redis = own_redis or self.id("Microsoft.Cache/redisEnterprise", self.redis_name)
        own_secret = way["neo4jCredentialId"]
        self.secret = (
            own_secret
            or self.id("Microsoft.KeyVault/vaults", self.vault_name) + "/secrets/neo4j-password"
        )
        self.vault = self.secret.split("/secrets/")[0]
        self.keys_secret = (
            way["projectKeysCredentialId"]
            or self.id("Microsoft.KeyVault/vaults", self.vault_name) + "/secrets/project-keys"
        )
        self.keys_vault = self.keys_secret.split("/secrets/")[0]
        self.network = self.id("Microsoft.Network/virtualNetworks", f"vnet-{self.token}")
        self.app_subnet = way["existingAppSubnetId"] or f"{self.network}/subnets/app"
        self.endpoint_subnet = (
            way["existingEndpointSubnetId"] or f"{self.network}/subnets/endpoints"
        )
        self.principal = reference(self.identity, IDENTITY, "principalId")
        self.client = reference(self.identity, IDENTITY, "clientId")

    def id(self, kind: str, name: str) -> str:
        """Return the id of a resource in the group of the way."""
        return f"{self.group}/providers/{kind}/{name}"


def reference(resource: str, kind: str, path: str) -> str:
    """Return the engine's expression for what a deployed resource answers."""
    return f"reference('{resource}', '{VERSIONS[kind]}').{path}"


def guid(*parts: str) -> str:
    """Return what `guid()` of a template gives."""
    return str(uuid.uuid5(_GUIDS, "-".join(parts)))


def tags(way: Way) -> Body:
    """Return the tags of every resource."""
    return {**way["tags"], "azd-env-name": way["environmentName"]}


def body(way: Way, resource: str, of_type: str, properties: Any = None, **more: Any) -> Body:
    """Return a resource as a snapshot shows it, in the region of the way.

    Tags only where they are given.
    """
    name = "/".join(
        resource.rsplit(f"/providers/{of_type.partition('/')[0]}/", maxsplit=1)[-1].split("/")[1::2]
    )
    location = {} if of_type.count("/") > 1 else {"location": way["location"]}
    own = {} if properties is None else {"properties": properties}
    return {
        "id": resource,
        "type": of_type,
        "name": name,
        "apiVersion": VERSIONS[of_type],
        **location,
        **own,
        **more,
    }

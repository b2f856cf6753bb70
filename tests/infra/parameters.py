"""Every parameter of infra/main.bicep as it has to be.

Its default, what it may be, and whether it is a secret.
"""

from __future__ import annotations

from typing import Any

PRINCIPALS = ["User", "Group", "ServicePrincipal"]
SUBNET = ID = {"maxLength": 512}
INDEX = {"minLength": 1, "maxLength": 63}
MODEL = {"minLength": 1, "maxLength": 64}


def _text(default: str | None = None, **rules: Any) -> dict[str, Any]:
    return {"type": "string", **({} if default is None else {"defaultValue": default}), **rules}


def _number(default: int, least: int, most: int) -> dict[str, Any]:
    return {"type": "int", "defaultValue": default, "minValue": least, "maxValue": most}


def _choice(default: str | int, *allowed: str | int) -> dict[str, Any]:
    kind = "int" if isinstance(default, int) else "string"
    return {"type": kind, "defaultValue": default, "allowedValues": list(allowed)}


def _switch(default: bool) -> dict[str, Any]:
    return {"type": "bool", "defaultValue": default}


PARAMETERS: dict[str, dict[str, Any]] = {
    "environmentName": _text(minLength=1, maxLength=64),
    "location": _text(minLength=1, metadata={"azd": {"type": "location"}}),
    "tags": {"type": "object", "defaultValue": {}},
    "resourceGroupName": _text("", maxLength=90),
    "functionAppName": _text("", maxLength=60),
    "storageAccountName": _text("", maxLength=24),
    "keyVaultName": _text("", maxLength=24),
    "developerPrincipalId": _text("", maxLength=36),
    "developerPrincipalType": _choice("User", *PRINCIPALS),
    "vaultOfficerPrincipalId": _text("", maxLength=36),
    "vaultOfficerPrincipalType": _choice("User", *PRINCIPALS),
    "neo4jUri": _text(minLength=10, maxLength=512),
    "neo4jUsername": _text("neo4j", minLength=1, maxLength=128),
    "neo4jPassword": {"type": "securestring", "nullable": True, "minLength": 8, "maxLength": 1024},
    "neo4jPasswordReplace": _switch(default=False),
    "neo4jCredentialId": _text("", **ID),
    "authMode": _choice("function", "function", "keys", "easyauth"),
    "projectKeys": {"type": "securestring", "nullable": True, "minLength": 2, "maxLength": 25000},
    "projectKeysReplace": _switch(default=False),
    "projectKeysCredentialId": _text("", **ID),
    "entraClientId": _text("", maxLength=36),
    "authTenantId": _text("", maxLength=36),
    "projectClaim": _text("", maxLength=256),
    "appSettings": {"type": "object", "defaultValue": {}},
    "openAiMode": _choice("create", "create", "existing"),
    "openAiExistingId": _text("", **ID),
    "openAiName": _text("", maxLength=64),
    "chatDeploymentName": _text("chat", **MODEL),
    "chatModelName": _text("gpt-5.4", **MODEL),
    "chatModelVersion": _text("2026-03-05", minLength=1, maxLength=32),
    "chatSkuName": _choice(
        "GlobalStandard",
        "GlobalStandard",
        "DataZoneStandard",
        "Standard",
        "GlobalProvisionedManaged",
        "DataZoneProvisionedManaged",
        "ProvisionedManaged",
    ),
    "chatCapacity": _number(520, 1, 10000),
    "embeddingDeploymentName": _text("embedding", **MODEL),
    "embeddingModelName": _text("text-embedding-3-large", **MODEL),
    "embeddingModelVersion": _text("1", minLength=1, maxLength=32),
    "embeddingSkuName": _choice("GlobalStandard", "GlobalStandard", "DataZoneStandard", "Standard"),
    "embeddingCapacity": _number(30, 1, 10000),
    "redisMode": _choice("create", "create", "existing", "off"),
    "redisExistingId": _text("", **ID),
    "redisName": _text("", maxLength=60),
    "redisSkuName": _choice(
        "Balanced_B0",
        *(f"Balanced_B{size}" for size in (0, 1, 3, 5, 10, 20)),
    ),
    "redisHighAvailability": _switch(default=True),
    "pythonVersion": _choice("3.13", "3.13"),
    "instanceMemoryMB": _choice(2048, 512, 2048, 4096),
    "maximumInstanceCount": _number(40, 40, 1000),
    "alwaysReadyInstances": _number(0, 0, 100),
    "httpConcurrency": _number(8, 1, 1000),
    "minTlsVersion": _choice("1.2", "1.2", "1.3"),
    "corsOrigins": {"type": "array", "defaultValue": [], "maxLength": 50},
    "storageSkuName": _choice(
        "Standard_LRS", "Standard_LRS", "Standard_ZRS", "Standard_GRS", "Standard_GZRS"
    ),
    "keyVaultPurgeProtection": _switch(default=True),
    "keyVaultRetentionDays": _number(90, 7, 90),
    "vnetEnabled": _switch(default=False),
    "vnetAddressPrefix": _text("10.60.0.0/24", minLength=9, maxLength=18),
    "existingAppSubnetId": _text("", **SUBNET),
    "existingEndpointSubnetId": _text("", **SUBNET),
    "privateDnsZonesEnabled": _switch(default=True),
    "natGatewayEnabled": _switch(default=True),
    "functionAccess": _choice("auto", "auto", "public", "deployOnly", "private"),
    "existingEndpointsEnabled": _switch(default=True),
    "logRetentionDays": _number(30, 30, 730),
    "logDailyQuotaGb": _number(5, 1, 1000),
    "alertEmail": _text("", maxLength=254),
    "alertFailurePercent": _number(5, 1, 100),
    "alertRetrievalSeconds": _number(60, 1, 225),
    "alertEmbeddingSeconds": _number(1, 1, 60),
}

REQUIRED = {"environmentName", "location", "neo4jUri"}
"""Besides the password, which is needed unless it stands in a secret that is there already."""

FROM_ENVIRONMENT = {
    "alertEmail",
    "alwaysReadyInstances",
    "appSettings",
    "authMode",
    "authTenantId",
    "chatCapacity",
    "chatDeploymentName",
    "chatModelName",
    "chatModelVersion",
    "chatSkuName",
    "developerPrincipalId",
    "embeddingCapacity",
    "embeddingDeploymentName",
    "embeddingModelName",
    "embeddingModelVersion",
    "entraClientId",
    "environmentName",
    "existingAppSubnetId",
    "existingEndpointSubnetId",
    "existingEndpointsEnabled",
    "functionAccess",
    "httpConcurrency",
    "keyVaultName",
    "keyVaultPurgeProtection",
    "location",
    "maximumInstanceCount",
    "neo4jCredentialId",
    "neo4jPassword",
    "neo4jPasswordReplace",
    "neo4jUri",
    "neo4jUsername",
    "openAiExistingId",
    "openAiMode",
    "privateDnsZonesEnabled",
    "projectClaim",
    "projectKeys",
    "projectKeysCredentialId",
    "projectKeysReplace",
    "redisExistingId",
    "redisMode",
    "resourceGroupName",
    "vaultOfficerPrincipalId",
    "vnetEnabled",
}
"""Those that infra/main.bicepparam reads from variables; the others keep their default there."""

DEFAULTS = {name: one.get("defaultValue") for name, one in PARAMETERS.items()}

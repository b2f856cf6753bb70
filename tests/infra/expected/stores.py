"""What storage, vault, Redis and models have to be in a way to deploy."""

from __future__ import annotations

from collections.abc import Iterator

from tests.infra.expected.names import TENANT, Names, body, tags
from tests.infra.ways import Body, Way

STORAGE = "Microsoft.Storage/storageAccounts"
VAULT = "Microsoft.KeyVault/vaults"
REDIS = "Microsoft.Cache/redisEnterprise"
OPENAI = "Microsoft.CognitiveServices/accounts"


def storage(way: Way) -> Iterator[Body]:
    """The account of the host: no shared keys, no public blobs, deleted packages come back for a
    week.
    """
    account = Names(way).storage
    yield body(
        way,
        account,
        STORAGE,
        {
            "accessTier": "Hot",
            "allowBlobPublicAccess": False,
            "allowCrossTenantReplication": False,
            "allowSharedKeyAccess": False,
            "defaultToOAuthAuthentication": True,
            "minimumTlsVersion": "TLS1_2",
            "networkAcls": {
                "bypass": "None" if way.private else "AzureServices",
                "defaultAction": "Deny" if way.private else "Allow",
            },
            "publicNetworkAccess": _door(way),
            "supportsHttpsTrafficOnly": True,
        },
        kind="StorageV2",
        sku={"name": way["storageSkuName"]},
        tags=tags(way),
    )
    week = {"enabled": True, "days": 7}
    yield body(
        way,
        f"{account}/blobServices/default",
        f"{STORAGE}/blobServices",
        {"containerDeleteRetentionPolicy": week, "deleteRetentionPolicy": week},
    )
    yield body(
        way,
        f"{account}/blobServices/default/containers/app-package",
        f"{STORAGE}/blobServices/containers",
        {"publicAccess": "None"},
    )
    yield body(
        way,
        f"{account}/managementPolicies/default",
        f"{STORAGE}/managementPolicies",
        {"policy": {"rules": [_LIFECYCLE]}},
    )


_LIFECYCLE = {
    "name": "forget-snapshots",
    "enabled": True,
    "type": "Lifecycle",
    "definition": {
        "actions": {"snapshot": {"delete": {"daysAfterCreationGreaterThan": 30}}},
        "filters": {"blobTypes": ["blockBlob"]},
    },
}


def vault(way: Way) -> Iterator[Body]:
    """The vault with the password, unless that is there already, and with the keys of callers
    where they are asked for and not there.
    """
    if way["neo4jCredentialId"]:
        return
    names = Names(way)
    yield body(
        way,
        names.vault,
        VAULT,
        {
            "enablePurgeProtection": True
            if way["keyVaultPurgeProtection"]
            else None,  # the service takes no false
            "enableRbacAuthorization": True,
            "enableSoftDelete": True,
            "networkAcls": {
                "bypass": "AzureServices",
                "defaultAction": "Deny" if way.private else "Allow",
            },
            "publicNetworkAccess": _door(way),
            "sku": {"family": "A", "name": "standard"},
            "softDeleteRetentionInDays": way["keyVaultRetentionDays"],
            "tenantId": TENANT,
        },
        tags=tags(way),
    )
    yield body(
        way,
        names.secret,
        f"{VAULT}/secrets",
        {
            "contentType": "text/plain; password of the Neo4j user that the function signs in with",
            "value": "[parameters('neo4jPassword')]",
        },
        tags=tags(way),
    )
    if way["authMode"] == "keys" and not way["projectKeysCredentialId"]:
        yield body(
            way,
            names.keys_secret,
            f"{VAULT}/secrets",
            {
                "contentType": "application/json; keys of callers, by their hashes",
                "value": "[parameters('projectKeys')]",
            },
            tags=tags(way),
        )


def redis(way: Way) -> Iterator[Body]:
    """Azure Managed Redis without keys, behind one endpoint that every client can speak to."""
    if way["redisMode"] != "create":
        return
    cluster = Names(way).redis
    yield body(
        way,
        cluster,
        REDIS,
        {
            "highAvailability": "Enabled" if way["redisHighAvailability"] else "Disabled",
            "minimumTlsVersion": "1.2",
            "publicNetworkAccess": _door(way),
        },
        sku={"name": way["redisSkuName"]},
        tags=tags(way),
    )
    yield body(
        way,
        f"{cluster}/databases/default",
        f"{REDIS}/databases",
        {
            "accessKeysAuthentication": "Disabled",
            "clientProtocol": "Encrypted",
            "clusteringPolicy": "NoCluster",
            "evictionPolicy": "VolatileLRU",
            "port": 10000,
        },
    )


def models(way: Way) -> Iterator[Body]:
    """Azure OpenAI without keys, with the chat and the embedding deployment."""
    if way["openAiMode"] != "create":
        return
    account = Names(way).openai
    yield body(
        way,
        account,
        OPENAI,
        {
            "customSubDomainName": Names(way).openai_name,  # tokens need a domain of its own
            "disableLocalAuth": True,
            "networkAcls": {"defaultAction": "Deny" if way.private else "Allow"},
            "publicNetworkAccess": _door(way),
        },
        kind="OpenAI",
        sku={"name": "S0"},
        tags=tags(way),
    )
    for kind in ("chat", "embedding"):
        yield body(
            way,
            f"{account}/deployments/{way[f'{kind}DeploymentName']}",
            f"{OPENAI}/deployments",
            {
                "model": {
                    "format": "OpenAI",
                    "name": way[f"{kind}ModelName"],
                    "version": way[f"{kind}ModelVersion"],
                },
                "versionUpgradeOption": "OnceCurrentVersionExpired",
            },
            sku={"name": way[f"{kind}SkuName"], "capacity": way[f"{kind}Capacity"]},
        )


def _door(way: Way) -> str:
    return "Disabled" if way.private else "Enabled"

"""What the identity, the plan and the site have to be in a way to deploy, and where each setting
comes from.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.infra.expected.names import IDENTITY, TENANT, Names, body, reference, tags
from tests.infra.expected.stores import OPENAI, REDIS, STORAGE, VAULT
from tests.infra.ways import Body, Way

SITE = "Microsoft.Web/sites"
PLAN = "Microsoft.Web/serverfarms"
POLICY = f"{SITE}/basicPublishingCredentialsPolicies"

SERVICE_TAG = {"azd-service-name": "api"}
"""By which azd finds the site of the service in azure.yaml."""

SOURCES = {
    "AUTH_MODE": "authMode",
    "MAX_INFLIGHT": "httpConcurrency",
    "NEO4J_URI": "neo4jUri",
    "NEO4J_USERNAME": "neo4jUsername",
    "OAI_EMBED_DEPLOYMENT_NAME": "embeddingDeploymentName",
    "OAI_EMBED_MODEL_NAME": "embeddingModelName",
    "OAI_MODEL": "chatDeploymentName",
    "PROJECT_CLAIM": "projectClaim",
}
"""The parameter behind each setting that is one parameter."""

REFUSED = {
    *SOURCES,
    "AUTH_TENANT_ID",
    "AZURE_CLIENT_ID",
    "NEO4J_PASSWORD",
    "OAI_BASE_URL",
    "PROJECT_KEYS_SECRET",
    "REDIS_AUTH",
    "REDIS_URL",
    # for local use
    "ALLOW_PLAINTEXT",
    "OAI_KEY",
    # A setting is read when a process starts, and a reference in it is resolved again once a day.
    # With PROJECT_KEYS_SECRET the function reads the secret itself, every minute: a key that is
    # revoked is refused by all instances soon, without a deployment and without a restart.
    "PROJECT_KEYS",
    # The platform sets it where its authentication is on. Set by hand it would have the function
    # believe callers whom nobody has checked.
    "WEBSITE_AUTH_ENABLED",
}
"""Settings that people may not give: those of the template, secrets, and what is for local use."""


def settings(way: Way) -> dict[str, str]:
    """Return every setting of the site with its value, or with the expression for what only a
    deployment knows.
    """
    names = Names(way)
    blob = reference(names.storage, STORAGE, "primaryEndpoints.blob")
    vault = reference(names.vault, VAULT, "vaultUri")
    secret = names.secret.rsplit("/", 1)[-1]
    return {
        **way["appSettings"],
        **{name: _text(way[parameter]) for name, parameter in SOURCES.items()},
        **_redis(way, names),
        **_callers(way, names),
        "APPLICATIONINSIGHTS_AUTHENTICATION_STRING": f"[format('ClientId={{0}};Authorization=AAD', "
        f"{names.client})]",
        "APPLICATIONINSIGHTS_CONNECTION_STRING": "["
        + reference(names.component, "Microsoft.Insights/components", "ConnectionString")
        + "]",
        "AZURE_CLIENT_ID": f"[{names.client}]",
        "AzureWebJobsStorage__blobServiceUri": f"[{blob}]",
        "AzureWebJobsStorage__clientId": f"[{names.client}]",
        "AzureWebJobsStorage__credential": "managedidentity",
        "NEO4J_PASSWORD": "[format('@Microsoft.KeyVault(SecretUri={0})', "
        f"format('{{0}}secrets/{{1}}', {vault}, '{secret}'))]",
        "OAI_BASE_URL": f"[{reference(names.openai, OPENAI, 'endpoint')}]",
    }


def _redis(way: Way, names: Names) -> dict[str, str]:
    if way["redisMode"] == "off":
        return {"REDIS_AUTH": "url", "REDIS_URL": ""}
    host = reference(names.redis, REDIS, "hostName")
    database = reference(f"{names.redis}/databases/default", f"{REDIS}/databases", "port")
    port = "10000" if way["redisMode"] == "create" else database
    return {
        "REDIS_AUTH": "entra",
        "REDIS_URL": f"[coalesce(format('rediss://{{0}}:{{1}}', {host}, {port}), '')]",
    }


def _callers(way: Way, names: Names) -> dict[str, str]:
    tenant = way["authTenantId"] or TENANT
    vault = reference(names.keys_vault, VAULT, "vaultUri")
    secret = names.keys_secret.rsplit("/", 1)[-1]
    address = f"[coalesce(format('{{0}}secrets/{{1}}', {vault}, '{secret}'), '')]"
    return {
        "AUTH_TENANT_ID": tenant if way["authMode"] == "easyauth" else "",
        "PROJECT_KEYS_SECRET": address if way["authMode"] == "keys" else "",
    }


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def function(way: Way) -> Iterator[Body]:
    """The identity, the plan, the site without its settings, and passwords for publishing switched
    off.
    """
    names = Names(way)
    yield body(way, names.identity, IDENTITY, tags=tags(way))
    yield body(
        way,
        names.plan,
        PLAN,
        {"reserved": True},
        kind="functionapp",
        sku={"name": "FC1", "tier": "FlexConsumption"},
        tags=tags(way),
    )
    yield body(
        way,
        names.site,
        SITE,
        {
            "clientAffinityEnabled": False,
            "functionAppConfig": app_config(way),
            "httpsOnly": True,
            "keyVaultReferenceIdentity": names.identity,
            "publicNetworkAccess": "Disabled" if access(way) == "private" else "Enabled",
            "serverFarmId": names.plan,
            "siteConfig": site_config(way),
            "virtualNetworkSubnetId": names.app_subnet if way.private else None,
        },
        kind="functionapp,linux",
        identity={"type": "UserAssigned", "userAssignedIdentities": {names.identity: {}}},
        tags={**tags(way), **SERVICE_TAG},
    )
    for entrance in ("ftp", "scm"):
        yield body(
            way,
            f"{names.site}/basicPublishingCredentialsPolicies/{entrance}",
            POLICY,
            {"allow": False},
        )


def app_config(way: Way) -> Body:
    """Return the package, the runtime and the scale of the site."""
    names = Names(way)
    blob = reference(names.storage, STORAGE, "primaryEndpoints.blob")
    warm = way["alwaysReadyInstances"]
    return {
        "deployment": {
            "storage": {
                "authentication": {
                    "type": "UserAssignedIdentity",
                    "userAssignedIdentityResourceId": names.identity,
                },
                "type": "blobContainer",
                "value": f"[format('{{0}}{{1}}', {blob}, 'app-package')]",
            }
        },
        "runtime": {"name": "python", "version": way["pythonVersion"]},
        "scaleAndConcurrency": {
            "alwaysReady": [{"name": "http", "instanceCount": warm}] if warm else [],
            "instanceMemoryMB": way["instanceMemoryMB"],
            "maximumInstanceCount": way["maximumInstanceCount"],
            "triggers": {"http": {"perInstanceConcurrency": way["httpConcurrency"]}},
        },
    }


def site_config(way: Way) -> Body:
    """Return who may call the site and how, without its settings."""
    origins = way["corsOrigins"]
    return {
        "cors": {"allowedOrigins": origins, "supportCredentials": False} if origins else None,
        "ftpsState": "Disabled",
        "http20Enabled": True,
        "ipSecurityRestrictionsDefaultAction": "Allow" if access(way) == "public" else "Deny",
        "minTlsVersion": way["minTlsVersion"],
        "scmIpSecurityRestrictionsDefaultAction": "Deny" if access(way) == "private" else "Allow",
        "scmIpSecurityRestrictionsUseMain": False,
        "scmMinTlsVersion": way["minTlsVersion"],
    }


def access(way: Way) -> str:
    """Return what the internet may reach of the site."""
    chosen = str(way["functionAccess"])
    return {True: "deployOnly", False: "public"}[way.private] if chosen == "auto" else chosen

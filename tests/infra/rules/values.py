"""Values that cost money or keep somebody out, which a snapshot made anew would accept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_network
from operator import itemgetter
from typing import Any

from tests.infra.differences import differences
from tests.infra.kinds import (
    ALERT,
    COMPONENT,
    LINK_SCOPE,
    OPENAI,
    PUBLIC_ADDRESS,
    REDIS,
    SITE,
    STORAGE,
    SUBNET,
    VAULT,
    WORKSPACE,
)
from tests.infra.ways import Body, Project, Rule, Way

Value = Callable[[Way], Any]

PRIVATE: Value = lambda way: "None" if way.private else "AzureServices"  # noqa: E731 - a line of the table
VALUES: dict[str, dict[str, Any]] = {
    STORAGE: {
        "sku.name": lambda way: way["storageSkuName"],
        "properties.accessTier": "Hot",
        "properties.allowBlobPublicAccess": False,
        "properties.allowCrossTenantReplication": False,
        "properties.allowSharedKeyAccess": False,
        "properties.minimumTlsVersion": "TLS1_2",
        "properties.supportsHttpsTrafficOnly": True,
        "properties.networkAcls.bypass": PRIVATE,
    },
    f"{STORAGE}/blobServices": {
        "properties.deleteRetentionPolicy.days": 7,
        "properties.containerDeleteRetentionPolicy.days": 7,
    },
    f"{STORAGE}/blobServices/containers": {"properties.publicAccess": "None"},
    VAULT: {
        "properties.enablePurgeProtection": lambda way: way["keyVaultPurgeProtection"] or None,
        "properties.enableRbacAuthorization": True,
        "properties.enableSoftDelete": True,
        "properties.networkAcls.bypass": PRIVATE,
        "properties.sku.name": "standard",
        "properties.softDeleteRetentionInDays": lambda way: way["keyVaultRetentionDays"],
    },
    REDIS: {
        "sku.name": lambda way: way["redisSkuName"],
        "properties.highAvailability": lambda way: (
            "Enabled" if way["redisHighAvailability"] else "Disabled"
        ),
        "properties.minimumTlsVersion": "1.2",
    },
    f"{REDIS}/databases": {
        "properties.accessKeysAuthentication": "Disabled",
        "properties.clientProtocol": "Encrypted",
        "properties.evictionPolicy": "VolatileLRU",
        "properties.port": 10000,
    },
    OPENAI: {"sku.name": "S0", "properties.disableLocalAuth": True},
    WORKSPACE: {
        "properties.sku.name": "PerGB2018",
        "properties.retentionInDays": lambda way: way["logRetentionDays"],
        "properties.workspaceCapping.dailyQuotaGb": lambda way: way["logDailyQuotaGb"],
    },
    f"{WORKSPACE}/tables": {
        "properties.plan": "Analytics",
        "properties.totalRetentionInDays": lambda way: way["logRetentionDays"],
    },
    COMPONENT: {"properties.DisableLocalAuth": True},
    LINK_SCOPE: {"properties.accessModeSettings.ingestionAccessMode": "Open"},
    ALERT: {
        "properties.autoMitigate": True,
        "properties.enabled": True,
        "properties.evaluationFrequency": "PT5M",
        "properties.windowSize": "PT15M",
        "properties.criteria.allOf.0.operator": "GreaterThan",
        "properties.criteria.allOf.0.failingPeriods.minFailingPeriodsToAlert": 1,
    },
    "Microsoft.Insights/webtests": {
        "properties.Enabled": True,
        "properties.Frequency": 900,
        "properties.ValidationRules.ExpectedHttpStatusCode": 200,
    },
    "Microsoft.Web/serverfarms": {"sku.name": "FC1", "properties.reserved": True},
    SITE: {
        "properties.httpsOnly": True,
        "properties.functionsRuntimeAdminIsolationEnabled": True,
        "properties.siteConfig.ftpsState": "Disabled",
        "properties.siteConfig.minTlsVersion": lambda way: way["minTlsVersion"],
        "properties.siteConfig.scmMinTlsVersion": lambda way: way["minTlsVersion"],
        "properties.siteConfig.scmIpSecurityRestrictionsUseMain": False,
        "properties.functionAppConfig.runtime.version": "3.13",
        "properties.functionAppConfig.siteUpdateStrategy.type": lambda way: way[
            "siteUpdateStrategy"
        ],
        "properties.functionAppConfig.scaleAndConcurrency.instanceMemoryMB": lambda way: way[
            "instanceMemoryMB"
        ],
        "properties.functionAppConfig.scaleAndConcurrency.maximumInstanceCount": lambda way: way[
            "maximumInstanceCount"
        ],
        "properties.functionAppConfig.scaleAndConcurrency.alwaysReady": lambda way: (
            [{"name": "http", "instanceCount": way["alwaysReadyInstances"]}]
            if way["alwaysReadyInstances"]
            else []
        ),
        "properties.functionAppConfig.scaleAndConcurrency.triggers.http.perInstanceConcurrency": (
            lambda way: way["httpConcurrency"]
        ),
    },
    f"{SITE}/basicPublishingCredentialsPolicies": {"properties.allow": False},
    PUBLIC_ADDRESS: {"sku.name": "Standard", "properties.publicIPAllocationMethod": "Static"},
}
"""What each resource of a type has at a place: a value, or what the parameters of its way say."""


def what_costs_or_protects_is_as_meant(project: Project) -> Iterator[str]:
    """Sizes, prices, TLS, keys that are off, and how often an alert looks."""
    for way in project.ways:
        for kind, wanted in VALUES.items():
            for one in way.resources(kind):
                said = {
                    place: value(way) if callable(value) else value
                    for place, value in wanted.items()
                }
                found = {place: at(one, place) for place in wanted}
                yield from differences(said, found, f"{way.name}: {one['name']}: ")


def at(body: Any, place: str) -> Any:
    """Return what stands at a place such as `properties.allOf.0.name`; None where nothing does."""
    for name in place.split("."):
        if isinstance(body, Mapping):
            body = body.get(name)
        elif isinstance(body, list) and name.isdecimal() and int(name) < len(body):
            body = body[int(name)]
        else:
            return None
    return body


SUBNETS = {"app": (26, ["Microsoft.App/environments"]), "endpoints": (27, [])}
"""How long the prefix of each subnet is, and whom it is delegated to."""


def subnets_have_their_size_and_their_owner(project: Project) -> Iterator[str]:
    """The function's subnet has 64 addresses and is delegated, that of the endpoints has 32."""
    for way in project.ways:
        for one in way.resources(SUBNET):
            prefix = ip_network(one["properties"]["addressPrefix"]).prefixlen
            owners = [
                delegation["properties"]["serviceName"]
                for delegation in one["properties"].get("delegations") or ()
            ]
            name = one["name"].rpartition("/")[2]
            yield from differences(
                list(SUBNETS[name]), [prefix, owners], f"{way.name}: subnet {name}: "
            )


def the_models_are_those_that_are_asked_for(project: Project) -> Iterator[str]:
    """Each deployment has name, model, version, place and capacity; Claude's replies need none."""
    for way in project.ways:
        models = [] if way["openAiMode"] == "existing" else [way["embedding"]]
        if models and way["appSettings"].get("CHAT_PROVIDER") != "anthropic":
            models.append(way["chat"])
        found = [_deployed(one) for one in way.resources(f"{OPENAI}/deployments")]
        wanted, found = (sorted(some, key=itemgetter("deployment")) for some in (models, found))
        yield from differences(wanted, found, f"{way.name}: models")


def _deployed(one: Body) -> Body:
    model = at(one, "properties.model") or {}
    return {
        "capacity": at(one, "sku.capacity"),
        "deployment": one["name"].rpartition("/")[2],
        "model": model.get("name"),
        "sku": at(one, "sku.name"),
        "version": model.get("version"),
    }


RULES: tuple[Rule, ...] = (
    what_costs_or_protects_is_as_meant,
    subnets_have_their_size_and_their_owner,
    the_models_are_those_that_are_asked_for,
)

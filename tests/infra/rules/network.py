"""Rules over a private way: what the network lets in, and what leads to each store."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from tests.infra.differences import differences
from tests.infra.kinds import (
    COMPONENT,
    ENDPOINT,
    LINK_SCOPE,
    OPENAI,
    REDIS,
    SECURITY_GROUP,
    SITE,
    STORAGE,
    SUBNET,
    VAULT,
    WORKSPACE,
    ZONE,
)
from tests.infra.ways import Body, Project, Rule, Way

MET = ("access", "direction", "protocol", "sourceAddressPrefix")


def _rules_of_endpoints(way: Way) -> list[tuple[object, ...]]:
    port = urlsplit(way["appSettings"].get("MILVUS_URI", "")).port
    ports = ["443", "7687", "10000", *([str(port)] if port else [])]
    return [
        (100, "Allow", "Inbound", "Tcp", "VirtualNetwork", ports),
        (4096, "Deny", "Inbound", "*", "*", "*"),
    ]


def the_network_lets_in_what_is_needed(project: Project) -> Iterator[str]:
    """Endpoints are reached from the network by TLS, Redis and the port of Milvus alone, each
    subnet has a security group, and with a NAT gateway nothing leaves by another address.
    """
    for way in project.ways:
        for one in way.resources(SECURITY_GROUP):
            rules = [
                rule["properties"] for rule in one.get("properties", {}).get("securityRules", ())
            ]
            found = [
                (
                    rule["priority"],
                    *(rule[key] for key in MET),
                    rule.get("destinationPortRanges") or rule["destinationPortRange"],
                )
                for rule in rules
            ]
            wanted = _rules_of_endpoints(way) if one["name"].endswith("-endpoints") else []
            yield from differences(wanted, found, f"{way.name}: {one['name']}")
        for one in way.resources(SUBNET):
            outbound = one["name"].endswith("/app") and not way["natGatewayEnabled"]
            if one["properties"].get("defaultOutboundAccess") is not outbound:
                yield f"{way.name}: {one['name']}: defaultOutboundAccess is not {outbound}"
            if not one["properties"].get("networkSecurityGroup"):
                yield f"{way.name}: {one['name']}: no security group"


DOORS = {
    **dict.fromkeys((STORAGE, VAULT, REDIS, OPENAI), ("publicNetworkAccess",)),
    **dict.fromkeys(
        (WORKSPACE, COMPONENT), ("publicNetworkAccessForIngestion", "publicNetworkAccessForQuery")
    ),
}
"""What a type is reached by from the internet, unless it is said to be disabled."""


def no_public_door_is_open_in_a_private_way(project: Project) -> Iterator[str]:
    """Stores, logs and telemetry refuse the internet in every private way, whatever their type.

    A type that has a door says so: what is not said is open. Reading the logs is open unless all is
    private, and the function's own door is what `functionAccess` says.
    """
    for way in project.ways:
        yield from _site_doors(way)
        for one in way.resources() if way.private else []:
            properties = one.get("properties", {})
            doors = {*DOORS.get(one["type"], ())}
            doors |= {name for name in properties if name.startswith("publicNetworkAccess")}
            if way["functionAccess"] != "private":
                doors -= {"publicNetworkAccessForQuery"}
            open_doors = [name for name in sorted(doors) if properties.get(name) != "Disabled"]
            if properties.get("networkAcls", {}).get("defaultAction", "Deny") != "Deny":
                open_doors.append("networkAcls")
            if one["type"] != SITE:
                yield from (f"{way.name}: {one['name']}: {name} is open" for name in open_doors)


def _site_doors(way: Way) -> Iterator[str]:
    access = way["functionAccess"]
    if access == "auto":
        access = "deployOnly" if way.private else "public"
    wanted = {
        "publicNetworkAccess": "Disabled" if access == "private" else "Enabled",
        "everybody": "Allow" if access == "public" else "Deny",
        "deployments": "Deny" if access == "private" else "Allow",
    }
    for one in way.resources(SITE):
        config = one["properties"]["siteConfig"]
        found = {
            "publicNetworkAccess": one["properties"]["publicNetworkAccess"],
            "everybody": config["ipSecurityRestrictionsDefaultAction"],
            "deployments": config["scmIpSecurityRestrictionsDefaultAction"],
        }
        yield from differences(wanted, found, f"{way.name}: site")


ZONES = {
    "blob": ["privatelink.blob.core.windows.net"],
    "vault": ["privatelink.vaultcore.azure.net"],
    "account": ["privatelink.openai.azure.com"],
    "redisEnterprise": ["privatelink.redis.azure.net"],
    "azuremonitor": [
        "privatelink.monitor.azure.com",
        "privatelink.oms.opinsights.azure.com",
        "privatelink.ods.opinsights.azure.com",
        "privatelink.agentsvc.azure-automation.net",
        "privatelink.blob.core.windows.net",
    ],
    "sites": ["privatelink.azurewebsites.net"],
}
"""The names of each part of a resource that an endpoint leads to."""

MORE_ZONES = ["privatelink.cognitiveservices.azure.com", "privatelink.services.ai.azure.com"]
"""An account of kind AIServices, which only an existing one can be, answers under these too."""

PARTS = {
    STORAGE: "blob",
    VAULT: "vault",
    OPENAI: "account",
    REDIS: "redisEnterprise",
    LINK_SCOPE: "azuremonitor",
    SITE: "sites",
}


def private_endpoints_lead_to_each_store_by_its_name(project: Project) -> Iterator[str]:
    """An endpoint for each store that is created or yours, and a linked zone for each of its
    names.
    """
    for way in project.ways:
        found = {_target(one).lower(): _link(one)["groupIds"] for one in way.resources(ENDPOINT)}
        yield from differences(
            _stores(way) if way.private else {}, found, f"{way.name}: private endpoints"
        )
        made = {one["name"] for one in way.resources(ZONE)}
        linked = {one["name"].split("/")[0] for one in way.resources(f"{ZONE}/virtualNetworkLinks")}
        if made != linked:
            yield f"{way.name}: zones {sorted(made ^ linked)} are not linked"
        for one in way.resources(ENDPOINT):
            zones = _zones(way, one)
            if not zones <= made:
                yield f"{way.name}: {one['name']}: no zone of {sorted(zones - made)} is made"
            wanted = set(ZONES[_link(one)["groupIds"][0]])
            if _target(one) in {way["openAiExistingId"], *way["foundryExistingIds"]}:
                wanted |= set(MORE_ZONES)
            if zones != (wanted if way["privateDnsZonesEnabled"] else set()):
                yield f"{way.name}: {one['name']}: zones {sorted(zones ^ wanted)}"


def _stores(way: Way) -> dict[str, list[str]]:
    stores = {one["id"].lower(): [PARTS[one["type"]]] for one in way.resources(*PARTS)}
    if way["existingEndpointsEnabled"]:
        for secret in way["credentialIds"].values():
            stores[secret.lower().split("/secrets/")[0]] = ["vault"]
        for account in (way["openAiExistingId"], *way["foundryExistingIds"]):
            stores[account.lower()] = ["account"]
        stores[way["redisExistingId"].lower()] = ["redisEnterprise"]
    return {store: part for store, part in stores.items() if store}


def _link(endpoint: Body) -> Body:
    (link,) = endpoint["properties"]["privateLinkServiceConnections"]
    return dict(link["properties"])


def _target(endpoint: Body) -> str:
    return str(_link(endpoint)["privateLinkServiceId"])


def _zones(way: Way, endpoint: Body) -> set[str]:
    return {
        config["properties"]["privateDnsZoneId"].rsplit("/", 1)[-1]
        for group in way.resources(f"{ENDPOINT}/privateDnsZoneGroups")
        if group["id"].startswith(f"{endpoint['id']}/")
        for config in group["properties"]["privateDnsZoneConfigs"]
    }


RULES: tuple[Rule, ...] = (
    the_network_lets_in_what_is_needed,
    no_public_door_is_open_in_a_private_way,
    private_endpoints_lead_to_each_store_by_its_name,
)

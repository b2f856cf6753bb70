"""What network, private endpoints and DNS zones have to be in a way to deploy."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from tests.infra.expected.names import Names, body, tags
from tests.infra.ways import Body, Way

NETWORK = "Microsoft.Network/virtualNetworks"
SUBNET = f"{NETWORK}/subnets"
GROUP = "Microsoft.Network/networkSecurityGroups"
ADDRESS = "Microsoft.Network/publicIPAddresses"
GATEWAY = "Microsoft.Network/natGateways"
ENDPOINT = "Microsoft.Network/privateEndpoints"
ZONE = "Microsoft.Network/privateDnsZones"

MODEL_ZONES = {
    "create": ["privatelink.openai.azure.com"],
    "existing": [
        "privatelink.cognitiveservices.azure.com",
        "privatelink.openai.azure.com",
        "privatelink.services.ai.azure.com",
    ],
}
"""An account of kind AIServices answers under three domains, one of kind OpenAI, which is what is
created, under one."""

LOG_ZONES = [
    "privatelink.monitor.azure.com",
    "privatelink.oms.opinsights.azure.com",
    "privatelink.ods.opinsights.azure.com",
    "privatelink.agentsvc.azure-automation.net",
    "privatelink.blob.core.windows.net",
]

ALLOW_TLS = {
    "name": "AllowTlsFromNetwork",
    "properties": {
        "access": "Allow",
        "description": "Storage, vault, models, site (443) and Redis (10000).",
        "destinationAddressPrefix": "*",
        "destinationPortRanges": ["443", "10000"],
        "direction": "Inbound",
        "priority": 100,
        "protocol": "Tcp",
        "sourceAddressPrefix": "VirtualNetwork",
        "sourcePortRange": "*",
    },
}
DENY_OTHERS = {
    "name": "DenyOtherInbound",
    "properties": {
        "access": "Deny",
        "destinationAddressPrefix": "*",
        "destinationPortRange": "*",
        "direction": "Inbound",
        "priority": 4096,
        "protocol": "*",
        "sourceAddressPrefix": "*",
        "sourcePortRange": "*",
    },
}


def network(way: Way) -> Iterator[Body]:
    """A network with a subnet to send from and one for endpoints, and one outgoing address.

    None where you have one.
    """
    if not way.private or way["existingAppSubnetId"]:
        return
    names, nat = Names(way), way["natGatewayEnabled"]
    app_group, endpoint_group = (
        names.id(GROUP, f"nsg-{names.token}-{part}") for part in ("app", "endpoints")
    )
    gateway, address = (
        names.id(GATEWAY, f"ng-{names.token}"),
        names.id(ADDRESS, f"pip-{names.token}"),
    )
    yield body(way, app_group, GROUP, tags=tags(way))
    yield body(
        way, endpoint_group, GROUP, {"securityRules": [ALLOW_TLS, DENY_OTHERS]}, tags=tags(way)
    )
    if nat:
        standard = {"name": "Standard"}
        yield body(
            way,
            address,
            ADDRESS,
            {"publicIPAllocationMethod": "Static"},
            sku=standard,
            tags=tags(way),
        )
        yield body(
            way,
            gateway,
            GATEWAY,
            {"publicIpAddresses": [{"id": address}]},
            sku=standard,
            tags=tags(way),
        )
    whole = ipaddress.ip_network(way["vnetAddressPrefix"])
    app = {
        "addressPrefix": str(next(whole.subnets(new_prefix=26))),
        "defaultOutboundAccess": not nat,
        "delegations": [
            {"name": "functions", "properties": {"serviceName": "Microsoft.App/environments"}}
        ],
        "natGateway": {"id": gateway} if nat else None,
        "networkSecurityGroup": {"id": app_group},
    }
    endpoints = {
        "addressPrefix": str(list(whole.subnets(new_prefix=27))[2]),
        "defaultOutboundAccess": False,
        "networkSecurityGroup": {"id": endpoint_group},
        "privateEndpointNetworkPolicies": "NetworkSecurityGroupEnabled",
    }
    space = {"addressPrefixes": [way["vnetAddressPrefix"]]}
    yield body(way, names.network, NETWORK, {"addressSpace": space}, tags=tags(way))
    yield body(way, names.app_subnet, SUBNET, app)
    yield body(way, names.endpoint_subnet, SUBNET, endpoints)


def endpoints(way: Way) -> Iterator[Body]:
    """A private endpoint for each store and for the site, with the zones of the names that it is
    called by.
    """
    if not way.private:
        return
    names, zones_made = Names(way), set[str]()
    for name, (target, group, zones) in _targets(way).items():
        endpoint = names.id(ENDPOINT, f"pep-{names.token}-{name}")
        link = {"groupIds": [group], "privateLinkServiceId": target}
        yield body(
            way,
            endpoint,
            ENDPOINT,
            {
                "privateLinkServiceConnections": [{"name": name, "properties": link}],
                "subnet": {"id": names.endpoint_subnet},
            },
            tags=tags(way),
        )
        if way["privateDnsZonesEnabled"]:
            yield from _zones(way, [zone for zone in zones if zone not in zones_made])
            yield _zone_group(way, endpoint, zones)
            zones_made.update(zones)


def _zones(way: Way, zones: list[str]) -> Iterator[Body]:
    names = Names(way)
    links = [one["name"].partition("/")[2] for one in way.resources(f"{ZONE}/virtualNetworkLinks")]
    for zone in zones:
        yield body(way, names.id(ZONE, zone), ZONE, location="global", tags=tags(way))
        network = names.endpoint_subnet.split("/subnets/")[0]
        yield body(
            way,
            names.id(ZONE, f"{zone}/virtualNetworkLinks/{links[0] if links else ''}"),
            f"{ZONE}/virtualNetworkLinks",
            {"registrationEnabled": False, "virtualNetwork": {"id": network}},
            location="global",
            tags=tags(way),
        )


def _zone_group(way: Way, endpoint: str, zones: list[str]) -> Body:
    names = Names(way)
    configs = [
        {"name": zone.replace(".", "-"), "properties": {"privateDnsZoneId": names.id(ZONE, zone)}}
        for zone in zones
    ]
    return body(
        way,
        f"{endpoint}/privateDnsZoneGroups/default",
        f"{ENDPOINT}/privateDnsZoneGroups",
        {"privateDnsZoneConfigs": configs},
    )


def _targets(way: Way) -> dict[str, tuple[str, str, list[str]]]:
    """Return what an endpoint leads to, by its name.

    The resource, the part of it, and its zones.
    """
    names, models, redis = Names(way), way["openAiMode"], way["redisMode"]
    every = {
        "blob": (names.storage, "blob", ["privatelink.blob.core.windows.net"], True),
        "vault": (
            names.vault,
            "vault",
            ["privatelink.vaultcore.azure.net"],
            not way["neo4jCredentialId"],
        ),
        "keys": (
            names.keys_vault,
            "vault",
            ["privatelink.vaultcore.azure.net"],
            False,
        ),
        "openai": (names.openai, "account", MODEL_ZONES[models], models == "create"),
        "redis": (
            names.redis,
            "redisEnterprise",
            ["privatelink.redis.azure.net"],
            redis == "create",
        ),
        "logs": (names.link_scope, "azuremonitor", LOG_ZONES, True),
        "site": (names.site, "sites", ["privatelink.azurewebsites.net"], True),
    }
    return {
        name: (target, group, zones)
        for name, (target, group, zones, ours) in every.items()
        if (ours or way["existingEndpointsEnabled"]) and name not in _unused(way)
    }


def _unused(way: Way) -> set[str]:
    """Return what gets no endpoint: what is off, and the vault of the keys where it is the
    password's as well.
    """
    names = Names(way)
    own_keys = way["authMode"] == "keys" and names.keys_vault.lower() != names.vault.lower()
    off = {"redis": way["redisMode"] == "off", "keys": not own_keys}
    return {name for name, unused in off.items() if unused}

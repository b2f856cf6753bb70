"""The rule that every service accepts the names that it is given."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.infra.rules import Rule
from tests.infra.ways import Project

_GUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_NETWORK = r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}[A-Za-z0-9_]"
NAMES = {
    "Microsoft.Authorization/roleAssignments": _GUID,
    "Microsoft.Cache/redisEnterprise": r"(?=.{1,60}$)[A-Za-z0-9]+(-[A-Za-z0-9]+)*",
    "Microsoft.CognitiveServices/accounts": r"[A-Za-z0-9][A-Za-z0-9-]{0,62}[A-Za-z0-9]",
    "Microsoft.CognitiveServices/accounts/deployments": r"[A-Za-z0-9][A-Za-z0-9._-]{1,63}",
    "Microsoft.Insights/actionGroups": r"[^:<>+/&%\\?|.]{1,260}",
    "Microsoft.Insights/components": r"[A-Za-z0-9()._-]{0,259}[A-Za-z0-9()_-]",
    "Microsoft.Insights/scheduledQueryRules": r"[^#<>%&:\\?/{}*]{1,260}",
    "Microsoft.KeyVault/vaults": r"(?=.{3,24}$)[A-Za-z](-?[A-Za-z0-9]+)*",
    "Microsoft.KeyVault/vaults/secrets": r"[A-Za-z0-9-]{1,127}",
    "Microsoft.ManagedIdentity/userAssignedIdentities": r"[A-Za-z0-9][A-Za-z0-9_-]{2,127}",
    "Microsoft.Network/natGateways": _NETWORK,
    "Microsoft.Network/networkSecurityGroups": _NETWORK,
    "Microsoft.Network/privateDnsZones": r"([a-z0-9-]{1,63}\.){1,33}[a-z0-9-]{1,63}",
    "Microsoft.Network/privateEndpoints": _NETWORK,
    "Microsoft.Network/publicIPAddresses": _NETWORK,
    "Microsoft.Network/virtualNetworks": _NETWORK,
    "Microsoft.OperationalInsights/workspaces": r"[A-Za-z0-9][A-Za-z0-9-]{2,61}[A-Za-z0-9]",
    "Microsoft.Resources/resourceGroups": r"[A-Za-z0-9()._-]{0,89}[A-Za-z0-9()_-]",
    "Microsoft.Storage/storageAccounts": r"[a-z0-9]{3,24}",
    "Microsoft.Web/serverfarms": r"[A-Za-z0-9-]{1,60}",
    "Microsoft.Web/sites": r"(?=.{2,60}$)[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9]",
}
"""What each service accepts as a name."""


def names_are_accepted_by_each_service(project: Project) -> Iterator[str]:
    """Length and letters of every name that a preview knows; no name twice."""
    for way in project.ways:
        ids = [one["id"] for one in way.resources()]
        yield from (
            f"{way.name}: {one} is there twice"
            for one in sorted({one for one in ids if ids.count(one) > 1})
        )
        for one in way.resources(*NAMES):
            last = one["name"].split("/")[-1]
            if not one["name"].startswith("[") and not re.fullmatch(NAMES[one["type"]], last):
                yield f"{way.name}: {one['type']}: {last!r} is not accepted as a name"


RULES: tuple[Rule, ...] = (names_are_accepted_by_each_service,)

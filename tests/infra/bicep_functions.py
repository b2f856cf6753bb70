"""The functions of Bicep that the templates use, with the same results where these do not depend on Azure."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import uuid
from collections.abc import Callable, Mapping
from typing import Any

SUBSCRIPTION = "11111111-1111-1111-1111-111111111111"
TENANT = "22222222-2222-2222-2222-222222222222"


def unique_string(*parts: str) -> str:
    """Return 13 letters and digits as uniqueString does; others than the platform's, but as evenly spread."""
    digest = hashlib.sha256("|".join(map(str, parts)).encode()).digest()
    return base64.b32encode(digest).decode().lower()[:13]


def _cidr_subnet(network: str, length: int, index: int) -> str:
    return str(list(ipaddress.ip_network(network).subnets(new_prefix=length))[index])


def _resource_group(*names: str) -> dict[str, str]:
    subscription, name = names if len(names) == 2 else (SUBSCRIPTION, *(names or ("group",)))
    return {"id": f"/subscriptions/{subscription}/resourceGroups/{name}", "name": name, "subscriptionId": subscription}


def _string(value: object) -> str:
    return {True: "True", False: "False"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _union(*values: Any) -> Any:
    if isinstance(values[0], Mapping):
        return {key: item for value in values for key, item in value.items()}
    return list(dict.fromkeys(item for value in values for item in value))


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "any": lambda value: value,
    "bool": lambda value: str(value).lower() == "true",
    "cidrSubnet": _cidr_subnet,
    "concat": lambda *lists: [item for one in lists for item in one],
    "contains": lambda where, what: what in where,
    "empty": lambda value: value is None or len(value) == 0,
    "environment": lambda: {"suffixes": {"storage": "core.windows.net"}},
    "filter": lambda values, keep: [value for value in values if keep(value)],
    "guid": lambda *parts: str(uuid.uuid5(uuid.NAMESPACE_URL, "|".join(map(str, parts)))),
    "int": int,
    "items": lambda value: [{"key": key, "value": value[key]} for key in sorted(value)],
    "join": lambda values, between: between.join(values),
    "length": len,
    "map": lambda values, change: [change(value) for value in values],
    "range": lambda start, count: list(range(start, start + count)),
    "resourceGroup": _resource_group,
    "split": lambda value, at: value.split(at),
    "startsWith": lambda value, start: value.lower().startswith(start.lower()),
    "string": _string,
    "subscription": lambda: {"id": f"/subscriptions/{SUBSCRIPTION}", "subscriptionId": SUBSCRIPTION},
    "subscriptionResourceId": lambda kind, *names: (
        f"/subscriptions/{SUBSCRIPTION}/providers/{kind}/{'/'.join(map(str, names))}"
    ),
    "substring": lambda value, start, count: value[start : start + count],
    "take": lambda value, count: value[:count],
    "tenant": lambda: {"tenantId": TENANT},
    "toLower": str.lower,
    "union": _union,
    "uniqueString": unique_string,
}

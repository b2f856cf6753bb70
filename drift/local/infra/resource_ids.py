"""Ids of resources in Azure."""

from __future__ import annotations

import re

_ID = re.compile(r"/subscriptions/[^/]+/resourceGroups/[^/]+/providers/([^/]+)/(.+)", re.IGNORECASE)


def type_of(resource_id: str) -> str:
    """Return the type in a resource id, `Microsoft.Cache/redisEnterprise`; empty of no id."""
    match = _ID.fullmatch(resource_id.strip().rstrip("/"))
    segments = match[2].split("/") if match else []
    if not match or len(segments) % 2:
        return ""
    return "/".join([match[1], *segments[::2]])


def misfit(resource_id: str) -> str:
    """Return what an id is that should have been another one."""
    if not resource_id:
        return "is empty"
    kind = type_of(resource_id)
    return f"is a {kind}" if kind else f"{resource_id!r} is no resource id"

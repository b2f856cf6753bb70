"""The headers of every answer, whichever its route: what it is called, what is left, what goes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from email.utils import format_datetime

from starlette.responses import Response

from drift.auth.quotas import QuotaLimit
from drift.http.route import Route

_REQUEST_ID = "x-request-id"


def request_id(headers: Mapping[str, str]) -> str | None:
    """Return the id that a caller gives its request; None for none, or one that is none."""
    given = headers.get(_REQUEST_ID, "")
    return given if re.fullmatch(r"[\x20-\x7e]{1,128}", given) else None


def name(response: Response, headers: Mapping[str, str], retrieval_id: str) -> None:
    """Say in an answer which request it is of: by the caller's own id, or else by ours."""
    response.headers.setdefault("x-retrieval-id", retrieval_id)
    response.headers[_REQUEST_ID] = request_id(headers) or retrieval_id


def quota(limits: Sequence[QuotaLimit]) -> dict[str, str]:
    """Return what a caller may use and what is left of it; empty where it has no limit.

    Source: RateLimit header fields for HTTP, draft-ietf-httpapi-ratelimit-headers-10 (2025).
    """
    policies, left = [], []
    for one in limits:
        if one.most is not None:
            unit = one.name.partition("_")[0]
            policies.append(f'"{one.name}";q={one.most};qu="{unit}";w={one.window_s:.0f}')
            free = max(0, one.most - one.used)
            left.append(f'"{one.name}";r={free};t={math.ceil(one.free_in_s)}')

    told = {"ratelimit-policy": ", ".join(policies), "ratelimit": ", ".join(left)}
    return told if left else {}


def going(route: Route) -> dict[str, str]:
    """Return since when a route is deprecated (RFC 9745) and when it goes (RFC 8594)."""
    told = {}
    if route.deprecated:
        told["deprecation"] = f"@{route.deprecated.timestamp():.0f}"
    if route.sunset:
        told["sunset"] = format_datetime(route.sunset, usegmt=True)
    return told

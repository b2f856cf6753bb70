"""What telling callers apart costs a request, and whether a change of keys refuses anybody."""

from __future__ import annotations

import asyncio
import base64
import json
import statistics
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from itertools import pairwise

import httpx2
from starlette.datastructures import Headers

import function_app
from drift.auth.project_keys import hash_of
from drift.core.errors import UnauthenticatedError
from drift.http.auth import Authentication
from drift.http.settings import load_access
from drift.local.evals.timing import percentile
from drift.local.hosts.local_host import serving

CALLS = 5000
MOST_KEYS = 130
"""About as many as a secret of Key Vault holds."""
FASTER = 600
"""How much faster the keys age than time goes, while they are changed."""
CALLERS = 8
ROUTE = "/openapi.yaml"
"""Behind the entrance, and in need of no server."""
TENANT = "tenant"


@dataclass(frozen=True, slots=True)
class EntranceTimes:
    """Microseconds until the entrance knows who sends a request, or that nobody does."""

    mode: str
    p50_us: float
    p99_us: float


@dataclass(frozen=True, slots=True)
class Rotation:
    """Requests while keys were changed, by what they got."""

    keys: int
    answered: int
    refused: int
    seconds: float


def _keys(*keys: str) -> str:
    return json.dumps(
        [{"name": "team", "sha256": hash_of(key.encode()), "projects": ["team-*"]} for key in keys]
    )


async def measure_entrance() -> list[EntranceTimes]:
    """Time each mode, in turn, after calls that warm it up."""
    many = [f"drift_key_{n}" for n in range(MOST_KEYS)]
    one_key = {"AUTH_MODE": "keys", "PROJECT_KEYS": _keys("drift_only")}
    all_keys = {"AUTH_MODE": "keys", "PROJECT_KEYS": _keys(*many)}
    entra = {
        "AUTH_MODE": "easyauth",
        "AUTH_TENANT_ID": TENANT,
        "WEBSITE_AUTH_ENABLED": "true",
    }
    cases: list[tuple[str, dict[str, str], dict[str, str]]] = [
        ("function", {}, {}),
        ("one key", one_key, {"x-api-key": "drift_only"}),
        (f"{MOST_KEYS} keys, the first", all_keys, {"x-api-key": "drift_key_0"}),
        (f"{MOST_KEYS} keys, the last", all_keys, {"x-api-key": f"drift_key_{MOST_KEYS - 1}"}),
        (f"{MOST_KEYS} keys, a wrong one", all_keys, {"x-api-key": "drift_key_x"}),
        ("easyauth, 10 roles", entra, {"x-ms-client-principal": _principal(10)}),
        ("easyauth, 1,000 roles", entra, {"x-ms-client-principal": _principal(1000)}),
    ]
    return [await _timed(name, values, Headers(headers)) for name, values, headers in cases]


def _principal(roles: int) -> str:
    claims = [("tid", TENANT), ("oid", "x"), *(("roles", f"read:p{n}") for n in range(roles))]
    listed = [{"typ": typ, "val": val} for typ, val in claims]
    return base64.b64encode(json.dumps({"auth_typ": "aad", "claims": listed}).encode()).decode()


async def _timed(mode: str, values: dict[str, str], headers: Headers) -> EntranceTimes:
    entrance = Authentication(
        platform_asks_for_keys=not values, read_settings=lambda: load_access(values)
    )
    seconds = []
    for _ in range(CALLS):
        begun = time.perf_counter()
        with suppress(UnauthenticatedError):
            await entrance.caller(headers)
        seconds.append(time.perf_counter() - begun)

    warm = seconds[CALLS // 10 :]
    return EntranceTimes(
        mode, round(statistics.median(warm) * 1e6, 1), round(percentile(warm, 99) * 1e6, 1)
    )


async def rotate(keys: int) -> Rotation:
    """Change a key `keys` times while callers send one request after another over HTTP.

    Each time the new key is added, the callers take it, and the old one is taken out.
    """
    names = [f"drift_{n}" for n in range(keys + 1)]
    values = {"AUTH_MODE": "keys", "PROJECT_KEYS": _keys(names[0])}
    held, done, counts = [names[0]], asyncio.Event(), Counter[int]()
    before = function_app.authentication
    begun = time.perf_counter()
    async with serving() as url, httpx2.AsyncClient(base_url=url, trust_env=False) as client:

        async def call() -> None:
            while not done.is_set():
                reply = await client.get(ROUTE, headers={"x-api-key": held[0]})
                counts[reply.status_code] += 1

        function_app.authentication = Authentication(
            platform_asks_for_keys=False,
            read_settings=lambda: load_access(values),
            clock=lambda: time.monotonic() * FASTER,
        )
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(CALLERS):
                    group.create_task(call())
                for old, new in pairwise(names):
                    await _change(values, held, old, new)
                done.set()
        finally:
            function_app.authentication = before

    answered = counts[HTTPStatus.OK]
    return Rotation(
        keys, answered, counts.total() - answered, round(time.perf_counter() - begun, 1)
    )


async def _change(values: dict[str, str], held: list[str], old: str, new: str) -> None:
    a_minute = 1.5 * 60 / FASTER
    values["PROJECT_KEYS"] = _keys(old, new)
    await asyncio.sleep(a_minute)
    held[0] = new
    await asyncio.sleep(a_minute)
    values["PROJECT_KEYS"] = _keys(new)
    await asyncio.sleep(a_minute)

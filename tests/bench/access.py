"""What telling callers apart costs a request, in every mode."""

from __future__ import annotations

import base64
import json
import time
from contextlib import suppress

from starlette.datastructures import Headers

from drift.auth.project_keys import hash_of
from drift.core.errors import UnauthenticatedError
from drift.http.auth import Authentication
from drift.http.settings import load_access
from tests.bench.command import Options, percentile, read_options, run, show

CALLS = 5000
MOST_KEYS = 130
"""About as many as a secret of Key Vault holds."""
TENANT = "tenant"


def keys(*named: str) -> dict[str, str]:
    entries = [
        {"name": "team", "sha256": hash_of(key.encode()), "projects": ["team-*"]} for key in named
    ]
    return {"AUTH_MODE": "keys", "PROJECT_KEYS": json.dumps(entries)}


def principal(roles: int) -> dict[str, str]:
    claims = [("tid", TENANT), ("oid", "x"), *(("roles", f"read:p{n}") for n in range(roles))]
    listed = [{"typ": typ, "val": val} for typ, val in claims]
    told = json.dumps({"auth_typ": "aad", "claims": listed})
    return {"x-ms-client-principal": base64.b64encode(told.encode()).decode()}


async def bench(asked: Options) -> None:
    """Time each mode, in turn, after calls that warm it up."""
    many = [f"drift_key_{n}" for n in range(MOST_KEYS)]
    entra = {"AUTH_MODE": "easyauth", "AUTH_TENANT_ID": TENANT, "WEBSITE_AUTH_ENABLED": "true"}
    cases: list[tuple[str, dict[str, str], dict[str, str]]] = [
        ("function", {}, {}),
        ("one key", keys("drift_only"), {"x-api-key": "drift_only"}),
        (f"{MOST_KEYS} keys, the first", keys(*many), {"x-api-key": many[0]}),
        (f"{MOST_KEYS} keys, the last", keys(*many), {"x-api-key": many[-1]}),
        (f"{MOST_KEYS} keys, a wrong one", keys(*many), {"x-api-key": "drift_key_x"}),
        ("easyauth, 10 roles", entra, principal(10)),
        ("easyauth, 1,000 roles", entra, principal(1000)),
    ]
    for mode, values, headers in cases:
        seconds = await timed(values, Headers(headers))
        p50, p99 = (round(1e6 * percentile(seconds, percent), 1) for percent in (50, 99))
        show({"mode": mode, "p50_us": p50, "p99_us": p99}, asked)


async def timed(values: dict[str, str], headers: Headers) -> list[float]:
    """Return the seconds until the entrance knows who sends a request, or that nobody does."""
    entrance = Authentication(
        platform_asks_for_keys=not values, read_settings=lambda: load_access(values)
    )
    seconds = []
    for _ in range(CALLS):
        begun = time.perf_counter()
        with suppress(UnauthenticatedError):
            await entrance.caller(headers)
        seconds.append(time.perf_counter() - begun)
    return seconds[CALLS // 10 :]


if __name__ == "__main__":
    run(bench, read_options(__doc__))

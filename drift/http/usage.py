"""The route by which a caller reads its own quota."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from drift.auth.caller import Caller
from drift.auth.quotas import DAY_S, WINDOW_S, Quotas
from drift.contracts.quota import LimitRead, QuotaRead
from drift.http import http
from drift.http.http import Reply

USAGE = "usage"


async def reply(caller: Caller, quotas: Quotas) -> Reply:
    """Return what the caller may use and has used."""
    used, is_of_all = await quotas.used(caller)
    now = datetime.now(UTC)
    minute = now + timedelta(seconds=WINDOW_S)
    midnight = now + timedelta(seconds=DAY_S - now.timestamp() % DAY_S)

    quota = QuotaRead(
        caller=caller.name,
        counted="together" if is_of_all else "alone",
        requests_per_minute=_limit(caller.quota.requests_per_minute, used.requests, minute),
        tokens_per_day=_limit(caller.quota.tokens_per_day, used.tokens, midnight),
    )
    return http.read(quota)


def _limit(most: int | None, used: int, free_at: datetime) -> LimitRead | None:
    if most is None:
        return None
    left = max(0, most - used)
    return LimitRead(limit=most, used=used, left=left, free_at=free_at.replace(microsecond=0))

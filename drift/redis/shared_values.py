"""Values that the processes of a Redis share for a time, each sealed, for runs that many join."""

from __future__ import annotations

import hmac
import math
import time
from collections.abc import Sequence

from drift.core.circuit_breaker import CircuitBreaker
from drift.model.health import Readiness
from drift.redis.claims import PREFIX
from drift.redis.seal import Seal
from drift.redis.server import Command, RedisServer, noted

WAIT_S = 0.5
"""How long a request waits; then its run is shared in its own process alone."""
_FORBIDDEN = "its user may not share runs of retrievals (docs/access.md)"


class RedisValues:
    """SharedValues in Redis; no method raises."""

    def __init__(self, server: RedisServer, secret: bytes, settings: str = "") -> None:
        """Prepare; nothing is opened yet. Processes of other settings share nothing."""
        self.secret = hmac.digest(secret, settings.encode(), "sha256")
        self._server = server
        self._seal = Seal(self.secret)
        self._breaker = CircuitBreaker("retrieval_joining", time.monotonic)

    async def hold(self, key: str, value: bytes, seconds: float) -> bytes | None:
        """Write a value where none stands or this one does; return what stands there then."""
        name, sealed = self._named(key), self._seal.close(key, value)
        claim = ("SET", name, sealed, "EX", math.ceil(seconds))
        match await self._ask((*claim, "NX"), ("MGET", name)):
            case [made, [bytes(held)]]:
                if made is None and held == sealed:
                    await self._ask((*claim, "XX"))
                return self._seal.open(key, held)
        return None

    async def put(self, key: str, value: bytes, seconds: float) -> bool:
        """Write a value, for no seconds to take it away; tell whether that was done."""
        kept_ms = max(1, round(seconds * 1000))  # who may only write takes away by that
        sealed = self._seal.close(key, value)
        return await self._ask(("SET", self._named(key), sealed, "PX", kept_ms)) is not None

    async def get(self, keys: Sequence[str]) -> list[bytes | None] | None:
        """Return what stands under keys, read in their order; None where Redis does not say."""
        replies = await self._ask(*(("MGET", self._named(key)) for key in keys))
        if replies is None:
            return None
        stored = (one[0] if isinstance(one, list) and one else None for one in replies)
        return [self._seal.open(key, one) for key, one in zip(keys, stored, strict=True)]

    async def health(self) -> Readiness:
        """Return ok, or in words why runs are joined in each process alone."""
        await self.get(["ready?"])
        if not self._breaker.problem:
            return Readiness.ok()
        return Readiness.degraded(
            f"{self._breaker.problem}, retrievals are joined in each process alone"
        )

    async def _ask(self, *commands: Command) -> list[object] | None:
        if self._breaker.allow():
            async with noted(self._breaker, WAIT_S, _FORBIDDEN):
                replies = await self._server.ask(*commands)
                self._breaker.succeed()
                return replies
        return None

    def _named(self, key: str) -> str:
        return f"{PREFIX}{self._seal.name(key)}"

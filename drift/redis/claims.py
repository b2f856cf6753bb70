"""Claims in Redis: a key for each id, which says whose it is and ends by itself."""

from __future__ import annotations

import hashlib
import math
import time

from redis.exceptions import InvalidResponse

from drift.core.circuit_breaker import CircuitBreaker
from drift.model.health import Readiness
from drift.redis.server import RedisServer, noted

PREFIX = "drift:retrieval:"


class RedisClaims:
    """Claims for all processes of a Redis; without its answer each claims for itself."""

    def __init__(self, server: RedisServer) -> None:
        """Prepare; nothing is opened yet."""
        self._server = server
        self._breaker = CircuitBreaker("retrieval_claims", time.monotonic)

    async def holds(self, retrieval_id: str, name: str, seconds: float) -> bool:
        """Claim an id, and tell whether it is not another caller's; a failure claims for nobody."""
        is_own = True
        if self._breaker.allow():
            forbidden = "its user may not claim ids of retrievals (docs/access.md)"
            async with noted(self._breaker, 0.5, forbidden):
                is_own = await self._claim(PREFIX + retrieval_id, name, math.ceil(seconds))
                self._breaker.succeed()

        return is_own

    async def _claim(self, key: str, name: str, seconds: int) -> bool:
        mine = hashlib.sha256(name.encode()).hexdigest().encode()
        claim = ("SET", key, mine, "EX", seconds)
        made, held = await self._server.ask((*claim, "NX"), ("MGET", key))
        match held:
            case [bytes(holder)] if len(holder) == len(mine):
                is_own = holder == mine
            case _:
                raise InvalidResponse("What stands there is no claim.")

        if is_own and made is None:
            await self._server.ask((*claim, "XX"))
        return is_own

    async def health(self) -> Readiness:
        """Return ok, or in words why each process claims for itself."""
        await self.holds("ready?", "", 1)
        if not self._breaker.problem:
            return Readiness.ok()
        return Readiness.degraded(
            f"{self._breaker.problem}, ids of retrievals are claimed in each process alone"
        )

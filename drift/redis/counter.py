"""QuotaCounter in Redis, shared by all processes: each method is one script, by the time of Redis.

Of a caller there are a sorted set with the requests of the last minute, and a hash with the tokens
of a day. Both have the same hash tag, so that a cluster keeps them together, and end by themselves.
"""

from __future__ import annotations

import hashlib
from typing import Any
from uuid import uuid4

from redis.exceptions import NoPermissionError, NoScriptError

from drift.auth.caller import Quota
from drift.auth.quotas import DAY_S, WINDOW_S, CountingError, Refusal, Used
from drift.redis.pipeline import Pipeline
from drift.redis.server import RedisServer, in_words

PREFIX = "drift:quota:"
_NONSENSE = "its answer is none of ours"
_MICRO = 1_000_000

_NOW = f"""
local time = redis.call('TIME')
local now = time[1] * {_MICRO} + time[2]
local day = math.floor(time[1] / {DAY_S})
local begin = string.format('%.0f', now - {WINDOW_S * _MICRO:.0f})
local function tokens_of_today()
  local held = redis.call('HMGET', KEYS[2], 'day', 'tokens')
  return tonumber(held[1]) == day and tonumber(held[2]) or 0
end
"""

ADMIT = f"""{_NOW}
local requests, tokens, id = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
if redis.call('ZSCORE', KEYS[1], id) then return {{'', 0}} end

if tokens > 0 and tokens_of_today() >= tokens then
  return {{'tokens_per_day', ({DAY_S} - time[1] % {DAY_S}) * 1000}}
end

if requests > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', begin)
  local count = redis.call('ZCARD', KEYS[1])
  if count >= requests then
    local leaving = redis.call('ZRANGE', KEYS[1], count - requests, count - requests, 'WITHSCORES')
    return {{'requests_per_minute', math.ceil((leaving[2] - begin) / 1000)}}
  end
  redis.call('ZADD', KEYS[1], string.format('%.0f', now), id)
  redis.call('EXPIRE', KEYS[1], {WINDOW_S:.0f} + 1)
end
return {{'', 0}}
"""
"""Gives the limit that is reached and the milliseconds until there is room; an id counts once."""

SPEND = f"""{_NOW}
redis.call('HSET', KEYS[2], 'day', day, 'tokens', tokens_of_today() + ARGV[1])
redis.call('EXPIRE', KEYS[2], {DAY_S})
return 0
"""

USED = f"""{_NOW}
return {{redis.call('ZCOUNT', KEYS[1], '(' .. begin, '+inf'), tokens_of_today()}}
"""


class RedisCounter:
    """Counts for all processes that use the same Redis; a reply of no script of ours does not."""

    def __init__(self, server: RedisServer) -> None:
        """Prepare; nothing is opened yet. It belongs to the event loop that first asks."""
        self._pipeline = Pipeline(server)

    async def admit(self, name: str, quota: Quota) -> Refusal | None:
        """Count a request, unless a limit is reached."""
        most = {
            "requests_per_minute": quota.requests_per_minute or 0,
            "tokens_per_day": quota.tokens_per_day or 0,
        }
        reply = await self._run(ADMIT, name, *most.values(), uuid4().hex)
        match reply:
            case [b"", int()]:
                return None
            case [bytes(limit), int(wait_ms)] if 0 <= wait_ms <= DAY_S * 1000:
                for reached in ("requests_per_minute", "tokens_per_day"):
                    if limit == reached.encode() and most[reached]:
                        return Refusal(reached, most[reached], wait_ms / 1000)

        raise CountingError(_NONSENSE)

    async def spend(self, name: str, tokens: int) -> None:
        """Add tokens to those of today; twice when a connection breaks before Redis has said so."""
        if await self._run(SPEND, name, tokens) != 0:
            raise CountingError(_NONSENSE)

    async def used(self, name: str) -> Used:
        """Return what is counted of the caller."""
        match await self._run(USED, name):
            case [int(requests), int(tokens)] if min(requests, tokens) >= 0:
                return Used(requests, tokens)
        raise CountingError(_NONSENSE)

    async def close(self) -> None:
        """Close the connection."""
        await self._pipeline.close()

    async def _run(self, script: str, name: str, *arguments: str | int) -> Any:  # noqa: ANN401 - what the script returns
        keys = keys_of(name)
        sha = hashlib.sha1(script.encode(), usedforsecurity=False).hexdigest()
        try:
            try:
                return await self._pipeline.ask("EVALSHA", sha, 2, *keys, *arguments)
            except NoScriptError:  # a Redis that has not seen it yet, or has started again
                return await self._pipeline.ask("EVAL", script, 2, *keys, *arguments)
        except Exception as error:
            # The user lacks a right for the script, or for a command in it.
            if isinstance(error, NoPermissionError) or str(error).startswith("ACL failure"):
                problem = "its user may not count quotas (docs/access.md)"
                raise CountingError(problem) from error
            raise CountingError(in_words(error)) from error


def keys_of(name: str) -> tuple[str, str]:
    """Return the keys that count a caller; its name may hold what a hash tag must not."""
    tag = hashlib.sha256(name.encode()).hexdigest()[:32]
    return f"{PREFIX}{{{tag}}}:requests", f"{PREFIX}{{{tag}}}:tokens"

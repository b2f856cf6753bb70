"""QuotaCounter in Redis, shared by all processes: one script, by the time of Redis.

Of a caller there are a sorted set with the requests of the last minute, and a hash with the tokens
of a day. Both have the same hash tag, so that a cluster keeps them together, and end by themselves.
"""

from __future__ import annotations

import hashlib
from typing import Any
from uuid import uuid4

from redis.exceptions import NoPermissionError, NoScriptError

from drift.auth.quotas import DAY_S, WINDOW_S, CountingError, Counts
from drift.redis.server import RedisServer, in_words

PREFIX = "drift:quota:"
_MICRO = 1_000_000

COUNT = f"""
local id, most, tokens = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * {_MICRO} + time[2]
local day = math.floor(time[1] / {DAY_S})
local begin = string.format('%.0f', now - {WINDOW_S * _MICRO:.0f})

local held = redis.call('HMGET', KEYS[2], 'day', 'tokens')
local total = tonumber(held[1]) == day and tonumber(held[2]) or 0
if tokens > 0 then
  total = total + tokens
  redis.call('HSET', KEYS[2], 'day', day, 'tokens', total)
  redis.call('EXPIRE', KEYS[2], {DAY_S})
end

redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', begin)
local count, wait = redis.call('ZCARD', KEYS[1]), 0
if most > 0 and not redis.call('ZSCORE', KEYS[1], id) then
  if count < most then
    redis.call('ZADD', KEYS[1], string.format('%.0f', now), id)
    redis.call('EXPIRE', KEYS[1], {WINDOW_S:.0f} + 1)
    count = count + 1
  else
    local leaving = redis.call('ZRANGE', KEYS[1], count - most, count - most, 'WITHSCORES')
    wait = math.ceil((leaving[2] - begin) / 1000)
  end
end
return {{id, count, total, wait, {DAY_S} * 1000 - math.floor((now / 1000) % ({DAY_S} * 1000))}}
"""
"""Counts as QuotaCounter says, times in milliseconds; a request counts once, by its id."""
_SHA = hashlib.sha1(COUNT.encode(), usedforsecurity=False).hexdigest()


class RedisCounter:
    """Counts for all processes that use the same Redis; another's reply counts nothing."""

    def __init__(self, server: RedisServer) -> None:
        """Prepare; nothing is opened yet."""
        self._server = server

    async def count(self, name: str, *, most: int = 0, tokens: int = 0) -> Counts:
        """Count by the clock of Redis; tokens twice when a connection breaks before it answers."""
        marker = uuid4().hex
        match await self._run(keys_of(name), marker, most, tokens):
            case [bytes(id_), int(requests), int(total), int(wait), int(left)] if (
                id_ == marker.encode() and min(requests, total, wait, left) >= 0
            ):
                return Counts(requests, total, wait / 1000, left / 1000)
        raise CountingError("its answer is none of ours")

    async def _run(self, keys: tuple[str, str], *arguments: str | int) -> Any:  # noqa: ANN401 - what the script returns
        try:
            try:
                (answer,) = await self._server.ask(("EVALSHA", _SHA, 2, *keys, *arguments))
            except NoScriptError:  # a Redis that has not seen it yet, or has started again
                (answer,) = await self._server.ask(("EVAL", COUNT, 2, *keys, *arguments))
        except Exception as error:
            # The user lacks a right for the script, or for a command in it.
            if isinstance(error, NoPermissionError) or str(error).startswith("ACL failure"):
                problem = "its user may not count quotas (docs/access.md)"
                raise CountingError(problem) from error
            raise CountingError(in_words(error)) from error

        return answer


def keys_of(name: str) -> tuple[str, str]:
    """Return the keys that count a caller; its name may hold what a hash tag must not."""
    tag = hashlib.sha256(name.encode()).hexdigest()[:32]
    return f"{PREFIX}{{{tag}}}:requests", f"{PREFIX}{{{tag}}}:tokens"

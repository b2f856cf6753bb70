"""Feedback in Redis, each with the answer that it is about, until its time is over.

An answer is a key of its own, made of its caller's name and its retrieval's id: no caller reaches
another's. Feedback is written into it, and a sorted set of each project says when.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Sequence
from contextvars import Context
from typing import Any, TypeVar

from pydantic import ValidationError
from redis.exceptions import NoPermissionError

from drift.auth.caller import Caller, Project
from drift.contracts.feedback import FeedbackOut, ScorableAnswer
from drift.core.circuit_breaker import CircuitBreaker
from drift.core.errors import FeedbackUnavailableError
from drift.model.health import Readiness
from drift.model.reading import Page, PageQuery
from drift.redis.server import Command, RedisServer, in_words, noted

SCORABLE_DAYS = 7
"""So long an answer may be scored: those that nobody scores would fill Redis."""
MOST = 10_000
"""So much feedback of a project is listed, the newest."""
_WAIT_S = 2.0
_FORBIDDEN = "its user may not keep feedback (docs/access.md)"
_Shape = TypeVar("_Shape", bound=ScorableAnswer)


class RedisFeedback:
    """Keeps who got which answer for a week, and what they say of it for `days`; 0 keeps none."""

    def __init__(self, server: RedisServer, days: int) -> None:
        """Prepare; nothing is opened yet."""
        self._server = server
        self._days = days
        self._breaker = CircuitBreaker("feedback", time.monotonic)
        self._writing: set[asyncio.Task[None]] = set()

    def remember(self, caller: Caller, answer: ScorableAnswer) -> None:
        """Keep an answer, so that its caller may score it; nobody waits, and nothing is raised."""
        if self._days and self._breaker.allow():
            # What was said of an answer under this id before stays.
            kept = (*_kept(caller, answer, min(self._days, SCORABLE_DAYS)), "NX")
            task = asyncio.create_task(self._write(kept), context=Context())
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)

    async def _write(self, kept: Command) -> None:
        async with noted(self._breaker, _WAIT_S, _FORBIDDEN):
            await self._server.ask(kept)
            self._breaker.succeed()

    async def answer(self, caller: Caller, retrieval_id: str) -> ScorableAnswer | None:
        """Return an answer that a caller got; None where it got none, or too long ago."""
        if self._writing:  # it may be on its way
            await asyncio.wait(self._writing)
        (found,) = await self._ask(("MGET", _key(caller, retrieval_id)))
        return _read(found, ScorableAnswer)

    async def give(self, project: Project, said: FeedbackOut) -> None:
        """Write what a project's caller says of an answer, in the place of what it said before."""
        now, kept_s = said.given_at.timestamp(), self._days * 86_400
        listed = _list(project)
        await self._ask(
            _kept(project.caller, said, self._days),
            ("ZADD", listed, int(now * 1e6), _key(project.caller, said.retrieval_id)),
            ("ZREMRANGEBYSCORE", listed, "-inf", int((now - kept_s) * 1e6)),
            ("ZREMRANGEBYRANK", listed, 0, -MOST - 1),
            ("EXPIRE", listed, kept_s),
        )

    async def of_project(self, project: Project, page: PageQuery) -> Page[FeedbackOut]:
        """Return a page of a project's feedback, the newest first; it may be short."""
        newest = f"({page.after[0]}" if page.after else "+inf"
        asked = (_list(project), newest, "-inf", "WITHSCORES", "LIMIT", 0, page.limit + 1)
        (found,) = await self._ask(("ZREVRANGEBYSCORE", *asked))
        keys, times = found[0::2], found[1::2]
        # One key at a time: a cluster's nodes hold some each.
        kept = await self._ask(*(("MGET", key) for key in keys[: page.limit]))
        rows = (_read(one, FeedbackOut) for one in kept)
        # A caller may have used an id again since, for another project.
        own = tuple(row for row in rows if row and row.project_id == project.id)
        return Page(own, (int(times[-2]),) if len(keys) > page.limit else None)

    async def _ask(self, *commands: Command) -> Sequence[Any]:
        try:
            async with asyncio.timeout(_WAIT_S):
                return await self._server.ask(*commands)
        except Exception as error:
            why = _FORBIDDEN if isinstance(error, NoPermissionError) else in_words(error)
            raise FeedbackUnavailableError(f"Redis, which keeps feedback: {why}.") from error

    async def health(self) -> Readiness:
        """Return ok, or in words why the last answer cannot be scored."""
        problem = self._breaker.problem
        return Readiness.degraded(f"{problem}, no feedback is kept") if problem else Readiness.ok()


def _kept(caller: Caller, answer: ScorableAnswer, days: int) -> Command:
    key = _key(caller, answer.retrieval_id)
    return ("SET", key, answer.model_dump_json(), "EX", days * 86_400)


def _key(caller: Caller, retrieval_id: str) -> str:
    named = f"{retrieval_id}\n{caller.name}".encode()
    return f"drift:answered:{hashlib.sha256(named).hexdigest()}"


def _list(project: Project) -> str:
    return f"drift:feedback:{hashlib.sha256(project.id.encode()).hexdigest()}"


def _read(found: Sequence[object], shape: type[_Shape]) -> _Shape | None:
    """Return what a key holds; None where it is gone, or was not scored yet."""
    try:
        return shape.model_validate_json(found[0]) if isinstance(found[0], bytes) else None
    except ValidationError:
        return None

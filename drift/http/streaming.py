"""One request as server-sent events: progress, the answer as it grows, one last event."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from starlette.responses import Response

from drift.contracts.answer import KeyFact, Problem, TraceNode
from drift.contracts.progress import Event
from drift.contracts.rag import SourceOut
from drift.core.errors import DriftError, StoppingError
from drift.http import http

MOST_BYTES = 2 * 1024 * 1024
"""Behind so many bytes of events no more progress and follow-ups are told; the answer always is."""
_RESULT, _ERROR = (f"event: {last}\n".encode() for last in (Event.RESULT, Event.ERROR))


class EventStream:
    """Listener that keeps the events of a running request, for those who read them now or later.

    A reader who leaves cancels the request, unless it `stays`. The handler starts the request's
    task, which so inherits the handler's context variables. Ids of events are a number behind the
    `token` of the run.
    """

    def __init__(
        self, retrieval_id: str, beat_s: float = http.BEAT_SECONDS, *, stays: bool = False
    ) -> None:
        """Prepare; it may be told something at once."""
        self.token = secrets.token_hex(8)
        self.events: list[bytes] = []
        self.size = 0
        self.is_over = False
        self._retrieval_id = retrieval_id
        self._beat_s = beat_s
        self._stays = stays
        self._news = asyncio.Event()
        self._task: asyncio.Task[Any] | None = None

    def progress(self, message: str) -> None:
        """Relay one progress message."""
        self._tell(Event.PROGRESS, message)

    def answer_delta(self, text: str) -> None:
        """Relay what comes next of the final answer."""
        self._tell(Event.ANSWER_DELTA, json.dumps({"text": text}))

    def answer_replaced(self, text: str) -> None:
        """Relay the answer in place of all that was relayed of it."""
        self._tell(Event.ANSWER_REPLACED, json.dumps({"text": text}))

    def citations(self, key_facts: Sequence[KeyFact]) -> None:
        """Relay the sentences of the answer with their citations, as the result has them."""
        facts = [fact.model_dump(mode="json") for fact in key_facts]
        self._tell(Event.CITATIONS, json.dumps({"key_facts": facts}))

    def followup(self, node: TraceNode) -> None:
        """Relay a follow-up as the trace has it; one that begins is in the state `asked`."""
        self._tell(Event.FOLLOWUP, node.model_dump_json(by_alias=True))

    def sources(self, sources: Sequence[SourceOut]) -> None:
        """Relay the nodes that the answer was written from, as the result has them."""
        listed = [source.model_dump(mode="json") for source in sources]
        self._tell(Event.SOURCES, json.dumps({"sources": listed}))

    def follow(self, task: asyncio.Task[Any]) -> None:
        """Relay how this task ends."""
        self._task = task
        task.add_done_callback(self._end)

    def cancel(self) -> None:
        """Cancel the request if it is still running and does not stay."""
        if self._task is not None and not self._stays:
            self._task.cancel()

    def take(self, events: bytes) -> None:
        """Take events of the same run, as another process has told them."""
        for event in events.split(b"\n\n")[:-1]:
            self._add(event + b"\n\n")
        self.is_over = self.is_over or self.events[-1].startswith((_RESULT, _ERROR))

    @property
    def is_answered(self) -> bool:
        """True when the last event is an answer."""
        return self.is_over and self.events[-1].startswith(_RESULT)

    @property
    def is_failed(self) -> bool:
        """True when the last event is an error."""
        return self.is_over and not self.is_answered

    def _end(self, task: asyncio.Task[Any]) -> None:
        if self.is_over:  # another process has told how it ended
            return
        self.is_over = True
        if task.cancelled():  # its reader has gone
            self._fail(http.internal_error())
        elif (error := task.exception()) is None:
            self._finish(task.result())
        else:
            self._fail(http.log_failure(error, {"retrieval_id": self._retrieval_id}))

    def _finish(self, result: Any) -> None:  # noqa: ANN401 - the answer of whichever route
        self._tell(Event.RESULT, result.to_json())

    def _fail(self, error: DriftError) -> None:
        self._tell(Event.ERROR, http.problem_body(error, self._retrieval_id))

    def _tell(self, event: Event, data: str | bytes) -> None:
        is_spare = event in {Event.PROGRESS, Event.FOLLOWUP}
        if not is_spare or self.size + len(data) <= MOST_BYTES:
            self._add(http.event(event, data, f"{self.token}-{len(self.events) + 1}"))

    def _add(self, event: bytes) -> None:
        self.events.append(event)
        self.size += len(event)
        self._news.set()
        self._news.clear()

    async def wait(self, known: int, seconds: float) -> bool:
        """Wait for more events than are known, or for the end; tell whether one came in time."""
        if len(self.events) <= known and not self.is_over:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._news.wait()
        return len(self.events) > known or self.is_over

    async def read(self, last_id: str | None = None) -> AsyncIterator[bytes]:
        """Yield the stream's bytes, behind the event that a reader has last; leaving may cancel.

        Whoever comes with an event of another run is told first that the answer begins anew.
        """
        at, begin = self._place(last_id), http.OPEN
        if last_id and not at:
            begin += self._anew()
        try:
            yield begin
            while True:
                while at < len(self.events):
                    at += 1
                    yield self.events[at - 1]
                if self.is_over:
                    if at > len(self.events):  # of an event that never was
                        at = 0
                        yield self._anew()
                        continue
                    return
                if not await self.wait(at, self._beat_s):
                    yield http.BEAT
        finally:
            self.cancel()

    def _anew(self) -> bytes:
        return http.event(Event.ANSWER_REPLACED, '{"text": ""}', f"{self.token}-0")

    def _place(self, last_id: str | None) -> int:
        """Return how many events whoever has this one knows; 0 where it is none of this run.

        Another process may not have copied it to this one yet.
        """
        known = re.fullmatch(f"{self.token}-([0-9]{{1,6}})", last_id or "")
        return int(known[1]) if known else 0

    async def whole(self) -> Response:
        """Return as HTTP what the last event tells, once it is told."""
        while not self.is_over:
            await self.wait(len(self.events), self._beat_s)
        body = self.events[-1].partition(b"\ndata: ")[2].removesuffix(b"\n\n")
        if self.is_answered:
            return Response(body, media_type=http.JSON)
        status = Problem.model_validate_json(body).status
        again = {"retry-after": str(StoppingError.retry_after_s)} if status == 503 else None  # noqa: PLR2004 - HTTP's own
        return Response(body, status, again, http.PROBLEM_JSON)


Start = Callable[[EventStream | None], Awaitable[asyncio.Task[Any]]]
"""Starts answering a question; the stream, where there is one, is told how far it is."""

"""One request as server-sent events: progress, the answer as it grows, one last event."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

from drift.contracts.answer import KeyFact, TraceNode
from drift.contracts.progress import Event
from drift.contracts.rag import SourceOut
from drift.core.errors import DriftError
from drift.http import http


class EventStream:
    """Listener that relays a running request; a reader who leaves cancels the request.

    The handler starts the request's task, which so inherits the handler's context variables.
    """

    def __init__(self, retrieval_id: str, beat_s: float = http.BEAT_SECONDS) -> None:
        """Prepare; it may be told something at once."""
        self._retrieval_id = retrieval_id
        self._beat_s = beat_s
        self._events: asyncio.Queue[bytes | None] = asyncio.Queue()
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
        """Cancel the request if it is still running."""
        if self._task is not None:
            self._task.cancel()

    def _end(self, task: asyncio.Task[Any]) -> None:
        if task.cancelled():  # its reader has gone
            self._fail(http.internal_error())
        elif (error := task.exception()) is None:
            self._finish(task.result())
        else:
            self._fail(http.log_failure(error, {"retrieval_id": self._retrieval_id}))

        self._events.put_nowait(None)

    def _finish(self, result: Any) -> None:  # noqa: ANN401 - the answer of whichever route
        self._tell(Event.RESULT, result.to_json())

    def _fail(self, error: DriftError) -> None:
        self._tell(Event.ERROR, http.problem_body(error, self._retrieval_id))

    def _tell(self, event: Event, data: str | bytes) -> None:
        self._events.put_nowait(http.event(event, data))

    async def events(self) -> AsyncIterator[bytes]:
        """Yield the stream's bytes; leaving early cancels the request."""
        try:
            yield http.OPEN
            while True:
                try:
                    item = await asyncio.wait_for(self._events.get(), self._beat_s)
                except TimeoutError:
                    item = http.BEAT
                if item is None:
                    return
                yield item
        finally:
            self.cancel()

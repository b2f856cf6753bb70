"""The signals of an answer's references: one round trip, and the question's vector.

A failure here costs no more than the signals that it would give.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from drift.answer.references import Known
from drift.contracts.evidence import Surroundings
from drift.contracts.request import ProjectRequest
from drift.core.clock import unix_time
from drift.core.deadline import Deadline
from drift.core.errors import UpstreamError
from drift.core.logs import log
from drift.model.graph import LocalVector, Vector
from drift.model.passages import PassagesQuery
from drift.ports import Ports

PATIENCE_S = 10.0  # what an answer waits for its references at most
NO_TIME = "No time was left to look how near, how new and how well borne out the passages are."
NO_VECTOR = "How near the passages are to the question is not known: the embedding model failed."
NO_GRAPH = (
    "How near, how new and how well borne out the passages are is not known: the graph failed."
)
BY_LOCAL = "The embedding model did not answer: a smaller one says how near the passages are."
Clock = Callable[[], datetime]
Answer = TypeVar("Answer")


def utc_now() -> datetime:
    """Return the time."""
    return datetime.fromtimestamp(unix_time(), UTC)


@dataclass(frozen=True, slots=True)
class ReferenceLookup:
    """Reads the signals of cited passages within the rest of a request's time.

    `model` is the name of the embedding model: a project's threshold holds for its own.
    """

    ports: Ports
    model: str = ""
    clock: Clock = utc_now

    async def known(
        self,
        request: ProjectRequest,
        chunk_ids: tuple[str, ...],
        vector: Vector,
        deadline: Deadline,
    ) -> Known:
        """Return the signals of these chunks; an empty `vector` is asked for.

        A server that fails costs its signals: no error is raised for it.
        """
        now = int(1000 * self.clock().timestamp())
        if not chunk_ids:
            return Known(now=now)

        left = deadline.remaining() - 1.0  # a second is kept for the answer to be told
        if left <= 0:
            return Known(now=now, unread=(NO_TIME,))

        patience = Deadline.after(min(PATIENCE_S, left), deadline.clock)
        unread: tuple[str, ...] = ()
        if not vector:
            asked = self.ports.embedder.embed([request.query], patience)
            embedded = await _within(patience, asked)
            vector = embedded.vectors[0] if embedded else ()
            unread = () if vector else (NO_VECTOR,)
            if isinstance(vector, LocalVector):
                unread = (BY_LOCAL,)

        query = PassagesQuery(request.project_id, chunk_ids, vector)
        found = await _within(patience, self.ports.passages.passages(query, patience))
        if found is None:
            return Known(now=now, unread=(NO_GRAPH,))

        threshold = found.threshold
        is_local = isinstance(vector, LocalVector)  # the threshold is of the provider's vectors
        fits = threshold and not is_local and threshold.fits(len(vector), self.model)
        passages = {passage.chunk_id: passage for passage in found.passages}
        return Known(passages, threshold if fits else None, now, unread)

    async def around(
        self,
        request: ProjectRequest,
        chunk_ids: tuple[str, ...],
        vector: Vector,
        deadline: Deadline,
    ) -> Surroundings:
        """Return what the graph has around these chunks; nothing where it fails."""
        if not chunk_ids:
            return Surroundings()
        patience = Deadline.after(min(PATIENCE_S, deadline.remaining()), deadline.clock)
        query = PassagesQuery(request.project_id, chunk_ids, vector)
        found = await _within(patience, self.ports.passages.around(query, patience))
        return found or Surroundings()


async def _within(patience: Deadline, asking: Awaitable[Answer]) -> Answer | None:
    """Return the answer of a server; None where it fails or comes too late."""
    try:
        async with patience.enforced():
            return await asking
    except UpstreamError as error:
        log.warning("references_unread", extra={"reason": error.detail})
        return None

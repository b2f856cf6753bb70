"""What an answer's references need beyond the answer: one round trip, and the question's vector.

The answer is there before; whatever fails here costs no more than the signals that it would give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from drift.answer.conclusion import Conclusion
from drift.answer.references import Known, cited_chunks, referred
from drift.contracts.answer import ReferencesOut
from drift.contracts.request import ProjectRequest
from drift.core.deadline import Deadline, Turns
from drift.core.errors import UpstreamError
from drift.core.logs import log
from drift.model.graph import Chunk, Vector
from drift.model.passages import Passages, PassagesQuery
from drift.ports import Ports
from drift.search.calls import Calls

PATIENCE_S = 10.0
"""What an answer waits for its references at most."""
KEPT_S = 1.0
"""Of the request's time, that is left for the answer to be told."""
NO_TIME = "No time was left to look how near, how new and how well borne out the passages are."
NO_VECTOR = "How near the passages are to the question is not known: the embedding model failed."
NO_GRAPH = (
    "How near, how new and how well borne out the passages are is not known: the graph failed."
)
_UNREAD = frozenset({NO_TIME, NO_VECTOR, NO_GRAPH})
Clock = Callable[[], datetime]


def is_unread(references: ReferencesOut) -> bool:
    """Tell whether a failure, or the time, took something from the references."""
    return not _UNREAD.isdisjoint(references.limits)


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Referring:
    """Reads what is known of cited passages, within what is left of a request's time.

    `model` is the name of the embedding model: a project's threshold holds for its own.
    """

    ports: Ports
    turns: Turns
    deadline: Deadline
    model: str = ""
    clock: Clock = utc_now

    async def references(
        self,
        request: ProjectRequest,
        concluded: Conclusion,
        retrieved: Mapping[str, Chunk],
        vector: Vector,
    ) -> ReferencesOut:
        """Return the references of an answer over these chunks, each as sure as can be known.

        `vector` is the question's own; an empty one is asked for.
        """
        chunk_ids = cited_chunks(concluded.statements)
        known = await self.known(request.project_id, request.query, chunk_ids, vector)
        return referred(concluded, retrieved, known)

    async def known(
        self, project_id: str, question: str, chunk_ids: tuple[str, ...], vector: Vector = ()
    ) -> Known:
        """Return what is known of these chunks; never raises an error of a server.

        `vector` is the question's own, where it is known already.
        """
        now = int(1000 * self.clock().timestamp())
        if not chunk_ids:
            return Known(now=now)

        left = self.deadline.remaining() - KEPT_S
        if left <= 0:
            return Known(now=now, unread=(NO_TIME,))

        patience = Deadline.after(min(PATIENCE_S, left), self.deadline.clock)
        calls = Calls.within(patience, self.ports, self.turns)
        unread = []
        if not vector:
            vector = await self._embedded(question, calls, patience)
            unread += [] if vector else [NO_VECTOR]

        found = await self._read(PassagesQuery(project_id, chunk_ids, vector), calls, patience)
        if found is None:
            return Known(now=now, unread=(NO_GRAPH,))

        threshold = found.threshold
        fits = threshold is not None and threshold.fits(len(vector), self.model)
        return Known(
            {passage.chunk_id: passage for passage in found.passages},
            threshold if fits else None,
            now,
            tuple(unread),
        )

    async def _embedded(self, question: str, calls: Calls, patience: Deadline) -> Vector:
        """Return the question's vector; an empty one where the model gives none."""
        try:
            async with patience.enforced():
                return (await calls.embedder.embed([question])).vectors[0]
        except UpstreamError as error:
            log.warning("references_unread", extra={"reason": error.detail})
            return ()

    async def _read(
        self, query: PassagesQuery, calls: Calls, patience: Deadline
    ) -> Passages | None:
        """Return what the graph knows; None where it does not answer."""
        try:
            async with patience.enforced():
                return await calls.passages.passages(query)
        except UpstreamError as error:
            log.warning("references_unread", extra={"reason": error.detail})
            return None

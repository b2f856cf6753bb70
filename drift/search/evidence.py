"""Evidence alone: the passages that one look would read, without a call to a chat model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from drift.answer.reference_lookup import ReferenceLookup
from drift.answer.references import Known, label_of
from drift.answer.signals import similarity
from drift.contracts.answer import NO_DATA_STATE
from drift.contracts.evidence import EvidenceAnswer, EvidenceResponse, PassageOut, Surroundings
from drift.contracts.progress import Phase
from drift.contracts.request import ProjectRequest
from drift.core.deadline import Deadline
from drift.model.graph import Chunk
from drift.model.limits import Limits
from drift.model.tree import Citation, Tree
from drift.ports import Ports
from drift.search.explaining import explained
from drift.search.prices import PriceTable, usage_of
from drift.search.progress import Progress, name_list
from drift.search.remarks import searched_for
from drift.search.rewriting import in_full
from drift.search.scope import Scope
from drift.telemetry import parts


@dataclass(frozen=True, slots=True)
class EvidenceSearch:
    """Finds passages in one graph; it holds nothing about a request."""

    ports: Ports
    limits: Limits
    prices: PriceTable | None = None
    embedding_model: str = ""

    async def find(
        self, request: ProjectRequest, retrieval_id: str, deadline: Deadline, *, reranks: bool
    ) -> EvidenceResponse:
        """Return the passages nearest to a question, best first.

        Where the settings name a reranker, it orders them if `reranks`.

        Raises:
            UpstreamError: the graph or the embedding model failed, or the time is used up.
        """
        ports = self.ports if reranks else replace(self.ports, reranker=None)
        scope = Scope(ports, self.limits, request, deadline)
        with parts.retrieval(retrieval_id, request.project_id):
            passages, _ = await self._found(scope)
        return EvidenceResponse(passages=passages)

    async def answer(
        self, request: ProjectRequest, progress: Progress, deadline: Deadline
    ) -> EvidenceAnswer:
        """Return the same as the answer to a request, with what is around; errors as for `find`."""
        scope = Scope.within(self.ports, self.limits, request, deadline)
        progress.report(Phase.INITIALIZING, "Starting the retrieval")
        with (
            progress.failing(),
            parts.retrieval(progress.retrieval_id, request.project_id) as whole,
        ):
            with parts.phase(Phase.EXPANDING_QUERY):
                scope = await in_full(scope, progress)
                passages, around = await self._found(scope)
            answered = EvidenceAnswer(evidence=passages, **dict(around))
            if not passages:
                answered.no_data_found, whole.outcome = True, NO_DATA_STATE

        names = name_list((one.document_name for one in passages), bracketed=True)
        progress.completed(f"Found {len(passages)} passages", names)
        if "query" in request.include:
            answered.query = searched_for(scope)
        if "usage" in request.include:
            answered.usage = usage_of(whole, self.prices)
        if scope.noted:
            ids = [one.chunk_id for one in passages]
            answered.explain = await explained(scope, whole, Tree(), ids)
        return answered

    async def _found(self, scope: Scope) -> tuple[list[PassageOut], Surroundings]:
        """Return the best passages; for who wants no answer, also what is around them."""
        request, deadline = scope.request, scope.deadline
        async with deadline.enforced():
            [vector] = await scope.embed([scope.question])
            evidence = await scope.find(scope.question, vector)

        chunks = evidence.chunks[: request.top_k]
        ids = tuple(chunk.id for chunk in chunks)
        lookup = ReferenceLookup(self.ports, self.embedding_model)
        known, around = await asyncio.gather(
            lookup.known(request, ids, vector, deadline),
            lookup.around(request, () if request.answer else ids, vector, deadline),
        )
        passages = zip(chunks, scores(chunks, known), strict=True)
        return [_passage(*one, is_located=scope.located) for one in passages], around


def scores(chunks: Sequence[Chunk], known: Known) -> list[float]:
    """Return how near each chunk or any behind it is, 0..1, so that scores fall with the rank.

    Of a graph that knows no vectors, it is how they were ranked.
    """
    found = (known.passages.get(chunk.id) for chunk in chunks)
    near = [similarity(one.similarity if one else None, known.threshold) for one in found]
    if all(one is None for one in near):
        near = [min(1.0, max(0.0, chunk.score)) for chunk in chunks]
    return falling([one or 0.0 for one in near])


def falling(near: Sequence[float]) -> list[float]:
    """Return the greatest of each number and of those behind it."""
    return list(accumulate(reversed(near), max))[::-1]


def _passage(chunk: Chunk, score: float, *, is_located: bool) -> PassageOut:
    """Return a chunk as a passage, of which only what is known is set."""
    where = {
        "label": label_of(Citation(chunk.id, chunk.text, chunk.document_name, at=0), chunk),
        "heading": chunk.heading,
        "page": "" if chunk.page is None else str(chunk.page),
        "start": chunk.start,
        "source_uri": chunk.source_uri,
    }
    return PassageOut.model_validate(
        {
            "chunk_id": chunk.id,
            "text": chunk.text.replace("\f", "\n"),  # as long as before, so that places stay
            "score": score,
            "document_id": chunk.document_id,
            "document_name": chunk.document_name,
            "via": chunk.via,
            **{name: one for name, one in where.items() if is_located and one not in ("", None)},
        }
    )

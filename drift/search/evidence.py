"""Evidence alone: the passages that one look would read, without a call to a chat model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from drift.answer.reference_lookup import ReferenceLookup
from drift.answer.references import Known, label_of, page_of
from drift.answer.signals import similarity
from drift.contracts.answer import NO_DATA_STATE
from drift.contracts.evidence import EvidenceAnswer, EvidenceOut, EvidenceResponse, PassageOut
from drift.contracts.progress import Phase
from drift.contracts.request import ProjectRequest
from drift.core.deadline import Deadline
from drift.core.errors import DriftError
from drift.model.graph import Chunk, Vector
from drift.model.limits import Limits
from drift.model.tree import Citation
from drift.ports import Ports
from drift.search.prices import PriceTable, usage_of
from drift.search.progress import Progress, name_list
from drift.search.scope import Scope
from drift.telemetry import parts

_Scored = list[tuple[Chunk, float]]


@dataclass(frozen=True, slots=True)
class EvidenceSearch:
    """Finds passages in one graph; it holds nothing about a request."""

    ports: Ports
    limits: Limits
    prices: PriceTable | None = None
    embedding_model: str = ""

    async def find(
        self,
        request: ProjectRequest,
        retrieval_id: str,
        deadline: Deadline,
        *,
        reranks: bool = True,
    ) -> EvidenceResponse:
        """Return the passages nearest to a question, best first.

        Where the settings name a reranker, it orders them if `reranks`.

        Raises:
            UpstreamError: the graph or the embedding model failed, or the time is used up.
        """
        ports = self.ports if reranks else replace(self.ports, reranker=None)
        scope = Scope(ports, self.limits, request, deadline)
        with parts.retrieval(retrieval_id, request.project_id):
            vector, chunks = await _nearest(scope)
            found = await self._scored(scope, vector, chunks)
        return EvidenceResponse(passages=[_passage(chunk, score) for chunk, score in found])

    async def answer(
        self, request: ProjectRequest, progress: Progress, deadline: Deadline
    ) -> EvidenceAnswer:
        """Return the same as the answer to a request, with what is around; errors as for `find`."""
        scope = Scope(self.ports, self.limits, request, deadline)
        progress.report(Phase.INITIALIZING, "Starting the retrieval")
        try:
            with parts.retrieval(progress.retrieval_id, request.project_id) as whole:
                with parts.phase(Phase.EXPANDING_QUERY) as part:
                    vector, chunks = await _nearest(scope)
                    ids = tuple(chunk.id for chunk in chunks)
                    found, around = await asyncio.gather(
                        self._scored(scope, vector, chunks),
                        self._lookup.around(request, ids, vector, deadline),
                    )
                    part.add(chunks=len(found))
                if not found:
                    whole.outcome = NO_DATA_STATE
        except DriftError as error:
            progress.failed(error.detail)
            raise

        names = name_list((chunk.document_name for chunk in chunks), bracketed=True)
        progress.completed(f"Found {len(found)} passages", names)
        return EvidenceAnswer(
            evidence=[_evidence(*one, is_located=scope.located) for one in found],
            entities=around.entities,
            communities=around.communities,
            no_data_found=None if found else True,
            usage=usage_of(whole, self.prices) if "usage" in request.include else None,
        )

    @property
    def _lookup(self) -> ReferenceLookup:
        return ReferenceLookup(self.ports, self.embedding_model)

    async def _scored(self, scope: Scope, vector: Vector, chunks: Sequence[Chunk]) -> _Scored:
        ids = tuple(chunk.id for chunk in chunks)
        known = await self._lookup.known(scope.request, ids, vector, scope.deadline)
        return list(zip(chunks, scores(chunks, known), strict=True))


async def _nearest(scope: Scope) -> tuple[Vector, tuple[Chunk, ...]]:
    """Return the question's vector, and its best passages."""
    async with scope.deadline.enforced():
        [vector] = await scope.embed([scope.question])
        evidence = await scope.find(scope.question, vector)
    return vector, evidence.chunks[: scope.request.top_k]


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


def _passage(chunk: Chunk, score: float) -> PassageOut:
    return PassageOut(
        chunk_id=chunk.id,
        text=_text(chunk),
        score=score,
        document_id=chunk.document_id,
        document_name=chunk.document_name,
        label=label_of(_whole(chunk), chunk),
        heading=chunk.heading,
        page="" if chunk.page is None else str(chunk.page),
        start=-1 if chunk.start is None else chunk.start,
        source_uri=chunk.source_uri,
        via=list(chunk.via),
    )


def _evidence(chunk: Chunk, score: float, *, is_located: bool) -> EvidenceOut:
    told = EvidenceOut(
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        document_name=chunk.document_name,
        text=_text(chunk),
        score=score,
        via=list(chunk.via),
    )
    if not is_located:
        return told
    where = {
        "label": label_of(_whole(chunk), chunk),
        "page": page_of(_whole(chunk), chunk),
        "heading": chunk.heading or None,
        "start": chunk.start,
        "source_uri": chunk.source_uri or None,
    }
    return told.model_copy(update=where)


def _whole(chunk: Chunk) -> Citation:
    return Citation(chunk.id, chunk.text, chunk.document_name, at=0)


def _text(chunk: Chunk) -> str:
    return chunk.text.replace("\f", "\n")  # as long as before, so that places stay

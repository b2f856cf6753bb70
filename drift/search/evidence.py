"""Evidence alone: the passages that one look would read, without a call to a chat model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from drift.answer.reference_lookup import ReferenceLookup
from drift.answer.references import Known, label_of
from drift.answer.signals import similarity
from drift.contracts.evidence import EvidenceResponse, PassageOut
from drift.model.graph import Chunk
from drift.model.tree import Citation
from drift.search.scope import Scope


async def find_passages(scope: Scope, lookup: ReferenceLookup) -> EvidenceResponse:
    """Return the best passages for the question of a scope, best first.

    Raises:
        UpstreamError: the graph or the embedding model failed, or the time is used up.
    """
    async with scope.deadline.enforced():
        [vector] = await scope.embed([scope.question])
        evidence = await scope.find(scope.question, vector)

    chunks = evidence.chunks[: scope.request.top_k]
    ids = tuple(chunk.id for chunk in chunks)
    known = await lookup.known(scope.request, ids, vector, scope.deadline)
    passages = zip(chunks, scores(chunks, known), strict=True)
    return EvidenceResponse(passages=[_passage(chunk, score) for chunk, score in passages])


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
    whole = Citation(chunk.id, chunk.text, chunk.document_name, at=0)
    return PassageOut(
        chunk_id=chunk.id,
        text=chunk.text.replace("\f", "\n"),  # as long as before, so that places stay
        score=score,
        document_id=chunk.document_id,
        document_name=chunk.document_name,
        label=label_of(whole, chunk),
        heading=chunk.heading,
        page="" if chunk.page is None else str(chunk.page),
        start=-1 if chunk.start is None else chunk.start,
        source_uri=chunk.source_uri,
    )

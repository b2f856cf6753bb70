"""Evidence alone: the passages that one look would read, without a call to a chat model."""

from __future__ import annotations

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
    return EvidenceResponse(passages=[_passage(chunk, known) for chunk in chunks])


def _passage(chunk: Chunk, known: Known) -> PassageOut:
    passage = known.passages.get(chunk.id)
    match = similarity(passage.similarity if passage else None, known.threshold)
    whole = Citation(chunk.id, chunk.text, chunk.document_name, at=0)
    return PassageOut(
        chunk_id=chunk.id,
        text=chunk.text.replace("\f", "\n"),  # as long as before, so that places stay
        # of a graph that knows no vectors, how it was ranked
        score=min(1.0, max(0.0, chunk.score)) if match is None else match,
        document_id=chunk.document_id,
        document_name=chunk.document_name,
        label=label_of(whole, chunk),
        heading=chunk.heading,
        page="" if chunk.page is None else str(chunk.page),
        start=-1 if chunk.start is None else chunk.start,
        source_uri=chunk.source_uri,
    )

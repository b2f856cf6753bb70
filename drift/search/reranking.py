"""A reranker's scores of a search's candidates: how well each of them answers the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from drift.core.deadline import Deadline
from drift.model.graph import Candidate, Chunk
from drift.ports import Reranker
from drift.prompting.tokens import cut
from drift.search.ranking import fuse

MOST_TEXTS = 100
"""What Cohere bills as one search; without named documents a search finds fewer."""


async def relevance(
    reranker: Reranker, question: str, found: Sequence[Candidate], deadline: Deadline
) -> Mapping[str, float]:
    """Return the scores of the best candidates by their ids; none where there is one to order.

    Raises:
        DriftError: the reranker failed.
    """
    chunks: Sequence[Chunk] = [candidate.chunk for candidate in found]
    if len(chunks) > MOST_TEXTS:
        chunks = fuse(found, MOST_TEXTS)
    if len(chunks) <= 1:
        return {}

    told = await reranker.rerank(question, [_text(chunk) for chunk in chunks], deadline)
    return dict(zip((chunk.id for chunk in chunks), told.scores, strict=True))


def _text(chunk: Chunk) -> str:
    """Return a chunk below the name and the heading that say what it is about."""
    told = "\n".join(filter(None, (chunk.document_name, chunk.heading, chunk.text)))
    # Our own chunks fit, and 500 tokens are one document to Cohere; those of others may be pages.
    return cut(told, 2000)

"""A retriever for LlamaIndex: a project's passages as nodes with scores (an extra)."""

from __future__ import annotations

from collections.abc import Iterable

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from drift.contracts.evidence import PassageOut
from drift.integrations import passages


class DriftRetriever(BaseRetriever):
    """Finds the passages of a project that are nearest to a question, best first.

    It works in this process, by the settings of the service in the environment. A node's metadata
    say where it stands, its score how near it is, 0 to 1. Errors are DriftErrors.
    """

    def __init__(self, project: str, top_k: int = 5) -> None:
        """Remember what to ask; nothing is opened."""
        super().__init__()
        self._project, self._top_k = project, top_k

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(await passages.find(self._project, query_bundle.query_str, self._top_k))

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(passages.find_now(self._project, query_bundle.query_str, self._top_k))


def _nodes(found: Iterable[PassageOut]) -> list[NodeWithScore]:
    return [
        NodeWithScore(
            node=TextNode(
                id_=one.chunk_id, text=one.text, metadata=one.model_dump(exclude={"text", "score"})
            ),
            score=one.score,
        )
        for one in found
    ]

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
    say where it stands, its score how near it is, 0 to 1. `filter`, as a request has it, says which
    documents may be used. Errors are DriftErrors.
    """

    def __init__(
        self,
        project: str,
        top_k: int = 5,
        filter: passages.AnyFilter = None,  # noqa: A002 - as everywhere
    ) -> None:
        """Remember what to ask; nothing is opened."""
        super().__init__()
        self._project, self._top_k, self._filter = project, top_k, filter

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        question = query_bundle.query_str
        found = await passages.find(self._project, question, self._top_k, only=self._filter)
        return _nodes(found)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        question = query_bundle.query_str
        return _nodes(passages.find_now(self._project, question, self._top_k, self._filter))


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

"""A retriever for LangChain: a project's passages as documents (an extra)."""

from __future__ import annotations

from collections.abc import Iterable

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from drift.contracts.evidence import PassageOut
from drift.contracts.filter import Filter
from drift.contracts.request import ProjectId, TopK
from drift.integrations import passages


class DriftRetriever(BaseRetriever):
    """Finds the passages of `project` that are nearest to a question, best first.

    It works in this process, by the settings of the service in the environment. A document's
    metadata say where it stands and how near it is: `score`, 0 to 1. `filter`, as a request has it,
    says which documents may be used. Errors are DriftErrors.
    """

    project: ProjectId
    top_k: TopK = 5
    filter: Filter | None = None

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain's own
    ) -> list[Document]:
        return _documents(await passages.find(self.project, query, self.top_k, only=self.filter))

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain's own
    ) -> list[Document]:
        return _documents(passages.find_now(self.project, query, self.top_k, self.filter))


def _documents(found: Iterable[PassageOut]) -> list[Document]:
    return [
        Document(id=one.chunk_id, page_content=one.text, metadata=one.model_dump(exclude={"text"}))
        for one in found
    ]

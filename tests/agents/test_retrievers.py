"""The retrievers for LangChain and LlamaIndex, in their own packages, over a real project."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda

from drift.core.errors import NotConfiguredError
from drift.integrations import passages
from drift.integrations.langchain import DriftRetriever as LangChainRetriever
from tests.function.corpus import PROJECT, QUESTION


async def test_langchain_gets_documents_that_say_where_they_stand(
    environment: pytest.MonkeyPatch, corpus: Any
) -> None:
    del environment, corpus
    retriever = LangChainRetriever(project=PROJECT, top_k=3)
    chain = retriever | RunnableLambda(lambda found: [one.metadata["label"] for one in found])
    found = await retriever.ainvoke(QUESTION)
    assert [one.metadata["label"] for one in found] == await chain.ainvoke(QUESTION)
    assert len(found) == 3
    best = found[0]
    assert best.id == best.metadata["chunk_id"]
    assert "North Quay" in best.page_content
    assert 0 < best.metadata["score"] <= 1
    assert best.metadata["via"]
    assert best.metadata["document_name"]
    with pytest.raises(LookupError, match="await"):
        retriever.invoke(QUESTION)
    now = await asyncio.to_thread(retriever.invoke, QUESTION)
    assert [one.id for one in now] == [one.id for one in found]
    document = best.metadata["document_id"]
    other = {"type": "ne", "key": "document_id", "value": document}
    filtered = await LangChainRetriever(project=PROJECT, filter=other).ainvoke(QUESTION)
    assert document not in {one.metadata["document_id"] for one in filtered}
    assert filtered
    await passages.close()


@pytest.mark.deep
@pytest.mark.timeout(300)  # the servers and the package load with it
async def test_llama_index_gets_nodes_with_scores(
    environment: pytest.MonkeyPatch, corpus: Any
) -> None:
    # it takes seconds to load
    from llama_index.core.schema import QueryBundle  # noqa: PLC0415

    from drift.integrations.llama_index import DriftRetriever  # noqa: PLC0415

    del environment, corpus
    everything = {"type": "ne", "key": "tag", "value": "absent"}
    retriever = DriftRetriever(PROJECT, top_k=2, filter=everything)
    found = await retriever.aretrieve(QueryBundle(QUESTION))
    assert len(found) == 2
    assert "North Quay" in found[0].text
    assert 0 < found[0].score <= 1
    assert found[0].node.metadata["label"]
    assert [one.node_id for one in await asyncio.to_thread(retriever.retrieve, QUESTION)] == [
        one.node_id for one in found
    ]
    await passages.close()


def test_settings_that_are_missing_are_named(no_settings: None) -> None:
    del no_settings
    with pytest.raises(NotConfiguredError, match="NEO4J_URI is not set"):
        LangChainRetriever(project=PROJECT).invoke(QUESTION)

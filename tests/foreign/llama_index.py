"""LlamaIndex: a `PropertyGraphIndex` in its store for Neo4j."""

from __future__ import annotations

from typing import Any

from llama_index.core import Document, PropertyGraphIndex
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.graph_stores.types import (
    KG_NODES_KEY,
    KG_RELATIONS_KEY,
    EntityNode,
    Relation,
)
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import BaseNode, TransformComponent
from llama_index.graph_stores.neo4j import Neo4jPropertyGraphStore

from tests.foreign.given import ENTITIES, TITLE, Given


class Known(MockEmbedding):
    """Knows the vectors of what is written."""

    given: Any

    def _get_text_embedding(self, text: str) -> list[float]:
        return self.given.embed(text)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return self.given.embed(text)


class Extractor(TransformComponent):
    """Finds in each text the one thing that it is about."""

    texts: list[str]

    def __call__(self, nodes: list[BaseNode], **_: Any) -> list[BaseNode]:
        """Give the nodes what they mention."""
        things = [EntityNode(name=name, label=label) for name, label in ENTITIES.items()]
        place = EntityNode(name="Nessel", label="Place")
        for node in nodes:
            thing = things[self.texts.index(node.get_content())]
            edge = Relation(label="STANDS_IN", source_id=thing.id, target_id=place.id)
            node.metadata[KG_NODES_KEY] = [thing, place]
            node.metadata[KG_RELATIONS_KEY] = [edge]
        return nodes


def main(given: Given) -> None:
    """Write each text as a document of one chunk."""
    store = Neo4jPropertyGraphStore(url=given.uri, **given.login)
    PropertyGraphIndex.from_documents(
        [Document(text=text, metadata={"file_name": TITLE}) for text in given.texts],
        property_graph_store=store,
        llm=MockLLM(),
        embed_model=Known(embed_dim=len(given.vectors[0]), given=given),
        kg_extractors=[Extractor(texts=given.texts)],
        transformations=[SentenceSplitter()],
        use_async=False,
    )


if __name__ == "__main__":
    main(Given.read())

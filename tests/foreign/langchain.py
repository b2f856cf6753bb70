"""LangChain: `add_graph_documents` with the documents themselves, embedded by `Neo4jVector`."""

from __future__ import annotations

from langchain_core.documents import Document
from langchain_neo4j import Neo4jGraph, Neo4jVector
from langchain_neo4j.graphs.graph_document import GraphDocument, Node, Relationship

from tests.foreign.given import ENTITIES, TITLE, Given
from tests.foreign.langchain_vector import Known


def main(given: Given) -> None:
    """Write each text as a document that mentions one thing, and join the things."""
    things = [Node(id=name, type=label) for name, label in ENTITIES.items()]
    place = Node(id="Nessel", type="Place")
    graph = Neo4jGraph(given.uri, **given.login)
    graph.add_graph_documents(
        [
            GraphDocument(
                nodes=[thing, place],
                relationships=[Relationship(source=thing, target=place, type="STANDS_IN")],
                source=Document(page_content=text, metadata={"source": TITLE}),
            )
            for text, thing in zip(given.texts, things, strict=True)
        ],
        include_source=True,
        baseEntityLabel=True,
    )
    Neo4jVector.from_existing_graph(
        Known(given),
        node_label="Document",
        text_node_properties=["text"],
        embedding_node_property="embedding",
        search_type="hybrid",
        url=given.uri,
        **given.login,
    )


if __name__ == "__main__":
    main(Given.read())

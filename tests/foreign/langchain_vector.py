"""LangChain: `Neo4jVector.from_texts` alone."""

from __future__ import annotations

from langchain_core.embeddings import Embeddings
from langchain_neo4j import Neo4jVector

from tests.foreign.given import TITLE, Given


class Known(Embeddings):
    """Knows the vectors of what is written."""

    def __init__(self, given: Given) -> None:
        """Take them."""
        self._given = given

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one for each text."""
        return [self._given.embed(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Return one."""
        return self._given.embed(text)


def main(given: Given) -> None:
    """Write each text as a chunk."""
    told = [{"source": TITLE, "page": page} for page, _ in enumerate(given.texts)]
    Neo4jVector.from_texts(
        given.texts,
        Known(given),
        told,
        search_type="hybrid",
        url=given.uri,
        **given.login,
    )


if __name__ == "__main__":
    main(Given.read())

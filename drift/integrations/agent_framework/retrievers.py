"""The retriever of an index type: the table of the specification, as code."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from neo4j import Driver, Record
from neo4j_graphrag.retrievers import (
    HybridCypherRetriever,
    HybridRetriever,
    Text2CypherRetriever,
    VectorCypherRetriever,
    VectorRetriever,
)
from neo4j_graphrag.retrievers.base import Retriever
from neo4j_graphrag.types import RawSearchResult, RetrieverResult, RetrieverResultItem

from drift.core.errors import GraphMisconfiguredError
from drift.graph.text_query import words_of_any_field
from drift.integrations.agent_framework.config import ProviderConfig
from drift.integrations.agent_framework.retrieval_query import require_reading

Search = Callable[[str], RetrieverResult]
"""Finds what is near to a text; it blocks."""

TEXTS = ("text", "content", "description", "summary", "name", "title")
"""Properties in which a node says what it is about, the first that is there."""
INDEXES = "SHOW INDEXES YIELD name, type WHERE name IN $names RETURN name, type"

SEARCH = "CALL db.index.fulltext.queryNodes($index, $terms, {limit: $top_k}) YIELD node, score"
RETURN = "RETURN node, score ORDER BY score DESC"


class FulltextRetriever(Retriever):
    """Nodes by the words of a text, without stop words, best first (BM25).

    `retrieval_query` follows the search, with `node` and `score`.
    """

    def __init__(
        self,
        driver: Driver,
        index_name: str,
        retrieval_query: str | None = None,
        result_formatter: Callable[[Record], RetrieverResultItem] | None = None,
        neo4j_database: str | None = None,
    ) -> None:
        """Look at the version of the server, as neo4j-graphrag's own retrievers do."""
        super().__init__(driver, neo4j_database)
        self.index_name = index_name
        self.result_formatter = result_formatter
        self._statement = f"{SEARCH} WITH node, score {retrieval_query or RETURN}"

    def get_search_results(self, query_text: str, top_k: int = 5) -> RawSearchResult:
        """Return the records of the best nodes; none for a text without words to search for."""
        terms = words_of_any_field(query_text)
        if not terms:
            return RawSearchResult(records=[])
        parameters = {"index": self.index_name, "terms": terms, "top_k": top_k}
        found = self.driver.execute_query(
            self._statement, parameters, database_=self.neo4j_database
        )
        return RawSearchResult(records=found.records)


def build_search(driver: Driver, config: ProviderConfig, database: str | None) -> Search:
    """Return the search of an index type, after the database has seen all that it needs.

    Raises:
        GraphMisconfiguredError: an index is not there, or the retrieval query is refused.
    """
    kind, query = config.index_type, config.retrieval_query
    _require_indexes(driver, config, database)
    if query:
        require_reading(driver, database, query)

    index = cast("str", config.index_name)
    own: dict[str, Any] = {"result_formatter": item_of, "neo4j_database": database}
    if kind == "text2cypher":
        writing = Text2CypherRetriever(driver, cast("Any", config.llm), config.neo4j_schema, **own)
        return lambda text: writing.search(query_text=text)

    if kind == "fulltext":
        worded = FulltextRetriever(driver, index, query, **own)
        return lambda text: worded.search(query_text=text, top_k=config.top_k)

    own["embedder"] = config.embedder
    if query:
        own["retrieval_query"] = query
    if kind == "vector":
        near = (VectorCypherRetriever if query else VectorRetriever)(driver, index, **own)
        return lambda text: near.search(query_text=text, top_k=config.top_k)

    words = cast("str", config.fulltext_index_name)
    both = (HybridCypherRetriever if query else HybridRetriever)(driver, index, words, **own)

    def search(text: str) -> RetrieverResult:
        # The text is embedded as it stands; to the full-text index its signs would be syntax.
        vector = cast("Any", config.embedder).embed_query(text)
        terms = words_of_any_field(text) or '""'
        return both.search(query_text=terms, query_vector=vector, top_k=config.top_k)

    return search


def item_of(record: Record) -> RetrieverResultItem:
    """Return a record's text, and what else it says as metadata; vectors are left out."""
    values = dict(record)
    node = values.pop("node", None)
    if node is not None and "text" not in values:
        values = {"text": _text_of(dict(node)), "score": values.get("score")}
    text = values.pop("text", None)
    if text is None:
        text, values = json.dumps(values, default=str, ensure_ascii=False), {}
    return RetrieverResultItem(content=str(text), metadata=values)


def _text_of(node: Mapping[str, Any]) -> str:
    found = (node[name] for name in TEXTS if isinstance(node.get(name), str))
    said = {name: value for name, value in node.items() if not isinstance(value, list)}
    return next(found, "") or json.dumps(said, default=str, ensure_ascii=False)


def _require_indexes(driver: Driver, config: ProviderConfig, database: str | None) -> None:
    """Check that the indexes are there and of their kind."""
    first = "FULLTEXT" if config.index_type == "fulltext" else "VECTOR"
    wanted = {config.index_name: first, config.fulltext_index_name: "FULLTEXT"}
    wanted.pop(None, None)
    if config.index_type == "text2cypher" or not wanted:
        return

    rows = driver.execute_query(INDEXES, {"names": list(wanted)}, database_=database).records
    there = {row["name"]: row["type"] for row in rows}
    for name, kind in wanted.items():
        if there.get(name) != kind:
            told = f"is of type {there[name]}" if name in there else "is not there"
            raise GraphMisconfiguredError(
                f"The {kind.lower()} index {name!r} {told}: create it, or name another."
            )

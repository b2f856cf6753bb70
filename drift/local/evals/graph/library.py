"""neo4j-graphrag's VectorCypherRetriever, measured through its own library."""

from __future__ import annotations

import importlib.util
import logging
import warnings
from typing import Any

from drift.core.errors import GraphMisconfiguredError
from drift.local.evals.graph.rivals import TOP_CHUNKS, RivalQuestion, statement

LIBRARY = "neo4j_graphrag"


class Library:
    """The retriever over a driver of its own, with a filter on the project.

    It blocks, so it is called in a thread. In 1.22 a filter makes it fail: it looks for the
    embedding's property under a name that is never set. `repaired` sets it.
    """

    name = "graphrag_vector_cypher"
    profiling = False
    last: Any = None

    def __init__(self, uri: str, login: tuple[str, str], database: str, index: str) -> None:
        """Connect; the library must be installed, see `is_installed`."""
        import neo4j  # noqa: PLC0415 - only where it is measured
        from neo4j_graphrag.retrievers import VectorCypherRetriever  # noqa: PLC0415 - an extra

        logging.getLogger(LIBRARY).setLevel(logging.ERROR)
        self._driver = neo4j.GraphDatabase.driver(uri, auth=login, notifications_min_severity="OFF")
        self._run = self._driver.execute_query
        # the library itself shows no plan
        setattr(self._driver, "execute_query", self._watched)  # noqa: B010 - mypy forbids the plain way

        text = statement("graphrag_retrieval")
        self._retrievers = {
            repaired: VectorCypherRetriever(self._driver, index, text, neo4j_database=database)
            for repaired in (False, True)
        }
        setattr(self._retrievers[True], "_node_embedding_property", "embedding")  # noqa: B010 - see above

    @staticmethod
    def is_installed() -> bool:
        """Tell whether the library is there."""
        return importlib.util.find_spec(LIBRARY) is not None

    def search(self, question: RivalQuestion, *, repaired: bool, profiled: bool) -> list[str]:
        """Return the ids of the chunks it finds, best first.

        Raises:
            GraphMisconfiguredError: in the library's own words.
        """
        self.profiling = profiled
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = self._retrievers[repaired].get_search_results(
                    query_vector=list(question.query.vector),
                    top_k=TOP_CHUNKS,
                    filters={"project_id": question.project.project_id},
                )
            except Exception as error:
                raise GraphMisconfiguredError(str(error)) from error
        return [str(record["chunk_id"]) for record in result.records]

    def close(self) -> None:
        """Close the driver."""
        self._driver.close()

    def _watched(self, text: Any, parameters: Any = None, **options: Any) -> Any:  # noqa: ANN401 - as the driver's
        searches = self.profiling and "query_vector" in (parameters or {})
        self.last = self._run(f"PROFILE {text}" if searches else text, parameters, **options)
        return self.last

"""Statements that others use for the same steps, word for word, to be measured beside ours on the same graph.

Two are published as fragments: `provider_retrieval` got its index call, `ranking_by_function` its
MATCH and its second key.

`documented` are the statements of published designs for DRIFT on Neo4j; some do not compile or name
an index that is not there, and then the server's own words are the result. Where only the name of
the index is wrong, the same text with the right name follows. neo4j-graphrag's
VectorCypherRetriever runs through its own library, with a filter on the project.
"""

from __future__ import annotations

import importlib.util
import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drift.errors import GraphMisconfiguredError
from drift.offline.evals.synthetic_graph import (
    LEVELS,
    Query,
    SyntheticProject,
    nearest_chunks,
    nearest_communities,
)

TOP_CHUNKS = 30
TOP_COMMUNITIES = 5
SCOPE_LEAVES = 5
"""Leaf communities that a scoped statement is given: these designs look for chunks at the leaves
only."""

LIBRARY = "neo4j_graphrag"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a statement is asked: a question of a project.

    `community_index` is the name of the index over communities.
    """

    project: SyntheticProject
    query: Query
    community_index: str

    @property
    def leaves(self) -> list[int]:
        """The leaf communities nearest to the question, by number."""
        return list(nearest_communities(self.project, self.query.vector, 0)[:SCOPE_LEAVES])

    @property
    def parameters(self) -> dict[str, Any]:
        """The values under all the names that the statements use."""
        project = self.project
        leaves = [project.community_id(0, leaf) for leaf in self.leaves]
        vector = list(self.query.vector)
        return {
            "projectId": project.project_id,
            "name": self.community_index,
            "k": TOP_COMMUNITIES,
            "level": LEVELS - 1,
            "qvec": vector,
            "queryEmb": vector,
            "cids": leaves,
            "communityIds": leaves,
            "chunkIds": self.exact_chunks(),
        }

    def exact_chunks(self) -> list[str]:
        """Return the chunks of the project nearest to the question."""
        return list(nearest_chunks(self.project, self.query.vector, TOP_CHUNKS))

    def exact_scope(self) -> list[str]:
        """Return the nearest chunks below the leaves of the scope."""
        return list(
            nearest_chunks(self.project, self.query.vector, TOP_CHUNKS, 0, frozenset(self.leaves))
        )

    def exact_communities(self) -> list[str]:
        """Return the communities of the highest level nearest to the question, by id."""
        level = LEVELS - 1
        nearest = nearest_communities(self.project, self.query.vector, level)[:TOP_COMMUNITIES]
        return [str(self.project.community_id(level, number)) for number in nearest]


Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Rival:
    """One statement of others: what it says, what it finds, and what it should have found (None.

    It ranks nothing).
    """

    name: str
    text: str
    found: Callable[[Rows, Asked], list[str]] | None = None
    exact: Callable[[Asked], list[str]] | None = None


def documented(chunk_index: str) -> list[Rival]:
    """Return the statements of published designs.

    `chunk_index` takes the place of the name that does not exist.
    """
    literal = [
        Rival("design_max_level", _MAX_LEVEL),
        Rival("design_level_query", _LEVEL_QUERY, _communities, Asked.exact_communities),
        Rival("design_samples", _SAMPLES),
        Rival("design_scoped", _SCOPED, _chunk_ids, Asked.exact_scope),
        Rival("design_neighbourhood", _NEIGHBOURHOOD),
        Rival("flat_communities", _FLAT_COMMUNITIES, _communities, Asked.exact_communities),
        Rival("flat_samples", _FLAT_SAMPLES),
        Rival("provider_retrieval", _PROVIDER_RETRIEVAL),
        Rival("ranking_by_function", _BY_FUNCTION),
    ]
    scoped = next(rival for rival in literal if rival.name == "design_scoped")
    named = Rival(
        "design_scoped_index_named",
        scoped.text.replace("chunk_idx", chunk_index),
        scoped.found,
        scoped.exact,
    )
    return [*literal, named]


def _chunk_ids(rows: Rows, _: Asked) -> list[str]:
    return [str(row["chunk_id"]) for row in rows]


def _communities(rows: Rows, asked: Asked) -> list[str]:
    nodes = (row["node"] for row in rows)
    return [
        str(node["community"]) for node in nodes if node["project_id"] == asked.project.project_id
    ]


_MAX_LEVEL = "MATCH (c:__Community__)-[:IN_PROJECT]->(:__Project__) RETURN max(c.level)"

_LEVEL_QUERY = """
MATCH (p:__Project__ {id: $projectId})
MATCH (c:__Community__)-[:IN_PROJECT]->(p)
WHERE c.level = $level  // Filter by hierarchy level
WITH collect(c) AS candidates, p
CALL db.index.vector.queryNodes($name, $k * 2, $qvec)
YIELD node AS n, score
WHERE n IN candidates
RETURN n AS node, score
ORDER BY score DESC LIMIT $k
"""

_SAMPLES = """
MATCH (c:__Community__)-[:IN_PROJECT]->(p:__Project__ {id: $projectId})
WHERE c.community IN $communityIds
CALL {
  WITH c, $qvec AS qvec, p
  // Get chunks that belong to this community
  MATCH (c)<-[:IN_COMMUNITY]-(ch:__Chunk__)-[:IN_PROJECT]->(p)
  WITH ch, qvec
  // Vector search within community's chunks
  CALL db.index.vector.queryNodes('chunk_idx', 50, qvec)
  YIELD node AS cand, score
  WHERE cand = ch
  RETURN cand AS chunk, score
  ORDER BY score DESC LIMIT 3
}
RETURN c, collect({chunk: chunk, score: score}) AS top_chunks;
"""

_SCOPED = """
MATCH (p:__Project__ {id: $projectId})
MATCH (c:__Community__)-[:IN_PROJECT]->(p)
WHERE c.community IN $cids AND c.project_id = $projectId
MATCH (c)<-[:IN_COMMUNITY]-(ch:__Chunk__)-[:IN_PROJECT]->(p)
WITH DISTINCT ch.id AS chunk_id, p
CALL db.index.vector.queryNodes('chunk_idx', 200, $qvec)
YIELD node AS cand, score
WHERE cand.id = chunk_id
RETURN chunk_id, score
ORDER BY score DESC LIMIT 30;
"""

_NEIGHBOURHOOD = """
UNWIND $chunkIds AS cid
MATCH (p:__Project__ {id: $projectId})
MATCH (ch:__Chunk__)-[:IN_PROJECT]->(p) WHERE ch.id = cid
// Get entities in this chunk
OPTIONAL MATCH (ch)-[:HAS_ENTITY]->(e:__Entity__)-[:IN_PROJECT]->(p)
// Get related entities and their relationships
OPTIONAL MATCH (e)-[r:RELATED]->(e2:__Entity__)-[:IN_PROJECT]->(p)
// Get neighboring chunks that contain related entities
OPTIONAL MATCH (ch2:__Chunk__)-[:HAS_ENTITY]->(e2)-[:IN_PROJECT]->(p)
WHERE ch2 <> ch
RETURN cid,
       ch.text AS chunk_text,
       collect(DISTINCT {id: e.id, title: e.title, description: e.description}) AS entities,
       collect(DISTINCT {id: e2.id, title: e2.title}) AS related_entities,
       collect(DISTINCT {type: type(r), description: r.description}) AS relationships,
       collect(DISTINCT ch2.id) AS neighbor_chunk_ids;
"""

_FLAT_COMMUNITIES = """
CALL db.index.vector.queryNodes('graphrag_comm_index', $k, $qvec) YIELD node, score RETURN node, score ORDER BY score DESC;
"""

_FLAT_SAMPLES = """
MATCH (c:__Community__) WHERE id(c) IN $communityIds
CALL { WITH c, $qvec AS qvec MATCH (c)<-[:IN_COMMUNITY]-(:Node)-[:FROM_CHUNK]->(ch:__Chunk__) WITH ch, qvec
CALL db.index.vector.queryNodes('chunk_idx', 50, qvec) YIELD node AS cand, score WHERE cand = ch
RETURN cand AS chunk, score ORDER BY score DESC LIMIT 3 } RETURN c, collect({chunk: chunk, score: score}) AS top_chunks;
"""

_PROVIDER_RETRIEVAL = """
CALL db.index.vector.queryNodes('chunkEmbeddings', 30, $qvec) YIELD node, score
MATCH (node)-[:FROM_DOCUMENT]-(doc:Document)
MATCH (doc)<-[:FILED]-(company:Company)
OPTIONAL MATCH (company)-[:FACES_RISK]->(risk:RiskFactor)
RETURN
    node.text AS text,
    score,
    company.name AS company,
    collect(DISTINCT risk.name) AS risks
ORDER BY score DESC
"""

_BY_FUNCTION = """
MATCH (d:__Chunk__) WITH d, 0.0 AS tfidfScore RETURN d
ORDER BY cosineSimilarity(d.embedding, $queryEmb) DESC, tfidfScore DESC
"""

# What a follow-up needs of a chunk: its text, its document, what it mentions and how that is
# related.
_RETRIEVAL = """
RETURN node.id AS chunk_id, node.text AS text, score,
  COLLECT { MATCH (d:__Document__)-[:HAS_CHUNK]->(node) RETURN d.title LIMIT 1 } AS documents,
  COLLECT { MATCH (node)-[:HAS_ENTITY]->(e:__Entity__) RETURN e {.title, .description} LIMIT 20 } AS entities,
  COLLECT { MATCH (node)-[:HAS_ENTITY]->(:__Entity__)-[r:RELATED]-(o:__Entity__) RETURN [o.title, r.description] LIMIT 20 } AS relations
"""


class Library:
    """neo4j-graphrag's VectorCypherRetriever over a driver of its own.

    It blocks, so it is called in a thread.

    In 1.22 a filter makes it fail: it looks for the embedding's property under a name that is never
    set. `repaired` sets it.
    """

    name = "graphrag_vector_cypher"
    profiling = False
    last: Any = None

    def __init__(self, uri: str, login: tuple[str, str], database: str, index: str) -> None:
        """Connect; the library must be installed, see `is_installed`."""
        import neo4j  # noqa: PLC0415 - only where it is measured
        from neo4j_graphrag.retrievers import VectorCypherRetriever  # noqa: PLC0415 - an optional library

        logging.getLogger(LIBRARY).setLevel(logging.ERROR)
        self._driver = neo4j.GraphDatabase.driver(uri, auth=login, notifications_min_severity="OFF")
        self._run = self._driver.execute_query
        setattr(self._driver, "execute_query", self._watched)  # noqa: B010 - the library itself shows no plan
        self._retrievers = {
            repaired: VectorCypherRetriever(
                self._driver, index, _RETRIEVAL, neo4j_database=database
            )
            for repaired in (False, True)
        }
        setattr(self._retrievers[True], "_node_embedding_property", "embedding")  # noqa: B010 - see above

    @staticmethod
    def is_installed() -> bool:
        """Tell whether the library is there."""
        return importlib.util.find_spec(LIBRARY) is not None

    def search(self, asked: Asked, *, repaired: bool, profiled: bool) -> list[str]:
        """Return the ids of the chunks it finds, best first.

        Raises:
            GraphMisconfiguredError: in the library's own words.
        """
        self.profiling = profiled
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = self._retrievers[repaired].get_search_results(
                    query_vector=list(asked.query.vector),
                    top_k=TOP_CHUNKS,
                    filters={"project_id": asked.project.project_id},
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

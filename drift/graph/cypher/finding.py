"""How the statements that read find one node by its id, and the rows of a list behind a position.

Where there are projects, every one of these is a seek in an index that begins with the project.
Where the database is the project, nodes are found by their label and id, and lists go through the
label; `prepare` makes the indexes on ids.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from drift.graph.cypher.clauses import IS_HELD
from drift.graph.cypher.expressions import of_project
from drift.graph.cypher.nearest import THRESHOLD
from drift.graph.cypher.schema import DEFAULT, Schema


def is_whole(d: str) -> str:
    """Return the condition that a document is there; one of several transactions comes at last."""
    return f"NOT ({d}.chunks IS NULL AND coalesce({d}.content_hash = '', false))"


@dataclass(frozen=True, slots=True)
class NodeSubqueries:
    """Bodies of subqueries, for one schema. Keys are typed: texts come first, numbers behind them.

    `chunk`, `document` and `entity` give the node of `$asked.ids`, at most one. `documents` and
    `communities` give the first `$limit` nodes behind `$asked.text` and `$asked.number`, with their
    `key`. `counts` gives `documents`, `chunks`, `entities` and `communities`,
    `history` gives the `models` that made vectors, and when the project was `written_at`.
    `version` gives one row at most, and none while somebody holds the project to write it.
    """

    chunk: str
    document: str
    entity: str
    documents: str
    communities: str
    counts: str
    history: str
    version: str


# ------------------------------------------------------------------------------- with projects
def _by_id(n: str, label: str, condition: str, asked: str = "$asked") -> str:
    # Ids of a graph may be numbers, which are asked for as text.
    return f"""UNWIND {asked}.ids AS key
  MATCH ({n}:{label}){DEFAULT.seek(n, label, "id")}
  WHERE {condition} AND {n}.id = key
  RETURN {n} LIMIT 1"""


def _behind(n: str, label: str, key: str, condition: str) -> str:
    """Return the seeks behind a text and a number; in the index's own order a page ends them."""
    parts = (
        f"""MATCH ({n}:{label}){DEFAULT.seek(n, label, key)}
  WHERE {n}.project_id = $asked.project_id AND {n}.{key} > $asked.{kind} AND {condition}
  RETURN {n}, {n}.{key} AS key ORDER BY {n}.project_id, {n}.{key} LIMIT $limit"""
        for kind in ("text", "number")
    )
    return "\nUNION ALL\n  ".join(parts)


def _is_called(s: Schema) -> str:
    """Return the condition that a document's name or id holds `$asked.words`, however written."""
    wanted = "CONTAINS toLower($asked.words)"
    named = (s.document_title("d"), f"toStringOrNull({s.document_id('d')})")
    return f"""($asked.words = '' OR {
        " OR ".join(f"toLower(coalesce({name}, '')) {wanted}" for name in named)
    })"""


_OF_LEVEL = "($asked.level IS NULL OR toIntegerOrNull(c.level) = $asked.level)"


def _counted(n: str, label: str, name: str, known: str, settled: str) -> str:
    """Return the count of what has generations; of a single one it mostly reads the index alone."""
    nodes = f"MATCH ({n}:{label}){DEFAULT.seek(n, label)}"
    return f"""CALL (generation, building) {{
  UNWIND CASE WHEN building THEN [1] ELSE [] END AS several
  {nodes}
  WHERE {known}
  RETURN count({n}) AS {name}_built
}}
CALL (generation, building) {{
  UNWIND CASE WHEN building THEN [] ELSE [1] END AS one
  {nodes}
  WHERE {settled}
  RETURN count({n}) AS {name}_settled
}}"""


@cache
def _with_projects(s: Schema) -> NodeSubqueries:
    document, entity, community = (
        s.project_document("d"),
        s.project_entity("e"),
        s.project_community("c"),
    )
    entities = entity if s.is_filtered else of_project("e")
    communities = community if s.is_filtered else of_project("c")
    # When a project was written tells of what a filter hides.
    written_at = "null" if s.is_filtered else "toString(datetime({epochMillis: p.written_at}))"
    return NodeSubqueries(
        chunk=_by_id("ch", "__Chunk__", s.project_chunk("ch")),
        document=_by_id("d", "__Document__", f"{document} AND {is_whole('d')}"),
        entity=_by_id("e", "__Entity__", entity),
        documents=_behind(
            "d", "__Document__", "id", f"{document} AND {is_whole('d')} AND {_is_called(s)}"
        ),
        communities=_behind("c", "__Community__", "community", f"{community} AND {_OF_LEVEL}"),
        counts=f"""MATCH (d:__Document__){s.seek("d", "__Document__")}
    WHERE {document}
    RETURN count(d) AS documents
}}
CALL () {{
  MATCH (ch:__Chunk__){s.seek("ch", "__Chunk__")}
  WHERE {s.project_chunk("ch") if s.is_filtered else of_project("ch")}
  RETURN count(ch) AS chunks
}}
{_counted("e", "__Entity__", "entities", entity, entities)}
{_counted("c", "__Community__", "communities", community, communities)}
CALL (entities_built, entities_settled, communities_built, communities_settled) {{
  RETURN entities_built + entities_settled AS entities,
    communities_built + communities_settled AS communities""",
        history=f"""OPTIONAL MATCH (p:__Project__ {{id: $asked.project_id}})
  RETURN p.embedding_models AS models,
    CASE WHEN p.written_at IS :: INTEGER NOT NULL THEN {written_at} END AS written_at""",
        version=f"""MATCH (p:__Project__ {{id: $asked.project_id}})
  WHERE NOT {IS_HELD}
    AND p.written_at IS :: INTEGER NOT NULL
  RETURN coalesce(p.generation, 0) AS generation, p.written_at AS written_at,
    [{", ".join(f"p.{name}" for name in THRESHOLD)}] AS threshold""",
    )


# ---------------------------------------------------------------------------- without projects
def one_by_id(s: Schema, n: str, label: str, asked: str = "$asked") -> str:
    """Return the node that has one of the ids, or the place in the store; none where two do."""
    condition = (s.project_chunk if label == "__Chunk__" else s.project_entity)(n)
    if s.has_projects:
        return _by_id(n, label, condition, asked)

    id_, key = f"{asked}.id", s.node_id(n)
    by_place = f"""MATCH ({n})
  WHERE elementId({n}) = {id_} AND {key} = {id_} AND {n}:{s.label(label)} AND {condition}
  RETURN {n}"""
    if not s.id:
        return by_place
    imported = "" if asked.startswith("$") else f"WITH {asked}\n  "
    return f"""UNWIND {asked}.ids AS key
  MATCH ({n}:{s.label(label)})
  WHERE {n}.{s.id} = key AND {condition}
  WITH collect({n})[0..2] AS found WHERE size(found) = 1
  RETURN found[0] AS {n}
UNION
  {imported}{by_place}"""


@cache
def _without_projects(s: Schema) -> NodeSubqueries:
    documents = f"""MATCH (ch:{s.chunk})
  {s.document}
  WITH DISTINCT d"""
    return NodeSubqueries(
        chunk=one_by_id(s, "ch", "__Chunk__"),
        document=f"""{documents}
  WHERE {s.document_id("d")} = $asked.id
  RETURN d LIMIT 1""",
        entity=one_by_id(s, "e", "__Entity__"),
        documents=f"""{documents}
  WITH d, {s.document_id("d")} AS key
  WHERE key > $asked.text AND {_is_called(s)}
  RETURN d, key ORDER BY key LIMIT $limit""",
        communities=f"""MATCH (c:{s.community})
  WHERE {_OF_LEVEL}
  WITH c, {s.community_id("c")} AS key
  WHERE CASE WHEN key IS :: STRING NOT NULL THEN key > $asked.text ELSE key > $asked.number END
  RETURN c, key ORDER BY key LIMIT $limit""",
        # The server keeps the counts of labels.
        counts=f"""{documents}
  RETURN count(d) AS documents
}}
CALL () {{
  MATCH (ch:{s.chunk}) RETURN count(ch) AS chunks
}}
CALL () {{
  MATCH (e:{s.entity}) RETURN count(e) AS entities
}}
CALL () {{
  MATCH (c:{s.community}) RETURN count(c) AS communities""",
        history="RETURN null AS models, null AS written_at",
        version="UNWIND [] AS nothing RETURN nothing AS version",
    )


def finding(s: Schema) -> NodeSubqueries:
    """Return how a schema's nodes are found."""
    return _with_projects(s) if s.has_projects else _without_projects(s)

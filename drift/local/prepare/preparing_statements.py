"""Statements that look at a graph from elsewhere, and that give its nodes what searches need.

What writes commits in batches by itself (CALL ... IN TRANSACTIONS), touches only what is not yet as
it should be, and can be repeated after a break at any point. Every statement about nodes begins
with a source that binds them as `n`.
"""

from __future__ import annotations

from collections.abc import Sequence

from drift.graph.cypher.schema import FIRST_VECTOR, Schema
from drift.graph.mapping import quoted
from drift.local.prepare.findings import LEFT_OUT as _LEFT_OUT
from drift.local.prepare.kinds import sources

BATCH = 2000
_BATCHES = f"IN TRANSACTIONS OF {BATCH} ROWS"

# A node of two projects shows two of them. DISTINCT is safe here: it stands behind an expansion,
# not behind a unique key.
_EDGES = """COLLECT {
    MATCH (n)-[:IN_PROJECT]->(p:__Project__)
    WHERE toStringOrNull(p.id) IS NOT NULL
    RETURN DISTINCT toString(p.id) AS project ORDER BY project LIMIT 2
  }"""

# What the node says itself, else what its one edge says.
_PROJECT = f"""
WITH n, {_EDGES} AS edges
WITH n, CASE size(edges) WHEN 1 THEN edges[0] END AS named
WITH n, coalesce(toStringOrNull(n.project_id), named) AS project"""

_STATE = f"""
WITH n, n.project_id AS stored, {_EDGES} AS edges
WITH n, stored, edges, CASE
    WHEN n.{_LEFT_OUT} IS NOT NULL THEN 'left out'
    WHEN size(edges) > 1 THEN 'several'
    WHEN stored IS NULL THEN CASE size(edges) WHEN 1 THEN 'edge' ELSE 'without' END
    WHEN NOT stored IS :: STRING THEN 'no text'
    WHEN size(edges) = 1 AND stored <> edges[0] THEN 'contradiction'
    ELSE 'settled'
  END AS state
"""


# ------------------------------------------------------------------------------------ what is there
PROJECTS = "MATCH (p:__Project__) RETURN count(p) AS nodes, count(toStringOrNull(p.id)) AS named"

MOST_PROJECT_CHARS = 1000
LONG_PROJECTS = f"""MATCH (p:__Project__)
WHERE CASE WHEN p.id IS :: STRING THEN size(p.id) > {MOST_PROJECT_CHARS} END
RETURN left(p.id, 40) AS beginning"""
"""Projects that no index can be sure to hold."""

LABELS = "CALL db.labels() YIELD label RETURN label ORDER BY label LIMIT 300"


def count_properties(source: str, properties: Sequence[str]) -> str:
    """Return the statement that counts the nodes, and how many have each of these properties."""
    counts = ["count(n) AS nodes", *(f"count(n.{name}) AS {name}" for name in properties)]
    return f"{source}\nRETURN {', '.join(counts)}"


def other_properties(source: str, absent: str) -> str:
    """Return the statement that lists the properties of nodes that lack one."""
    return f"""{source}
WITH n WHERE n.{absent} IS NULL
WITH n LIMIT 20
UNWIND keys(n) AS name
RETURN DISTINCT name ORDER BY name LIMIT 30"""


def count_states(label: str) -> str:
    """Return the statement that counts nodes by the state of their project."""
    return f"MATCH (n:{label}){_STATE}RETURN state, count(*) AS nodes"


def examples_of_state(label: str, key: str) -> str:
    """Return the statement that shows three nodes in `$state`, by their key and projects."""
    return f"""MATCH (n:{label}){_STATE}WITH n, stored, edges WHERE state = $state
LIMIT 3
RETURN {_named(key)} AS key, toStringOrNull(stored) AS stored, edges"""


def count_duplicates(label: str, key: str, *, has_project: bool = True) -> str:
    """Return the statement that counts keys that two nodes of one project have, and shows three."""
    project = _PROJECT if has_project else "\nWITH n, '' AS project"
    return f"""MATCH (n:{quoted(label)})
WHERE n.{key} IS NOT NULL{project}
WITH project, n.{key} AS key
WHERE project IS NOT NULL
WITH project, key, count(*) AS nodes
WHERE nodes > 1
WITH project, key, nodes ORDER BY nodes DESC, project, key
RETURN count(*) AS keys, sum(nodes) AS nodes,
  collect([coalesce(toStringOrNull(key), valueType(key)), project])[0..3] AS examples"""


# An array made by setNodeVectorProperty is no LIST<INTEGER | FLOAT> on 5.26, so its type's name is
# read. NaN is not below anything, and what no 32-bit float can hold is infinity to the server. A
# topic that says nothing has no vector, and is to have none.
_VECTOR_STATE = """
WITH n, CASE
    WHEN e IS NULL AND n:__Community__ AND coalesce(n.says = false, false) THEN 'usable'
    WHEN e IS NULL THEN 'missing'
    WHEN valueType(e) STARTS WITH 'VECTOR' THEN
      CASE WHEN valueType(e) CONTAINS '(' + $dimensions + ')' THEN 'usable'
        ELSE 'size ' + split(split(valueType(e), '(')[1], ')')[0] END
    WHEN NOT (valueType(e) STARTS WITH 'LIST<FLOAT' OR valueType(e) STARTS WITH 'LIST<INTEGER')
    THEN 'no numbers'
    WHEN size(e) <> $dimensions THEN 'size ' + size(e)
    WHEN any(x IN e WHERE NOT (-3.4e38 < x AND x < 3.4e38)) THEN 'not finite'
    WHEN all(x IN e WHERE -1.0e-30 <= x AND x <= 1.0e-30) THEN 'zero'
    ELSE 'usable'
  END AS state
"""


def count_vectors(source: str, vector: str = FIRST_VECTOR) -> str:
    """Return the statement that counts embeddings by whether they can be searched."""
    return f"""{source}\nWITH n, n.{vector} AS e{_VECTOR_STATE}RETURN state, count(*) AS nodes
ORDER BY nodes DESC, state"""


def examples_of_vectors(source: str, key: str, vector: str = FIRST_VECTOR) -> str:
    """Return the statement that shows three nodes whose embedding is in `$state`."""
    return f"""{source}\nWITH n, n.{vector} AS e{_VECTOR_STATE}WITH n WHERE state = $state
LIMIT 3
RETURN {_named(key)} AS key"""


def _named(key: str) -> str:
    return f"coalesce(toStringOrNull(n.{key}), elementId(n))"


def _is_wrong(name: str, *, is_key: bool) -> str:
    if name == "title":  # numbers and dates are titles too
        return f"n.{name} IS NOT NULL AND toStringOrNull(n.{name}) IS NULL"
    also = f" OR n.{name} IS :: INTEGER OR n.{name} IS :: FLOAT" if is_key else ""
    return f"NOT (n.{name} IS :: STRING{also})"


def count_wrong_types(source: str, texts: Sequence[str], key: str | None) -> str:
    """Return the statement that counts `texts` that are no text, and a `key` that can be none."""
    names = [*texts, *([key] if key else [])]
    counts = (
        f"count(CASE WHEN {_is_wrong(name, is_key=name == key)} THEN 1 END) AS {name}"
        for name in names
    )
    return f"{source}\nRETURN {', '.join(counts)}"


def examples_of_wrong_types(source: str, name: str, key: str) -> str:
    """Return the statement that shows three nodes whose property is of a wrong type, and which."""
    return f"""{source}
WITH n WHERE {_is_wrong(name, is_key=name == key)}
LIMIT 3
RETURN {_named(key)} AS key, replace(valueType(n.{name}), ' NOT NULL', '') AS type"""


# ------------------------------------------------------------------------------------ keys too long
_MAY_BE_LONG = "CASE WHEN {0} IS :: STRING THEN size({0}) > 1000 ELSE {0} IS :: LIST<ANY> END"


def long_keys(source: str, key: str) -> str:
    """Return the statement that yields nodes whose key or project may be too long for an index."""
    some = " OR ".join(_MAY_BE_LONG.format(name) for name in (f"n.{key}", "n.project_id"))
    return f"""{source}
WITH n WHERE {some} OR n.{_LEFT_OUT} IS NOT NULL
RETURN elementId(n) AS id, n.{key} AS key,
  coalesce(n.project_id, n.{_LEFT_OUT}, {_EDGES}[0], '') AS project,
  n.{_LEFT_OUT} IS NOT NULL AS is_out"""


LEAVE_OUT = f"""UNWIND $rows AS row
MATCH (n)
WHERE elementId(n) = row AND (n.project_id IS NOT NULL OR n.{_LEFT_OUT} IS NULL)
WITH n, {_EDGES} AS edges
WITH n, CASE size(edges) WHEN 1 THEN edges[0] ELSE '' END AS named
CALL (n, named) {{
  SET n.{_LEFT_OUT} = coalesce(n.project_id, n.{_LEFT_OUT}, named)
  REMOVE n.project_id
}} {_BATCHES}"""
"""Takes nodes out of every index over a project; `left_out_of` keeps what they said of it."""

COME_BACK = f"""UNWIND $rows AS row
MATCH (n)
WHERE elementId(n) = row
CALL (n) {{
  SET n.project_id = CASE n.{_LEFT_OUT} WHEN '' THEN n.project_id
    ELSE coalesce(n.project_id, n.{_LEFT_OUT}) END
  REMOVE n.{_LEFT_OUT}
}} {_BATCHES}"""


# --------------------------------------------------------------------------------------- project_id
def take_from_edge(label: str) -> str:
    """Return the statement that gives a node the project of its one IN_PROJECT edge."""
    return f"""MATCH (n:{label})
WHERE n.project_id IS NULL AND n.{_LEFT_OUT} IS NULL
WITH n, {_EDGES} AS projects
WHERE size(projects) = 1
CALL (n, projects) {{ SET n.project_id = projects[0] }} {_BATCHES}"""


DERIVATIONS = (
    ("__Chunk__", "(n)<-[:HAS_CHUNK]-(m:__Document__)"),
    ("__Document__", "(n)-[:HAS_CHUNK]->(m:__Chunk__)"),
    ("__Entity__", "(n)<-[:HAS_ENTITY]-(m:__Chunk__)"),
    ("__Community__", "(n)<-[:IN_COMMUNITY]-(m)"),
    ("__Chunk__", "(n)-[:HAS_ENTITY]->(m:__Entity__)"),
    ("__Entity__", "(n)-[:IN_COMMUNITY]->(m:__Community__)"),
    ("__Chunk__", "(n)-[:IN_COMMUNITY]->(m:__Community__)"),
    ("__Community__", "(n)-[:IN_COMMUNITY]->(m:__Community__)"),
)
"""Which neighbours tell the project of a node without an edge of its own, the surest first."""


def take_from_neighbours(label: str, pattern: str) -> str:
    """Return the statement that gives nodes without an edge the project of their neighbours.

    All neighbours along `pattern` must have the same. One whose project is not known yet, or never
    will be, and any neighbour of another project leave the node as it is.
    """
    return f"""MATCH (n:{label})
WHERE n.project_id IS NULL AND n.{_LEFT_OUT} IS NULL
  AND NOT EXISTS {{ (n)-[:IN_PROJECT]->(:__Project__) }}
WITH n, COLLECT {{ MATCH {pattern} RETURN DISTINCT m.project_id AS project LIMIT 2 }} AS projects
WHERE size(projects) = 1 AND projects[0] IS NOT NULL
  AND NOT EXISTS {{
    MATCH (n)-[:HAS_CHUNK|HAS_ENTITY|IN_COMMUNITY]-(other)
    WHERE other.project_id <> projects[0]
  }}
CALL (n, projects) {{ SET n.project_id = projects[0] }} {_BATCHES}"""


# ------------------------------------------------------------------------------- derived properties
def project_keys(label: str) -> str:
    """Return the statement that counts the nodes of each project by their full-text key."""
    return f"""MATCH (n:{label}){_PROJECT}
WHERE project IS NOT NULL AND (n.project_id IS NULL OR n.project_id IS :: STRING)
RETURN project, n.project_key AS key, count(*) AS nodes"""


def set_project_keys(label: str) -> str:
    """Return the statement that gives the nodes of some projects their full-text key."""
    return f"""UNWIND $rows AS row
MATCH (n:{label})
WHERE n.project_id = row.project_id AND (n.project_key IS NULL OR n.project_key <> row.project_key)
CALL (n, row) {{ SET n.project_key = row.project_key }} {_BATCHES}"""


def read_titles(s: Schema) -> str:
    """Return the statement that yields titled entities with the key by which they are found now."""
    title = "toStringOrNull(n.title)" if s.has_projects else s.title("n")
    return _titles(sources(s.mapping)["__Entity__"], title)


def read_document_titles(s: Schema) -> str:
    """Return the same of documents, where they have a label."""
    return _titles(f"MATCH (n:{quoted(s.titled_label)})", s.document_title("n"))


def _titles(nodes: str, title: str) -> str:
    return f"""{nodes}
WITH n, {title} AS title
WHERE title IS NOT NULL
RETURN elementId(n) AS id, title, n.title_key AS key"""


SET_TITLE_KEYS = """UNWIND $rows AS row
MATCH (n)
WHERE elementId(n) = row.id
SET n.title_key = row.title_key"""


# ------------------------------------------------------------------------------------------- labels
def _bare(s: Schema, label: str) -> str:
    has_text = f"n.{s.text} IS NOT NULL AND " if label == "__Chunk__" else ""
    return f"{sources(s.mapping)[label]}\nWHERE {has_text}NOT n:{label}"


def count_bare(s: Schema, label: str) -> str:
    """Return the statement that counts nodes that lack the label, and are known by their edges."""
    return f"{_bare(s, label)}\nRETURN count(n) AS number"


def add_label(s: Schema, label: str) -> str:
    """Return the statement that gives it to them."""
    return f"{_bare(s, label)}\nCALL (n) {{ SET n:{label} }} {_BATCHES}"

"""The statements of a store of vectors beside the graph: how far it follows, and what it holds.

A project says at its node with which write a store was in step (`vectors_at`): the store, the
generation and the time of the write. Every write of a project changes that time, so a store is in
step only while the two are the same, whoever wrote and however a writer ended. `vectors_noted` is
when that was noted, in milliseconds since 1970.
"""

from __future__ import annotations

from drift.graph.cypher.clauses import WRITTEN_AT
from drift.graph.cypher.expressions import of_generation
from drift.graph.cypher.legs import KINDS, PERSONAL, key_of
from drift.graph.cypher.schema import DEFAULT
from drift.model.found_nodes import CHUNK, COMMUNITY, ENTITY
from drift.model.vectors import OWN

STATE = f"""
MATCH (p:__Project__ {{id: $project_id}})
RETURN {WRITTEN_AT} AS at, p.vectors_at AS copied,
  timestamp() - coalesce(p.vectors_noted, 0) AS noted_ms
"""

# While a whole project was compared, it stayed `expected`; one write is followed where the store
# was in step before it.
ADVANCE = f"""
MATCH (p:__Project__ {{id: $project_id}})
WHERE $expected IN [p.vectors_at, $place + {WRITTEN_AT}]
SET p.vectors_at = $after, p.vectors_noted = timestamp()
RETURN p.id AS id
"""

BEHIND = f"""
MATCH (p:__Project__)
WITH p LIMIT $looked_at
WITH p WHERE p.written_at IS NOT NULL AND NOT coalesce(p.vectors_at = $place + {WRITTEN_AT}, false)
RETURN p.id AS id ORDER BY id
"""

CHUNKS_OF = """
MATCH (:__Document__ {project_id: $project_id, id: $id})-[:HAS_CHUNK]->(ch)
RETURN collect(DISTINCT toString(ch.id)) AS ids
"""


def _rows(label: str, only: str = "") -> str:
    texts = {CHUNK: "text", COMMUNITY: "summary"}
    kind, key = KINDS[label], key_of(label)
    text = texts.get(kind, "description")
    seen = f"AND {of_generation('n')}" if kind in {ENTITY, COMMUNITY} else ""
    named = "[toStringOrNull(n.title), toStringOrNull(n.name)]"
    own = "head([l IN labels(n) WHERE NOT l STARTS WITH '__'])" if kind == OWN else f"'{kind}'"
    return f"""MATCH (n:{label}){DEFAULT.seek("n", label, *([key] if only else []))}
  WHERE n.project_id = $project_id {only} AND n.{key} IS NOT NULL {seen}
    AND n[$vector] IS :: LIST<FLOAT NOT NULL> NOT NULL
  RETURN '{kind}' AS kind, coalesce({own}, '{kind}') AS label, toString(n.{key}) AS node_id,
    left(coalesce(CASE WHEN n.{text} IS :: STRING NOT NULL THEN n.{text} END,
      head([one IN {named} WHERE one IS NOT NULL]), ''), 30000) AS text,
    n[$vector] AS vector"""


def _statement(*rows: str) -> str:
    every = "\nUNION ALL\n  ".join(rows)
    return f"""
OPTIONAL MATCH (p:__Project__ {{id: $project_id}})
WITH coalesce(p.generation, 0) AS generation
CALL (generation) {{
  {every}
}}
RETURN kind, label, node_id, text, vector
"""


ALL_ROWS = _statement(*map(_rows, KINDS))
"""Every vector that questions see, of a project."""
ROWS_OF = _statement(*(_rows(label, "AND n.id IN $ids") for label in ("__Chunk__", PERSONAL)))
"""Those of some chunks and own nodes."""

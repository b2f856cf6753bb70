"""Whether a graph holds something where a search found nothing: only such a request asks this."""

from __future__ import annotations

from drift.graph.cypher.clauses import OTHERS, count
from drift.graph.cypher.expressions import is_key
from drift.graph.cypher.nearest import comparable, readable
from drift.graph.cypher.schema import Schema

LABELS = ("__Document__", "__Chunk__", "__Entity__", "__Community__")


def held(s: Schema) -> str:
    """Return the statement that tells whether a project `is_held`, and `is_another` graph there.

    A project is held that has a chunk or a community, whatever the type of its id, or to which an
    edge alone leads; not one with a chunk that can be searched, which was written meanwhile.
    Another graph has nodes, and none of them is a chunk.
    """
    id_ = s.node_id("n")
    is_named = f"{s.project_chunk('n')} AND {id_} IS NOT NULL AND ({is_key(id_)})"
    is_usable = f"{comparable()} AND {readable(s, 'n')} AND {is_named}"
    some = f"""WITH n LIMIT $most
  WITH n, n.{s.vector} AS embedding
  RETURN count(n) AS some, count(CASE WHEN {is_usable} THEN 1 END) AS usable"""
    if not s.has_projects:
        return f"""
CALL () {{
  MATCH (n:{s.chunk})
  {some}
}}
{OTHERS}
RETURN some > 0 AND usable = 0 AS is_held, some = 0 AND nodes > __DriftFormat__ AS is_another
"""
    return f"""
CALL () {{
  UNWIND $asked.project_ids AS id
  MATCH (p:__Project__ {{id: id}}) USING INDEX SEEK p:__Project__(id)
  MATCH (p)<-[:IN_PROJECT]-(n)
  WITH n LIMIT $most
  WITH n WHERE n.project_id IS NULL AND ({" OR ".join(f"n:{label}" for label in LABELS)})
  RETURN count(n) AS connected
}}
CALL () {{
  UNWIND $asked.project_ids AS id
  MATCH (n:__Chunk__ {{project_id: id}}) USING INDEX SEEK n:__Chunk__(project_id)
  {some}
}}
CALL () {{
  MATCH (c:__Community__ {{project_id: $asked.project_id}})
    USING INDEX SEEK c:__Community__(project_id)
  WITH c LIMIT 1
  RETURN count(c) AS communities
}}
{count(":__Chunk__", "chunks")}{OTHERS}
RETURN usable = 0 AND connected + some + communities > 0 AS is_held,
  chunks = 0 AND others > 0 AS is_another
"""

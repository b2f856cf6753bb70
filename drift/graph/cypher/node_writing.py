"""The statements that write people's own nodes: each stands behind `LOCK` in one transaction.

The lock on the project's node keeps every other writer out until the commit, an ingest too.
"""

from __future__ import annotations

from drift.graph.cypher.legs import EARLIER, PERSONAL, of_earlier_release

# Who held the lock before may have forgotten the project: what was waited for is then not there,
# and is made anew.
LOCK = """
MERGE (p:__Project__ {id: $project_id}) SET p.project_id = $project_id
WITH count(*) AS locked
MERGE (p:__Project__ {id: $project_id}) SET p.project_id = $project_id
"""

NOW = "datetime.realtime().epochMillis"
IS_HELD = f"coalesce(p.writer IS NOT NULL AND p.writer_until > {NOW}, false)"
"""Whether somebody holds the project `p` to write it."""

_MARKED = f"SET n:{PERSONAL} REMOVE n:{EARLIER}"
_HAS_TWIN = f"EXISTS {{ MATCH (:{PERSONAL} {{project_id: n.project_id, id: n.id}}) }}"

TAKE_OVER = f"""
MATCH (n:{EARLIER} {{project_id: $project_id, id: $id}})
WHERE {of_earlier_release("n")} AND NOT {_HAS_TWIN}
WITH n LIMIT 1
{_MARKED}
"""
"""Gives a node of an earlier release the label of ours."""

TAKE_OVER_ALL = f"""
MATCH (n:{EARLIER})
WHERE {of_earlier_release("n")}
WITH n.project_id AS project_id, n.id AS id, head(collect(n)) AS n
CALL (n) {{
  WITH n WHERE NOT {_HAS_TWIN}
  {_MARKED}
}} IN TRANSACTIONS OF 2000 ROWS
"""
"""A twin is looked for inside: outside, its entry in the key would be locked against the write."""

# A vector that somebody has removed is of no text. A community's key is a number in graphs that
# GraphRAG made.
STANDING = f"""
MATCH (p:__Project__ {{id: $project_id}})
OPTIONAL MATCH (n:{PERSONAL} {{project_id: $project_id, id: $id}})
RETURN {IS_HELD} AS is_held,
  EXISTS {{ MATCH (:__Chunk__ {{project_id: $project_id, id: $id}}) }}
    OR EXISTS {{ MATCH (:__Entity__ {{project_id: $project_id, id: $id}}) }}
    OR EXISTS {{ MATCH (:__Document__ {{project_id: $project_id, id: $id}}) }}
    OR EXISTS {{
      MATCH (c:__Community__ {{project_id: $project_id}})
      WHERE c.community IN [$id, toIntegerOrNull($id)]
    }} AS is_of_ingestion,
  labels(n) AS labels, CASE WHEN n.embedding IS NOT NULL THEN n.embedding_hash END AS text_hash
"""

CREATE = f"""
MATCH (p:__Project__ {{id: $project_id}})
CREATE (n:{PERSONAL})
SET n = $properties, n:$($label), p.written_at = {NOW}, n.updated_at = {NOW}
"""

REPLACE = f"""
MATCH (p:__Project__ {{id: $project_id}})
MATCH (n:{PERSONAL} {{project_id: $project_id, id: $id}})
WITH p, n, CASE WHEN $keeps
  THEN n {{.embedding, .embedding_hash, .embedding_model}} ELSE {{}} END AS kept
SET n = $properties, n += kept, p.written_at = {NOW}, n.updated_at = {NOW}
"""

REMOVE = f"""
MATCH (p:__Project__ {{id: $project_id}})
MATCH (n:{PERSONAL} {{project_id: $project_id, id: $id}})
SET p.written_at = {NOW}
DETACH DELETE n
"""

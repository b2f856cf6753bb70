"""The statements that write people's own nodes: each stands behind `LOCK` in one transaction.

The lock on the project's node keeps every other writer out until the commit, an ingest too.
"""

from __future__ import annotations

# Who held the lock before may have forgotten the project: what was waited for is not there then, so
# it is made anew.
LOCK = """
MERGE (p:__Project__ {id: $project_id}) SET p.project_id = $project_id
WITH count(*) AS locked
MERGE (p:__Project__ {id: $project_id}) SET p.project_id = $project_id
"""

NOW = "datetime.realtime().epochMillis"
IS_HELD = f"coalesce(p.writer IS NOT NULL AND p.writer_until > {NOW}, false)"
"""Whether somebody holds the project `p` to write it."""

# A community's key is a number in graphs that GraphRAG made.
STANDING = f"""
MATCH (p:__Project__ {{id: $project_id}})
OPTIONAL MATCH (n:__Node__ {{project_id: $project_id, id: $id}})
RETURN {IS_HELD} AS is_held,
  EXISTS {{ MATCH (:__Chunk__ {{project_id: $project_id, id: $id}}) }}
    OR EXISTS {{ MATCH (:__Entity__ {{project_id: $project_id, id: $id}}) }}
    OR EXISTS {{ MATCH (:__Document__ {{project_id: $project_id, id: $id}}) }}
    OR EXISTS {{
      MATCH (c:__Community__ {{project_id: $project_id}})
      WHERE c.community IN [$id, toIntegerOrNull($id)]
    }} AS is_of_ingestion,
  labels(n) AS labels, n.embedding_hash AS text_hash
"""

CREATE = f"""
MATCH (p:__Project__ {{id: $project_id}})
CREATE (n:__Node__)
SET n = $properties, n:$($label), p.written_at = {NOW}, n.updated_at = {NOW}
"""

REPLACE = f"""
MATCH (p:__Project__ {{id: $project_id}})
MATCH (n:__Node__ {{project_id: $project_id, id: $id}})
WITH p, n, CASE WHEN n.embedding_hash = $kept
  THEN n {{.embedding, .embedding_hash, .embedding_model}} ELSE {{}} END AS kept
SET n = $properties, n += kept, p.written_at = {NOW}, n.updated_at = {NOW}
RETURN n.embedding IS NOT NULL AS has_vector
"""

REMOVE = f"""
MATCH (p:__Project__ {{id: $project_id}})
MATCH (n:__Node__ {{project_id: $project_id, id: $id}})
SET p.written_at = {NOW}
DETACH DELETE n
"""

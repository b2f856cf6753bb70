"""The statements of a project's lease: who may write, until when, on the server's clock.

Each of them but `HOLDER` stands behind `LOCK` in one transaction. The lock on the project's node
makes what follows read what is committed, and keeps every other writer out until the commit.
"""

from __future__ import annotations

from drift.graph.cypher import legs, node_writing
from drift.graph.cypher.clauses import NOW, WRITTEN_AT
from drift.graph.cypher.nearest import THRESHOLD

LOCK = node_writing.LOCK

_OTHER = """p.writer AS holder, coalesce(p.writer_name, '') AS name, p.writer_since AS since_ms"""

# A damaged time counts as over: what compares to null is not held.
HOLDER = f"""
MATCH (p:__Project__ {{id: $project_id}})
WITH p, {NOW} AS now
WHERE coalesce(p.writer_until > now, false) AND p.writer <> $holder
RETURN {_OTHER}
"""

TAKE = f"""
MATCH (p:__Project__ {{id: $project_id}})
WITH p, {NOW} AS now
WITH p, now,
  p.writer = $holder OR NOT coalesce(p.writer_until > now, false) OR p.writer IS NULL AS free
FOREACH (_ IN CASE WHEN free THEN [1] ELSE [] END |
  SET p.writer_since = CASE WHEN p.writer = $holder THEN p.writer_since ELSE now END,
    p.writer = $holder, p.writer_name = $name, p.writer_until = now + $lease_ms)
RETURN free AS held, {_OTHER}
"""

KEEP = f"""
MATCH (p:__Project__ {{id: $project_id}})
WITH p, {NOW} AS now
WITH p, now, coalesce(p.writer = $holder AND p.writer_until > now, false) AS held
FOREACH (_ IN CASE WHEN held THEN [1] ELSE [] END | SET p.writer_until = now + $lease_ms)
RETURN held, {_OTHER}
"""

RELEASE = """
MATCH (p:__Project__ {id: $project_id})
WHERE p.writer = $holder
REMOVE p.writer, p.writer_name, p.writer_since, p.writer_until
"""

# A project's node is ours alone while it says nothing of others: what holds nothing is not there,
# but for what a store of vectors may hold that was not to be reached.
FORGET = f"""
MATCH (p:__Project__ {{id: $project_id}}) USING INDEX SEEK p:__Project__(id)
WHERE p.writer IS NULL AND NOT EXISTS {{ (p)--() }}
  AND all(name IN keys(p) WHERE name IN $ours)
  AND NOT EXISTS {{ MATCH (:__Document__ {{project_id: $project_id}}) }}
  AND NOT EXISTS {{ MATCH (:__Chunk__ {{project_id: $project_id}}) }}
  AND NOT EXISTS {{ MATCH (:__Entity__ {{project_id: $project_id}}) }}
  AND NOT EXISTS {{ MATCH (:__Community__ {{project_id: $project_id}}) }}
  AND NOT EXISTS {{ MATCH (:{legs.PERSONAL} {{project_id: $project_id}}) }}
  AND NOT EXISTS {{ MATCH (:{legs.EARLIER} {{project_id: $project_id}}) }}
  AND (p.vectors_at IS NULL OR p.vectors_at ENDS WITH ' ' + {WRITTEN_AT})
DELETE p
"""

OURS = [
    "id",
    "project_id",
    *("format", "written_at", "derived_at", "behind", "skipped"),
    *("fingerprint", "generation", "building", "embedding_models"),
    *("entities", "relations", "communities", "clustered_chunks", "questions"),
    *("vectors_at", "vectors_noted"),
    *THRESHOLD,
]
"""The properties that are set on a project's node here."""

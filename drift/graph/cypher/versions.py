"""The statements of the node that says which format a graph is of, and whose vectors it holds."""

from __future__ import annotations

from drift.graph.cypher import clauses

STORED = f"""
OPTIONAL MATCH {clauses.NODE}
RETURN properties(f) AS stored,
  COLLECT {{ MATCH (p:__Project__) RETURN max(p.format) }}[0] AS newest
"""

# The write comes first: what is read behind it is what the write before has left.
KEEP_VERSION = f"""
MERGE {clauses.NODE}
SET f.id = 'drift'
WITH f
SET f.versions = [one IN coalesce(f.versions, []) WHERE NOT one STARTS WITH $head] + $entries
"""

_OLDER = "MATCH (d:__Document__) WHERE d.content_hash <> '' AND d.key IS NULL"
"""Documents as the release before wrote them."""

KEEP_FORMAT = f"""
OPTIONAL {_OLDER}
WITH d LIMIT 1
WITH d WHERE d IS NULL
MERGE {clauses.NODE}
SET f.format = coalesce(f.format, $format)
"""
"""Says the number where nothing says it, and nothing older is there."""

OLDER = f"""
{_OLDER}
RETURN toString(d.project_id) AS project_id, count(d) AS documents,
  sum(COUNT {{ (d)-[:HAS_CHUNK]->() }}) AS chunks
ORDER BY project_id
"""

"""The statements of people's own nodes; each write stands behind `LOCK`, which an ingest takes."""

from __future__ import annotations

from drift.graph.cypher import clauses
from drift.graph.cypher.legs import EARLIER, OF_INGESTION, PERSONAL, is_personal, of_earlier_release

# Who held the lock before may have forgotten the project: what was waited for is then not there,
# and is made anew.
LOCK = """
MERGE (p:__Project__ {id: $project_id}) SET p.project_id = $project_id
WITH count(*) AS locked
MERGE (p:__Project__ {id: $project_id}) SET p.project_id = $project_id
"""

_MARKED = f"SET n:{PERSONAL} REMOVE n:{EARLIER}"
_HAS_TWIN = f"EXISTS {{ MATCH (:{PERSONAL} {{project_id: n.project_id, id: n.id}}) }}"

TAKE_OVER = f"""
MATCH (n:{EARLIER})
WHERE {of_earlier_release("n")}
WITH n.project_id AS project_id, n.id AS id, head(collect(n)) AS n ORDER BY project_id
CALL (n) {{
  WITH n WHERE NOT {_HAS_TWIN}
  OPTIONAL MATCH (p:__Project__ {{id: n.project_id}})
  SET {clauses.TOUCHED}
  {_MARKED}
}} IN TRANSACTIONS OF 2000 ROWS
"""
"""Gives the nodes of an earlier release the label of ours.

A twin is looked for inside: outside, its entry in the key would be locked against the write. Two
who do so at once lock the projects in one order.
"""

# A vector that somebody has removed is of no text. A community's key is a number in graphs that
# GraphRAG made.
STANDING = f"""
MATCH (p:__Project__ {{id: $project_id}})
OPTIONAL MATCH (n:{PERSONAL} {{project_id: $project_id, id: $id}})
RETURN {clauses.IS_HELD} AS is_held,
  EXISTS {{ MATCH (:__Chunk__ {{project_id: $project_id, id: $id}}) }}
    OR EXISTS {{ MATCH (:__Entity__ {{project_id: $project_id, id: $id}}) }}
    OR EXISTS {{ MATCH (:__Document__ {{project_id: $project_id, id: $id}}) }}
    OR EXISTS {{
      MATCH (c:__Community__ {{project_id: $project_id}})
      WHERE c.community IN [$id, toIntegerOrNull($id)]
    }} AS is_of_ingestion,
  labels(n) AS labels, CASE WHEN n[$vector] IS NOT NULL THEN n[$text_hash] END AS text_hash,
  [p.format, {clauses.NUMBER}] AS formats
"""

CREATE = f"""
MATCH (p:__Project__ {{id: $project_id}})
CREATE (n:{PERSONAL})
SET n = $properties, n:$($label), {clauses.TOUCHED}, n.updated_at = {clauses.NOW}
"""

REPLACE = f"""
MATCH (p:__Project__ {{id: $project_id}})
MATCH (n:{PERSONAL} {{project_id: $project_id, id: $id}})
WITH p, n, CASE WHEN $keeps
  THEN [name IN keys(n) WHERE name STARTS WITH 'embedding' | [name, n[name]]] ELSE [] END AS kept
SET n = $properties, {clauses.TOUCHED}, n.updated_at = {clauses.NOW}
FOREACH (one IN kept | SET n[one[0]] = one[1])
"""

REMOVE = f"""
MATCH (p:__Project__ {{id: $project_id}})
MATCH (n:{PERSONAL} {{project_id: $project_id, id: $id}})
SET {clauses.TOUCHED}
DETACH DELETE n
"""

# ------------------------------------------------------------------- those of a label
# What an earlier release wrote without a vector has nothing that tells whose it is but its time.
_FOREIGN = f"""(n:{EARLIER} AND NOT n:{PERSONAL}
    AND (n:Chunk OR n.embedding IS NOT NULL OR NOT n.updated_at IS :: INTEGER NOT NULL))"""

_OF_LABEL = f"""NOT n:{OF_INGESTION}
RETURN elementId(n) AS element_id, toStringOrNull(n.id) AS id,
  n {{.title, .name, .description}} AS texts,
  n:{PERSONAL} AND n.id IS NOT NULL AND n.project_id IS NOT NULL AS is_known,
  {_FOREIGN} AS is_foreign,
  n[$vector] IS NOT NULL AS has_vector, coalesce(n[$text_hash], '') AS text_hash
"""

MARKED = f"""
MATCH (n:{PERSONAL})
WHERE n.project_id = $project_id AND $label IN labels(n) AND {_OF_LABEL}"""

# No index of ours has what is not marked. An expression is no reason to read all of it twice.
LABELLED = f"""
MATCH (n:$($label))
WHERE coalesce(n.project_id = $project_id, $adopts) AND {_OF_LABEL}"""

_SAME = " AND ".join(
    f"(n.{name} = row.texts.{name} OR n.{name} IS NULL AND row.texts.{name} IS NULL)"
    for name in ("title", "name", "description")
)

# A node that was changed or removed meanwhile is left for the next run, and one whose id another
# searchable node of the project has is left for good. A vector that was of another text says that
# those of other versions are, too.
PUT = f"""
UNWIND $rows AS row
MATCH (n) WHERE elementId(n) = row.element_id AND {_SAME}
  AND NOT EXISTS {{
    MATCH (other:{PERSONAL} {{project_id: $project_id, id: n.id}}) WHERE other <> n
  }}
FOREACH (_ IN CASE WHEN n[$vector] IS NULL THEN [] ELSE [1] END |
  {clauses.without_vectors("n")})
SET n:{PERSONAL}, n.project_id = $project_id, n.id = coalesce(n.id, row.new_id), n += row.embedded
WITH count(n) AS written
MATCH (p:__Project__ {{id: $project_id}})
SET {clauses.TOUCHED}
RETURN written
"""

PROJECTS = f"""
MATCH (n:$($label))
WHERE {is_personal("n")} AND n.project_id IS :: STRING NOT NULL
RETURN DISTINCT n.project_id AS project_id ORDER BY project_id
"""

HELD = f"""
MATCH (p:__Project__ {{id: $project_id}})
WHERE {clauses.IS_HELD}
RETURN p.id AS project_id
"""

"""The statements that look at people's nodes of a label, and give them their vectors."""

from __future__ import annotations

from drift.graph.cypher.legs import EARLIER, OF_INGESTION, PERSONAL, is_personal
from drift.graph.cypher.node_writing import IS_HELD, NOW

_TEXTS = ("title", "name", "description")

# What an earlier release wrote without a vector has nothing that tells whose it is but its time.
_FOREIGN = f"""(n:{EARLIER} AND NOT n:{PERSONAL}
    AND (n:Chunk OR n.embedding IS NOT NULL OR NOT n.updated_at IS :: INTEGER NOT NULL))"""

LABELLED = f"""
MATCH (n:$($label))
WHERE NOT n:{OF_INGESTION} AND (n:{PERSONAL} OR $marks)
  AND (n.project_id = $project_id OR $adopts AND n.project_id IS NULL)
RETURN elementId(n) AS element_id, toStringOrNull(n.id) AS id,
  n {{.title, .name, .description}} AS texts,
  n:{PERSONAL} AND n.id IS NOT NULL AND n.project_id IS NOT NULL AS is_known,
  {_FOREIGN} AS is_foreign,
  n.embedding IS NOT NULL AS has_vector, coalesce(n.embedding_hash, '') AS text_hash
"""

_SAME = " AND ".join(
    f"(n.{name} = row.texts.{name} OR n.{name} IS NULL AND row.texts.{name} IS NULL)"
    for name in _TEXTS
)

# A node that was changed or removed meanwhile is left for the next run, and one whose id another
# searchable node of the project has is left for good.
PUT = f"""
UNWIND $rows AS row
MATCH (n) WHERE elementId(n) = row.element_id AND {_SAME}
  AND NOT EXISTS {{
    MATCH (other:{PERSONAL} {{project_id: $project_id, id: n.id}}) WHERE other <> n
  }}
SET n:{PERSONAL}, n.project_id = $project_id, n.id = coalesce(n.id, row.new_id),
  n.embedding = row.embedding, n.embedding_model = row.embedding_model,
  n.embedding_hash = row.embedding_hash
WITH count(n) AS written
MATCH (p:__Project__ {{id: $project_id}})
SET p.written_at = {NOW}
RETURN written
"""

PROJECTS = f"""
MATCH (n:$($label))
WHERE {is_personal("n")} AND n.project_id IS :: STRING NOT NULL
RETURN DISTINCT n.project_id AS project_id ORDER BY project_id
"""

HELD = f"""
MATCH (p:__Project__ {{id: $project_id}})
WHERE {IS_HELD}
RETURN p.id AS project_id
"""

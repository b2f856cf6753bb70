"""The statements that look at people's nodes of a label, and give them their vectors."""

from __future__ import annotations

from drift.adapters.neo4j.cypher.node_writing import IS_HELD, NOW

_TEXTS = ("title", "name", "description")

_OF_INGESTION = "n:__Chunk__ OR n:__Entity__ OR n:__Community__ OR n:__Document__ OR n:__Project__"

LABELLED = f"""
MATCH (n:$($label))
WHERE NOT ({_OF_INGESTION})
  AND (n.project_id = $project_id OR $adopts AND n.project_id IS NULL)
RETURN elementId(n) AS element_id, toStringOrNull(n.id) AS id,
  n {{.title, .name, .description}} AS texts,
  n:__Node__ AND n.id IS NOT NULL AND n.project_id IS NOT NULL AS is_known,
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
    MATCH (other:__Node__ {{project_id: $project_id, id: n.id}}) WHERE other <> n
  }}
SET n:__Node__, n.project_id = $project_id, n.id = coalesce(n.id, row.new_id),
  n.embedding = row.embedding, n.embedding_model = row.embedding_model,
  n.embedding_hash = row.embedding_hash
WITH count(n) AS written
MATCH (p:__Project__ {{id: $project_id}})
SET p.written_at = {NOW}
RETURN written
"""

PROJECTS = f"""
MATCH (n:$($label))
WHERE NOT ({_OF_INGESTION}) AND n.project_id IS :: STRING NOT NULL
RETURN DISTINCT n.project_id AS project_id ORDER BY project_id
"""

HELD = f"""
MATCH (p:__Project__ {{id: $project_id}})
WHERE {IS_HELD}
RETURN p.id AS project_id
"""

"""Statements that bring what the release before wrote to the format of this one."""

from __future__ import annotations

from drift.graph.cypher import clauses

OLDER = """
MATCH (:__Project__ {id: $project_id})
MATCH (d:__Document__ {project_id: $project_id})
WHERE d.content_hash <> '' AND d.key IS NULL
WITH d LIMIT $most
RETURN d.id AS id, COUNT { (d)-[:HAS_CHUNK]->() } AS chunks
"""

DOCUMENTS = """
MATCH (p:__Project__ {id: $project_id})
UNWIND $ids AS id
MATCH (d:__Document__ {project_id: $project_id, id: id})
RETURN d.id AS id, head(p.embedding_models) AS model,
  coalesce(p.chunk_namespace, p.id) AS namespace, COLLECT {
  MATCH (d)-[:HAS_CHUNK]->(ch:__Chunk__)
  WITH ch ORDER BY ch.ordinal
  RETURN {id: ch.id, text: ch.text, length: size(ch.embedding)}
} AS chunks
"""

RENAME_CHUNKS = """
UNWIND $rows AS row
MATCH (ch:__Chunk__ {project_id: $project_id, id: row.id})
SET ch.id = row.to
"""

MARK_DOCUMENTS = f"""
MATCH (p:__Project__ {{id: $project_id}})
SET {clauses.TOUCHED}
WITH p
UNWIND $rows AS row
MATCH (d:__Document__ {{project_id: $project_id, id: row.id}})
SET d.key = row.id, d.embedding_version = row.embedding
"""

UNSAID = """
MATCH (p:__Project__)
WHERE p.format IS NULL AND p.id = coalesce($project_id, p.id) AND NOT EXISTS {
  MATCH (d:__Document__ {project_id: p.id}) WHERE d.content_hash <> '' AND d.key IS NULL
}
RETURN p.id AS id ORDER BY id
"""
"""Names the projects whose format nothing says, and in which nothing is older."""

SAY_FORMAT = """
UNWIND $ids AS id
MATCH (p:__Project__ {id: id})
SET p.format = $format
"""

PROJECTS = """
MATCH (p:__Project__)
WHERE p.id = coalesce($project_id, p.id)
RETURN p.id AS id,
  COUNT { (:__Document__ {project_id: p.id})-[:HAS_CHUNK]->() } AS chunks
ORDER BY id
"""

BEHIND = """
MATCH (d:__Document__ {project_id: $project_id})
WHERE d.id > $behind
WITH d ORDER BY d.id LIMIT $most
RETURN d.id AS id, COUNT { (d)-[:HAS_CHUNK]->() } AS chunks
ORDER BY id
"""

# Found from the document, whatever label it has while it is off.
WORDS = """
UNWIND $ids AS id
MATCH (d:__Document__ {project_id: $project_id, id: id})
RETURN d.id AS document_id, d.title AS title, COLLECT {
  MATCH (d)-[:HAS_CHUNK]->(ch)
  RETURN ch {.id, .heading, .text, .name_words}
} AS chunks
"""

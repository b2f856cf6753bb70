"""The statements that tell what a project holds of documents, for what writes them."""

from __future__ import annotations

from drift.graph.writing.clauses import DOCUMENTS, OFF, UPDATED_AT, one
from drift.model import attributes

# What is said of documents: of all of them how they depend on each other, of one everything.
_RELATING = f"""
      told: [name IN {[*attributes.RELATING]} WHERE d['{attributes.METADATA}' + name] IS NOT NULL
        | [name, toStringOrNull(d['{attributes.METADATA}' + name])]]"""
_ATTRIBUTES = f"""
      tags: d.tags, created_at: d.created_at,
      told: [name IN keys(d) WHERE name STARTS WITH '{attributes.METADATA}'
        | [substring(name, {len(attributes.METADATA)}), d[name]]]"""
# A document is stored when it has as many chunks as it was written with, each with a vector: what
# broke, or was lost since, is written anew.
_STORED = f"""WITH d, COUNT {{ (d)-[:HAS_CHUNK]->() }} AS chunks
    RETURN d {{.id, .title, .source, .key, .content_hash, .rules, .source_uri,
      .attributes_hash, .chunks,
      superseded_by: toStringOrNull(d.superseded_by),
      updated_at: {UPDATED_AT},
      embedding: CASE $vector WHEN 'embedding' THEN d.embedding_version ELSE $embedding END,
      is_off: coalesce(d.is_off, false),
      is_whole: coalesce(d.chunks, chunks) = chunks
        AND NOT EXISTS {{ MATCH (d)-[:HAS_CHUNK]->(ch) WHERE ch[$vector] IS NULL }},"""

PROJECT_STATE = f"""
OPTIONAL MATCH (p:__Project__ {{id: $project_id}})
RETURN coalesce(p.fingerprint, '') AS fingerprint, coalesce(p.generation, 0) AS generation,
  [p.entities, p.relations, p.communities] AS written, coalesce(p.skipped, []) AS skipped,
  coalesce(p.chunk_namespace, '') AS namespace,
  COLLECT {{
    {DOCUMENTS}
    {_STORED}{_RELATING}}}
  }} AS documents,
  COUNT {{
    MATCH (ch:__Chunk__) USING INDEX SEEK ch:__Chunk__(project_id)
    WHERE ch.project_id = $project_id
  }} AS chunks
"""

# One document, what its project's chunks are named after, and the models of its vectors: those of
# its documents, where its first run broke.
STANDING = f"""
OPTIONAL MATCH (p:__Project__ {{id: $project_id}})
RETURN p.chunk_namespace AS namespace, p.embedding_models AS models,
  CASE WHEN p.embedding_models IS NULL THEN COLLECT {{
    {DOCUMENTS} AND d.embedding_version IS NOT NULL
    RETURN DISTINCT d.embedding_version
  }} END AS versions, head(COLLECT {{
    MATCH (d:__Document__ {{project_id: $project_id, id: $id}})
      USING INDEX SEEK d:__Document__(project_id, id)
    {_STORED}{_ATTRIBUTES}}}
  }}) AS document
"""

# The chunks of documents whose vectors are of this model, with what was embedded beside the text.
# Those that are staged or off are written as other nodes, which have no vector to keep.
HELD_CHUNKS = f"""
UNWIND $rows AS row
{one("d", "__Document__", "id")}
WHERE d.embedding_version = $embedding OR $vector <> 'embedding'
MATCH (d)-[:HAS_CHUNK]->(ch)
WHERE ch:__Chunk__ AND ch[$vector] IS NOT NULL
RETURN ch.id AS id, ch.heading AS heading
"""

# What the words are made of that chunks are found by.
READ_WORDS = f"""
UNWIND $rows AS row
{one("d", "__Document__", "id")}
MATCH (d)-[:HAS_CHUNK]->(ch)
RETURN ch.id AS id, d.id AS document_id, d.title AS title, ch.heading AS heading, ch.text AS text
"""

# The texts of what is switched off.
READ_OFF = f"""
{DOCUMENTS} AND d.is_off
MATCH (d)-[:HAS_CHUNK]->(ch)
WHERE ch:{OFF}
RETURN ch.text AS text
"""

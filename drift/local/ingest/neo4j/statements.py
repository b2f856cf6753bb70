"""Every Cypher statement of the ingestion.

Nodes are keyed per project, so that projects may share ids.

A document with its chunks and their vectors is one transaction. What is made of all documents
together is written beside the old as a new generation, and becomes the project's when one write
moves the number on the project's node.

Hints name the index and demand a seek in it, because a plan made while the database is still empty
goes through the index over the project alone, or through all of the key's index, for each row. A
`run` mark on an edge tells afterwards what is stale.
"""

from __future__ import annotations

from drift.graph.cypher import legs, nearest, schema

_STAGED = "__StagedChunk__"
"""The label of chunks that no reader sees yet: those of a document too big for one transaction,
until all are there."""

KEYS = {
    "__Document__": "id",
    "__Chunk__": "id",
    "__Entity__": "id",
    "__Community__": "community",
    "__ModelReply__": "key",
}
"""The property that names a node within its project, by label."""


def _one(variable: str, label: str, column: str) -> str:
    """Return the clause that finds the project's node whose key stands in a column of `row`."""
    key = KEYS[label]
    return f"""MATCH ({variable}:{label} {{project_id: $project_id, {key}: row.{column}}})
  USING INDEX SEEK {variable}:{label}(project_id, {key})"""


# -------------------------------------------------------------------------------------------- state
_DOCUMENTS = """MATCH (d:__Document__) USING INDEX SEEK d:__Document__(project_id)
WHERE d.project_id = $project_id"""

# A document is stored when it has as many chunks as it was written with: what broke, or was lost
# since, is written anew.
PROJECT_STATE = f"""
OPTIONAL MATCH (p:__Project__ {{id: $project_id}})
RETURN coalesce(p.fingerprint, '') AS fingerprint, coalesce(p.generation, 0) AS generation,
  [p.entities, p.relations, p.communities] AS written,
  COLLECT {{
    {_DOCUMENTS}
    WITH d, COUNT {{ (d)-[:HAS_CHUNK]->() }} AS chunks
    WITH d, coalesce(d.chunks, chunks) = chunks AS is_whole
    RETURN [
      d.id, CASE WHEN is_whole THEN coalesce(d.content_hash, '') ELSE '' END, coalesce(d.source, '')
    ]
  }} AS documents,
  COUNT {{
    MATCH (ch:__Chunk__) USING INDEX SEEK ch:__Chunk__(project_id)
    WHERE ch.project_id = $project_id
  }} AS chunks
"""

KNOWLEDGE_STATE = """
CALL () {
  MATCH (e:__Entity__) USING INDEX SEEK e:__Entity__(project_id)
  WHERE e.project_id = $project_id AND coalesce(e.generation, 0) = $generation
  RETURN count(e) AS entities, sum(COUNT { (e)-[:RELATED]->() }) AS relations
}
CALL () {
  MATCH (c:__Community__) USING INDEX SEEK c:__Community__(project_id)
  WHERE c.project_id = $project_id AND coalesce(c.generation, 0) = $generation
  WITH c.level AS level, count(c) AS number
  RETURN collect([level, number]) AS communities
}
RETURN entities, relations, communities
"""

# Asked of graphs that have no index yet as well, so no index is named.
HELD_PROJECTS = f"""
MATCH (p:__Project__)
WHERE $project_id IS NULL OR p.id = $project_id
RETURN toString(p.id) AS id,
  COLLECT {{
    MATCH (d:__Document__ {{project_id: p.id}})
    WITH toString(coalesce(d.source, '')) AS source, count(*) AS number
    RETURN [source, number]
  }} AS sources,
  COUNT {{ (:__Chunk__ {{project_id: p.id}}) }} AS chunks,
  COUNT {{ (:{legs.PERSONAL} {{project_id: p.id}}) }}
    + COUNT {{
      MATCH (n:{legs.EARLIER} {{project_id: p.id}}) WHERE {legs.of_earlier_release("n")}
    }} AS nodes
ORDER BY id
"""

READ_CHUNKS = f"""
OPTIONAL MATCH (p:__Project__ {{id: $project_id}})
WITH coalesce(p.generation, 0) AS generation
{_DOCUMENTS}
MATCH (d)-[:HAS_CHUNK]->(ch)
WITH DISTINCT generation, d, ch
WHERE ch:__Chunk__ AND ch.project_id = $project_id
WITH generation, ch, min([d.id, coalesce(d.title, '')]) AS document
RETURN ch.id AS id, document[0] AS document_id, document[1] AS title, ch.ordinal AS ordinal,
  ch.heading AS heading, ch.text AS text,
  head([(ch)-[:IN_COMMUNITY]->(c:__Community__)
    WHERE c.project_id = $project_id AND c.generation = generation | c.community]) AS topic
ORDER BY document_id, ordinal, id
"""

READ_VECTORS = f"""
UNWIND $rows AS row
{_one("n", "__Chunk__", "id")}
RETURN n.id AS id, n.embedding AS embedding
"""

READ_TOPICS = """
MATCH (p:__Project__ {id: $project_id})
WHERE p.clustered_chunks IS NOT NULL
RETURN p.clustered_chunks AS clustered, p.embedding_models AS embedding_models, COLLECT {
  MATCH (c:__Community__) USING INDEX SEEK c:__Community__(project_id)
  WHERE c.project_id = $project_id AND c.generation = p.generation
  MATCH (c)-[:IN_COMMUNITY]->(parent:__Community__)
  RETURN [c.community, parent.community]
} AS parents
"""

READ_REPLIES = """
MATCH (r:__ModelReply__) USING INDEX SEEK r:__ModelReply__(project_id)
WHERE r.project_id = $project_id
RETURN r.kind AS kind, r.model AS model, r.parts AS parts, r.text AS text, r.tokens AS tokens
ORDER BY r.key
"""

# ---------------------------------------------------------------------------------------- documents
_NOW = "datetime.realtime().epochMillis"
_UNFINISHED = f"""MATCH (p:__Project__ {{id: $project_id}})
SET p.fingerprint = '', p.written_at = {_NOW}"""


_DOCUMENT = _one("d", "__Document__", "id")
_DOCUMENT_OF_CHUNK = f"""MATCH (p:__Project__ {{id: $project_id}})
UNWIND $rows AS row
{_one("d", "__Document__", "document_id")}"""

_SET_VECTOR = """WITH n, row
WHERE row.embedding IS NOT NULL
CALL db.create.setNodeVectorProperty(n, 'embedding', row.embedding)"""


PUT_DOCUMENTS = f"""
{_UNFINISHED}
WITH p
UNWIND $rows AS row
MERGE (d:__Document__ {{project_id: $project_id, id: row.id}})
SET d.title = row.title, d.source = row.source, d.content_hash = row.content_hash,
  d.chunks = row.chunks, d.source_uri = row.source_uri, d.updated_at = row.updated_at
MERGE (d)-[:IN_PROJECT]->(p)
"""

PUT_CHUNKS = f"""
{_DOCUMENT_OF_CHUNK}
MERGE (n:__Chunk__ {{project_id: $project_id, id: row.id}})
SET n.text = row.text, n.heading = row.heading, n.name_words = row.name_words,
  n.ordinal = row.ordinal, n.start = row.start, n.end = row.end, n.first_line = row.first_line,
  n.project_key = $project_key, n.{schema.FALLBACK_VECTOR} = null
FOREACH (_ IN CASE WHEN row.embedding IS NULL THEN [1] ELSE [] END | REMOVE n.embedding)
MERGE (d)-[r:HAS_CHUNK]->(n) SET r.run = $run
MERGE (n)-[:IN_PROJECT]->(p)
{_SET_VECTOR}
"""

# What the documents no longer hold; a chunk that another document holds only loses the edge.
DROP_STALE_CHUNKS = f"""
UNWIND $rows AS row
{_DOCUMENT}
MATCH (d)-[r:HAS_CHUNK]->(ch)
WHERE r.run IS NULL OR r.run <> $run
DELETE r
WITH DISTINCT ch
WHERE NOT EXISTS {{ (ch)<-[:HAS_CHUNK]-() }}
DETACH DELETE ch
"""

REMOVE_DOCUMENTS = f"""
{_UNFINISHED}
WITH p
UNWIND $rows AS row
{_DOCUMENT}
OPTIONAL MATCH (d)-[:HAS_CHUNK]->(ch)
WITH d, collect(ch) AS chunks
DETACH DELETE d
WITH chunks
UNWIND chunks AS ch
WITH DISTINCT ch
WHERE NOT EXISTS {{ (ch)<-[:HAS_CHUNK]-() }}
DETACH DELETE ch
"""

TAKE_OVER = f"""
UNWIND $rows AS row
{_DOCUMENT}
SET d.source = $source
"""

# ---------------------------------------------------------------------- a document in several steps
OPEN_DOCUMENT = f"""
{_UNFINISHED}
WITH p
UNWIND $rows AS row
MERGE (d:__Document__ {{project_id: $project_id, id: row.id}})
ON CREATE SET d.content_hash = '', d.source = row.source, d.title = row.title
MERGE (d)-[:IN_PROJECT]->(p)
"""

UNSTAGE = f"""
UNWIND $rows AS row
{_DOCUMENT}
MATCH (d)-[:HAS_CHUNK]->(n)
WHERE n:{_STAGED}
WITH n LIMIT $most
DETACH DELETE n
RETURN count(*) AS dropped
"""

STAGE_CHUNKS = f"""
{_DOCUMENT_OF_CHUNK}
CREATE (d)-[:HAS_CHUNK {{run: $run}}]->(n:{_STAGED} {{
  project_id: $project_id, id: row.id, text: row.text, heading: row.heading,
  name_words: row.name_words, ordinal: row.ordinal, start: row.start, end: row.end,
  first_line: row.first_line, project_key: $project_key
}})-[:IN_PROJECT]->(p)
{_SET_VECTOR}
"""

# A chunk that stays keeps its node, and with it its place in the knowledge.
ADOPT_STAGED = f"""
UNWIND $rows AS row
{_DOCUMENT}
MATCH (d)-[:HAS_CHUNK]->(s)
WHERE s:{_STAGED}
MATCH (ch:__Chunk__ {{project_id: $project_id, id: s.id}})
  USING INDEX SEEK ch:__Chunk__(project_id, id)
SET ch.text = s.text, ch.heading = s.heading, ch.name_words = s.name_words,
  ch.ordinal = s.ordinal, ch.start = s.start,
  ch.end = s.end, ch.first_line = s.first_line, ch.embedding = s.embedding,
  ch.{schema.FALLBACK_VECTOR} = null
MERGE (d)-[r:HAS_CHUNK]->(ch) SET r.run = $run
DETACH DELETE s
"""

REVEAL_STAGED = f"""
UNWIND $rows AS row
{_DOCUMENT}
MATCH (d)-[:HAS_CHUNK]->(s)
WHERE s:{_STAGED}
SET s:__Chunk__
REMOVE s:{_STAGED}
"""

# ---------------------------------------------------------------------------------------- knowledge
# `building` is set while nodes of more than one generation are there.
BEGIN_KNOWLEDGE = """
MATCH (p:__Project__ {id: $project_id})
WITH p, coalesce(p.generation, 0) AS visible, coalesce(p.building, 0) AS left_over
WITH p, CASE WHEN left_over > visible THEN left_over ELSE visible END AS newest
SET p.fingerprint = '', p.building = 1 + newest
RETURN p.building AS generation
"""

UNSETTLED = """
MATCH (p:__Project__ {id: $project_id})
WHERE p.building IS NOT NULL
RETURN coalesce(p.generation, 0) AS generation
"""

PUT_ENTITIES = f"""
MATCH (p:__Project__ {{id: $project_id}})
UNWIND $rows AS row
CREATE (n:__Entity__ {{
  project_id: $project_id, id: row.id, generation: $generation, title: row.title,
  title_key: row.title_key, project_key: $project_key, description: row.description,
  type: row.type, also: row.also
}})-[:IN_PROJECT]->(p)
{_SET_VECTOR}
"""

PUT_COMMUNITIES = f"""
MATCH (p:__Project__ {{id: $project_id}})
UNWIND $rows AS row
CREATE (n:__Community__ {{
  project_id: $project_id, community: row.id, generation: $generation, level: row.level,
  title: row.title, summary: row.summary
}})-[:IN_PROJECT]->(p)
{_SET_VECTOR}
"""

SWITCH = f"""
MATCH (p:__Project__ {{id: $project_id}})
SET p.generation = $generation, p.fingerprint = $fingerprint, p.written_at = {_NOW},
  p.entities = $entities, p.relations = $relations, p.communities = $communities,
  p.embedding_models = CASE $embedding_model WHEN '' THEN null ELSE [$embedding_model] END,
  p.clustered_chunks = $clustered
"""

SETTLE = "MATCH (p:__Project__ {id: $project_id}) REMOVE p.building"

# Questions that began before the switch still read the old generation.
SHOW_READERS = """
SHOW TRANSACTIONS YIELD transactionId, metaData
WHERE metaData.access = 'read'
RETURN transactionId AS id
"""


def link(source: str, edge: str, target: str) -> str:
    """Return the statement that creates edges of one kind from $rows of {from, to}.

    `source` and `target` are the labels of what they lead from and to.
    """
    return f"""
UNWIND $rows AS row
{_end("a", source, "from")}
{_end("b", target, "to")}
CREATE (a)-[:{edge}]->(b)
"""


def _end(n: str, label: str, column: str) -> str:
    text = _one(n, label, column)
    return text if label == "__Chunk__" else f"{text}\nWHERE {n}.generation = $generation"


def drop_other_generations(label: str) -> str:
    """Return the statement that removes nodes of other generations than $generation.

    It removes up to $most of them, and counts them.
    """
    return f"""
MATCH (n:{label}) USING INDEX SEEK n:{label}(project_id)
WHERE n.project_id = $project_id AND coalesce(n.generation, 0) <> $generation
WITH n LIMIT $most
DETACH DELETE n
RETURN count(*) AS dropped
"""


PUT_RELATIONS = f"""
UNWIND $rows AS row
{_end("a", "__Entity__", "from")}
{_end("b", "__Entity__", "to")}
CREATE (a)-[:RELATED {{
  description: row.description, weight: row.weight, sentence: row.sentence, chunk_id: row.chunk_id
}}]->(b)
"""

# Outside the generations: what a run that broke was told is not asked for again.
KEEP_REPLIES = """
UNWIND $rows AS row
MERGE (r:__ModelReply__ {project_id: $project_id, key: row.key})
SET r.kind = row.kind, r.model = row.model, r.parts = row.parts, r.text = row.text,
  r.tokens = row.tokens
"""

DROP_REPLIES = f"""
UNWIND $rows AS row
{_one("r", "__ModelReply__", "key")}
DELETE r
"""

KEPT_THRESHOLD = f"""
MATCH (p:__Project__ {{id: $project_id}})
RETURN p {{{nearest.listed(*nearest.THRESHOLD)}}} AS threshold
"""

KEEP_THRESHOLD = """
MATCH (p:__Project__ {id: $project_id})
SET p += $threshold
"""

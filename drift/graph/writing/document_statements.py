"""The statements that write documents with their chunks.

Nodes are keyed per project, so that projects may share ids. A document with its chunks and their
vectors is one transaction.

Hints name the index and demand a seek in it, because a plan made while the database is still empty
goes through the index over the project alone, or through all of the key's index, for each row. A
`run` mark on an edge tells afterwards what is stale.
"""

from __future__ import annotations

from drift.graph.cypher import clauses
from drift.graph.cypher.expressions import of_generation
from drift.graph.cypher.nearest import comparable
from drift.graph.writing.clauses import OFF, SET_VECTOR, STAGED, one, set_mean_vector
from drift.model import attributes

# ---------------------------------------------------------------------------------------- documents
_UNFINISHED = f"""MATCH (p:__Project__ {{id: $project_id}})
SET p.fingerprint = '', {clauses.TOUCHED}"""
_DOCUMENT = f"""UNWIND $rows AS row
{one("d", "__Document__", "id")}"""
_UNFINISHED_DOCUMENT = f"""{_UNFINISHED}
WITH p
{_DOCUMENT}"""
_STAGED_OF = f"""{_DOCUMENT}
MATCH (d)-[:HAS_CHUNK]->(s)
WHERE s:{STAGED}"""
_LOST = """WITH DISTINCT ch
WHERE NOT EXISTS { (ch)<-[:HAS_CHUNK]-() }
DETACH DELETE ch"""
_DOCUMENT_OF_CHUNK = f"""MATCH (p:__Project__ {{id: $project_id}})
UNWIND $rows AS row
{one("d", "__Document__", "document_id")}"""

# Topics have to be read again when a chunk of theirs goes, or says something else.
_STALE_TOPICS = """CALL (d) {
  MATCH (d)-[:HAS_CHUNK]->()-[:IN_COMMUNITY]->(c)
  SET c.stale = true
}"""
_STALE_TOPIC_OF_CHUNK = """CALL (ch) {
  MATCH (ch)-[:IN_COMMUNITY]->(c)
  SET c.stale = true
}"""

# How many documents were written or removed since the project's knowledge was derived, each once.
_BEHIND = """SET p.behind = coalesce(p.behind, 0)
  + CASE WHEN d.indexed_at > coalesce(p.derived_at, 0) THEN 0 ELSE 1 END"""

PUT_DOCUMENTS = f"""
{_UNFINISHED}
WITH p
UNWIND $rows AS row
MERGE (d:__Document__ {{project_id: $project_id, id: row.id}})
{_BEHIND}
WITH p, row, d
CALL (d, row) {{
  WITH d, row WHERE d.title <> row.properties.title
  MATCH (d)-[:HAS_CHUNK]->()-[:IN_COMMUNITY]->(c)
  SET c.stale = true
}}
SET d += row.properties, d:Document, d.indexed_at = {clauses.NOW},
  d.embedding_version =
    CASE $vector WHEN 'embedding' THEN row.embedding ELSE d.embedding_version END,
  d.updated_at = CASE WHEN row.updated_at IS NOT NULL
    THEN datetime({{epochMillis: row.updated_at}}) END
FOREACH (name IN [one IN keys(d) WHERE one STARTS WITH '{attributes.METADATA}'
    AND row.properties[one] IS NULL] | REMOVE d[name])
MERGE (d)-[:IN_PROJECT]->(p)
"""

# Once their chunks are there. A vector of another model goes where a chunk of it has none.
PUT_DOCUMENT_VECTORS = f"""
{_DOCUMENT}
WITH d, {clauses.vectors_of("d")} AS names
{clauses.without_vectors("d")}
WITH d, names + [name IN [$vector] WHERE NOT name IN names] AS names
UNWIND names AS name
WITH d, name
WHERE name = $vector OR NOT EXISTS {{ MATCH (d)-[:HAS_CHUNK]->(ch) WHERE ch[name] IS NULL }}
{set_mean_vector("name")}
"""


# A chunk whose text and heading stay keeps its vectors; else those of every model go.
PUT_CHUNKS = f"""
{_DOCUMENT_OF_CHUNK}
MERGE (n:__Chunk__ {{project_id: $project_id, id: row.id}})
WITH p, d, row, n, n.text <> row.properties.text OR n.heading <> row.properties.heading AS is_other
SET n += row.properties, n.project_key = $project_key
FOREACH (_ IN CASE WHEN is_other THEN [1] ELSE [] END | {clauses.without_vectors("n")})
FOREACH (_ IN CASE WHEN row.keeps THEN [] ELSE [1] END | REMOVE n[$vector])
FOREACH (c IN CASE WHEN row.keeps THEN [] ELSE [(n)-[:IN_COMMUNITY]->(c) | c] END |
  SET c.stale = true)
MERGE (d)-[r:HAS_CHUNK]->(n) SET r.run = $run
MERGE (n)-[:IN_PROJECT]->(p)
{SET_VECTOR}
"""

# What the documents no longer hold; a chunk that another document holds only loses the edge.
DROP_STALE_CHUNKS = f"""
{_DOCUMENT}
MATCH (d)-[r:HAS_CHUNK]->(ch)
WHERE r.run IS NULL OR r.run <> $run
DELETE r
WITH DISTINCT ch
{_STALE_TOPIC_OF_CHUNK}
{_LOST}
"""

REMOVE_DOCUMENTS = f"""
{_UNFINISHED_DOCUMENT}
{_STALE_TOPICS}
{_BEHIND}
WITH d
OPTIONAL MATCH (d)-[:HAS_CHUNK]->(ch)
WITH d, collect(ch) AS chunks
DETACH DELETE d
WITH chunks
UNWIND chunks AS ch
{_LOST}
"""

# Chunks of a document that are in no topic yet join the nearest, by the mean of its chunks, and the
# next derivation reads that topic again. It is looked for in the nearest three groups, where there
# are any: a project of 100,000 chunks has 2,800 topics. What made the project's vectors is known
# from the first document on.
_OF_PROJECT = """MATCH (c:__Community__) USING INDEX SEEK c:__Community__(project_id)
  WHERE c.project_id = $project_id"""

_SEEN = of_generation("c")

JOIN_TOPICS = f"""
MATCH (p:__Project__ {{id: $project_id}})
SET p.embedding_models =
  coalesce(p.embedding_models, CASE $vector WHEN 'embedding' THEN [$model] END)
WITH p.generation AS generation
MATCH (d:__Document__ {{project_id: $project_id, id: $id}})
  USING INDEX SEEK d:__Document__(project_id, id)
MATCH (d)-[:HAS_CHUNK]->(ch)
WHERE ch:__Chunk__
  AND NOT EXISTS {{ MATCH (ch)-[:IN_COMMUNITY]->(c) WHERE {_SEEN} }}
WITH generation, ch, ch[$vector] AS embedding
WHERE {comparable()}
WITH generation, collect({{node: ch, embedding: embedding}}) AS new
CALL (generation) {{
  {_OF_PROJECT} AND {_SEEN} AND c.level = 1
  WITH c, c[$mean] AS mean
  WHERE {comparable("mean")}
  RETURN collect({{node: c, mean: mean}}) AS groups
}}
UNWIND new AS one
CALL (one, groups) {{
  UNWIND groups AS g
  WITH g.node AS g, vector.similarity.cosine(one.embedding, g.mean) AS near
  ORDER BY near DESC LIMIT 3
  RETURN collect(g) AS near
}}
CALL (near) {{
  UNWIND near AS g
  MATCH (g)<-[:IN_COMMUNITY]-(c:__Community__)
  RETURN c
UNION ALL
  UNWIND CASE WHEN size(near) = 0 THEN [1] ELSE [] END AS ungrouped
  {_OF_PROJECT}
  RETURN c
}}
WITH generation, one, c
WHERE {_SEEN} AND c.level = 0
WITH generation, one, c.community AS topic, c[$mean] AS mean
WHERE {comparable("mean")}
WITH generation, one.node AS ch,
  max([vector.similarity.cosine(one.embedding, mean), topic])[1] AS topic
MATCH (c:__Community__ {{project_id: $project_id, community: topic}})
  USING INDEX SEEK c:__Community__(project_id, community)
WHERE {_SEEN}
SET c.stale = true
CREATE (ch)-[:IN_COMMUNITY]->(c)
"""

RELOCATE = f"""
{_DOCUMENT}
SET d.id = row.to, d.source = row.source, d:Document, d.path = row.to
"""

# Found from the document, whatever label it has while it is off.
NAME_CHUNKS = f"""
UNWIND $rows AS row
{one("d", "__Document__", "document_id")}
MATCH (d)-[:HAS_CHUNK]->(ch {{id: row.id}})
SET ch.name_words = row.name_words
"""

KEEP_SKIPPED = """
MATCH (p:__Project__ {id: $project_id})
SET p.skipped = $skipped
"""

# ------------------------------------------------------------------------------ switched off and on
# No question looks at the label of what is off, and what is made of all documents is made without
# it.
SWITCH_OFF = f"""
{_UNFINISHED_DOCUMENT}
{_STALE_TOPICS}
SET d.is_off = true
WITH d
MATCH (d)-[:HAS_CHUNK]->(ch)
WHERE ch:__Chunk__
OPTIONAL MATCH (ch)-[r:IN_COMMUNITY|HAS_ENTITY]->()
DELETE r
WITH DISTINCT ch
SET ch:{OFF}
REMOVE ch:__Chunk__
"""

SWITCH_ON = f"""
{_UNFINISHED_DOCUMENT}
REMOVE d.is_off
WITH d
MATCH (d)-[:HAS_CHUNK]->(ch)
WHERE ch:{OFF}
SET ch:__Chunk__
REMOVE ch:{OFF}
"""

# ---------------------------------------------------------------------- a document in several steps
OPEN_DOCUMENT = f"""
{_UNFINISHED}
WITH p
UNWIND $rows AS row
MERGE (d:__Document__ {{project_id: $project_id, id: row.id}})
ON CREATE SET d.chunks = -1, d.source = row.properties.source, d.title = row.properties.title
MERGE (d)-[:IN_PROJECT]->(p)
"""

UNSTAGE = f"""
{_DOCUMENT}
MATCH (d)-[:HAS_CHUNK]->(n)
WHERE n:{STAGED}
WITH n LIMIT $most
DETACH DELETE n
RETURN count(*) AS dropped
"""

STAGE_CHUNKS = f"""
{_DOCUMENT_OF_CHUNK}
CREATE (d)-[:HAS_CHUNK {{run: $run}}]->(n:{STAGED} {{
  project_id: $project_id, id: row.id, project_key: $project_key
}})-[:IN_PROJECT]->(p)
SET n += row.properties
{SET_VECTOR}
"""

# A chunk that stays keeps its node, and with it its place in the knowledge.
ADOPT_STAGED = f"""
{_STAGED_OF}
MATCH (ch:__Chunk__ {{project_id: $project_id, id: s.id}})
  USING INDEX SEEK ch:__Chunk__(project_id, id)
WITH d, s, ch, ch.text <> s.text OR ch.heading <> s.heading AS is_other
SET ch += s {{.text, .heading, .name_words, .ordinal, .start, .end, .first_line, .page_number,
  .defines, .names, .links}}
FOREACH (_ IN CASE WHEN is_other THEN [1] ELSE [] END | {clauses.without_vectors("ch")})
FOREACH (_ IN CASE WHEN s[$vector] IS NULL THEN [] ELSE [1] END | SET ch[$vector] = s[$vector])
MERGE (d)-[r:HAS_CHUNK]->(ch) SET r.run = $run
DETACH DELETE s
"""

REVEAL_STAGED = f"""
{_STAGED_OF}
SET s:__Chunk__
REMOVE s:{STAGED}
"""

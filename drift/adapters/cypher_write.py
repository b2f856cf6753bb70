"""Every Cypher statement of the ingestion: nodes are keyed per project, so that projects may share ids.

Writes are MERGE on constrained keys. Hints name the index and demand a seek in it, because a plan made while the database is
still empty goes through the index over the project alone, or through all of the key's index, for each row. A `run` mark on what a
write touches tells afterwards what is stale.
"""

from __future__ import annotations

# ---------------------------------------------------------------------------------------------- documents
PROJECT_STATE = """
OPTIONAL MATCH (p:__Project__ {id: $project_id})
RETURN coalesce(p.fingerprint, '') AS fingerprint,
  COLLECT {
    MATCH (d:__Document__) USING INDEX SEEK d:__Document__(project_id) WHERE d.project_id = $project_id
    RETURN [d.id, coalesce(d.content_hash, ''), coalesce(d.source, '')]
  } AS documents
"""

READ_CHUNKS = """
MATCH (d:__Document__) USING INDEX SEEK d:__Document__(project_id)
WHERE d.project_id = $project_id
MATCH (d)-[:HAS_CHUNK]->(ch)
WITH DISTINCT d, ch
WHERE ch:__Chunk__ AND ch.project_id = $project_id
WITH ch, min(d.id) AS document_id
RETURN ch.id AS id, document_id, ch.ordinal AS ordinal, ch.heading AS heading, ch.text AS text
ORDER BY document_id, ordinal, id
"""

MARK_UNFINISHED = "MERGE (p:__Project__ {id: $project_id}) SET p.project_id = $project_id, p.fingerprint = ''"

# A document counts as stored when its hash is: it is emptied first and set last, so a broken run is seen by the next.
OPEN_DOCUMENTS = f"""
{MARK_UNFINISHED}
WITH p
UNWIND $rows AS row
MERGE (d:__Document__ {{project_id: $project_id, id: row.id}})
SET d.title = row.title, d.source = row.source, d.content_hash = ''
MERGE (d)-[:IN_PROJECT]->(p)
"""

UPSERT_CHUNKS = """
MATCH (p:__Project__ {id: $project_id})
UNWIND $rows AS row
MATCH (d:__Document__ {project_id: $project_id, id: row.document_id}) USING INDEX SEEK d:__Document__(project_id, id)
MERGE (n:__Chunk__ {project_id: $project_id, id: row.id})
SET n.text = row.text, n.heading = row.heading, n.ordinal = row.ordinal, n.project_key = $project_key
FOREACH (_ IN CASE WHEN row.bare THEN [1] ELSE [] END | REMOVE n.embedding)
MERGE (d)-[r:HAS_CHUNK]->(n) SET r.run = $run
MERGE (n)-[:IN_PROJECT]->(p)
"""

# What the documents no longer hold; a chunk that another document holds only loses the edge.
DROP_STALE_CHUNKS = """
UNWIND $rows AS row
MATCH (d:__Document__ {project_id: $project_id, id: row.id})-[r:HAS_CHUNK]->(ch:__Chunk__)
  USING INDEX SEEK d:__Document__(project_id, id)
WHERE r.run IS NULL OR r.run <> $run
DELETE r
WITH DISTINCT ch
WHERE NOT EXISTS { (ch)<-[:HAS_CHUNK]-() }
DETACH DELETE ch
"""

CLOSE_DOCUMENTS = """
UNWIND $rows AS row
MATCH (d:__Document__ {project_id: $project_id, id: row.id}) USING INDEX SEEK d:__Document__(project_id, id)
SET d.content_hash = row.content_hash
"""

REMOVE_DOCUMENTS = f"""
{MARK_UNFINISHED}
WITH p
UNWIND $rows AS row
MATCH (d:__Document__ {{project_id: $project_id, id: row.id}}) USING INDEX SEEK d:__Document__(project_id, id)
OPTIONAL MATCH (d)-[:HAS_CHUNK]->(ch:__Chunk__)
WITH d, collect(ch) AS chunks
DETACH DELETE d
WITH chunks
UNWIND chunks AS ch
WITH DISTINCT ch
WHERE NOT EXISTS {{ (ch)<-[:HAS_CHUNK]-() }}
DETACH DELETE ch
"""


# ---------------------------------------------------------------------------------------------- knowledge
UPSERT_ENTITIES = """
MATCH (p:__Project__ {id: $project_id})
UNWIND $rows AS row
MERGE (n:__Entity__ {project_id: $project_id, id: row.id})
SET n.title = row.title, n.title_key = row.title_key, n.description = row.description, n.run = $run
FOREACH (_ IN CASE WHEN row.bare THEN [1] ELSE [] END | REMOVE n.embedding)
MERGE (n)-[:IN_PROJECT]->(p)
"""

UPSERT_COMMUNITIES = """
MATCH (p:__Project__ {id: $project_id})
UNWIND $rows AS row
MERGE (n:__Community__ {project_id: $project_id, community: row.id})
SET n.level = row.level, n.title = row.title, n.summary = row.summary, n.run = $run
FOREACH (_ IN CASE WHEN row.bare THEN [1] ELSE [] END | REMOVE n.embedding)
MERGE (n)-[:IN_PROJECT]->(p)
"""

LINK_RELATIONS = """
UNWIND $rows AS row
MATCH (a:__Entity__ {project_id: $project_id, id: row.from}) USING INDEX SEEK a:__Entity__(project_id, id)
MATCH (b:__Entity__ {project_id: $project_id, id: row.to}) USING INDEX SEEK b:__Entity__(project_id, id)
MERGE (a)-[r:RELATED {description: row.description}]->(b)
SET r.weight = row.weight, r.run = $run
"""

FINISH = "MATCH (p:__Project__ {id: $project_id}) SET p.fingerprint = $fingerprint"


def link(source: tuple[str, str], edge: str, target: tuple[str, str]) -> str:
    """Return the statement that merges `edge` between nodes given as (label, key property), from $rows of {from, to}."""
    return f"""
UNWIND $rows AS row
MATCH (a:{source[0]} {{project_id: $project_id, {source[1]}: row.from}}) USING INDEX SEEK a:{source[0]}(project_id, {source[1]})
MATCH (b:{target[0]} {{project_id: $project_id, {target[1]}: row.to}}) USING INDEX SEEK b:{target[0]}(project_id, {target[1]})
MERGE (a)-[r:{edge}]->(b)
SET r.run = $run
"""


def store_vectors(label: str, key: str) -> str:
    """Return the statement that stores $rows of {id, embedding} as 32-bit floats, half the bytes of a list."""
    return f"""
UNWIND $rows AS row
MATCH (n:{label} {{project_id: $project_id, {key}: row.id}}) USING INDEX SEEK n:{label}(project_id, {key})
CALL db.create.setNodeVectorProperty(n, 'embedding', row.embedding)
"""


def drop_stale_nodes(label: str) -> str:
    """Return the statement that removes up to $most nodes that the run did not touch, and counts them."""
    return f"""
MATCH (n:{label}) USING INDEX SEEK n:{label}(project_id)
WHERE n.project_id = $project_id AND (n.run IS NULL OR n.run <> $run)
WITH n LIMIT $most
DETACH DELETE n
RETURN count(*) AS dropped
"""


def drop_stale_edges(label: str, edges: str) -> str:
    """Return the statement that removes up to $most `edges` from nodes of `label` that the run did not touch."""
    return f"""
MATCH (n:{label})-[r:{edges}]->() USING INDEX SEEK n:{label}(project_id)
WHERE n.project_id = $project_id AND (r.run IS NULL OR r.run <> $run)
WITH r LIMIT $most
DELETE r
RETURN count(*) AS dropped
"""

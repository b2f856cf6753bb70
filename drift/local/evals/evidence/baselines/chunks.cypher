MATCH (d:__Document__ {project_id: $project_id})-[:HAS_CHUNK]->(ch:__Chunk__)
WITH ch, min(d.id) AS document
RETURN ch.id AS id, document, ch.text AS text, ch.embedding AS embedding
ORDER BY id

UNWIND $chunkIds AS cid
MATCH (p:__Project__ {id: $projectId})
MATCH (ch:__Chunk__)-[:IN_PROJECT]->(p) WHERE ch.id = cid
// Get entities in this chunk
OPTIONAL MATCH (ch)-[:HAS_ENTITY]->(e:__Entity__)-[:IN_PROJECT]->(p)
// Get related entities and their relationships
OPTIONAL MATCH (e)-[r:RELATED]->(e2:__Entity__)-[:IN_PROJECT]->(p)
// Get neighboring chunks that contain related entities
OPTIONAL MATCH (ch2:__Chunk__)-[:HAS_ENTITY]->(e2)-[:IN_PROJECT]->(p)
WHERE ch2 <> ch
RETURN cid,
       ch.text AS chunk_text,
       collect(DISTINCT {id: e.id, title: e.title, description: e.description}) AS entities,
       collect(DISTINCT {id: e2.id, title: e2.title}) AS related_entities,
       collect(DISTINCT {type: type(r), description: r.description}) AS relationships,
       collect(DISTINCT ch2.id) AS neighbor_chunk_ids;

MATCH (p:__Project__ {id: $projectId})
MATCH (c:__Community__)-[:IN_PROJECT]->(p)
WHERE c.community IN $cids AND c.project_id = $projectId
MATCH (c)<-[:IN_COMMUNITY]-(ch:__Chunk__)-[:IN_PROJECT]->(p)
WITH DISTINCT ch.id AS chunk_id, p
CALL db.index.vector.queryNodes('chunk_idx', 200, $qvec)
YIELD node AS cand, score
WHERE cand.id = chunk_id
RETURN chunk_id, score
ORDER BY score DESC LIMIT 30;

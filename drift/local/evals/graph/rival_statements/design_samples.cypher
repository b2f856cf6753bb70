MATCH (c:__Community__)-[:IN_PROJECT]->(p:__Project__ {id: $projectId})
WHERE c.community IN $communityIds
CALL {
  WITH c, $qvec AS qvec, p
  // Get chunks that belong to this community
  MATCH (c)<-[:IN_COMMUNITY]-(ch:__Chunk__)-[:IN_PROJECT]->(p)
  WITH ch, qvec
  // Vector search within community's chunks
  CALL db.index.vector.queryNodes('chunk_idx', 50, qvec)
  YIELD node AS cand, score
  WHERE cand = ch
  RETURN cand AS chunk, score
  ORDER BY score DESC LIMIT 3
}
RETURN c, collect({chunk: chunk, score: score}) AS top_chunks;

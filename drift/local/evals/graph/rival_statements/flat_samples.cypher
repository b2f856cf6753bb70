MATCH (c:__Community__) WHERE id(c) IN $communityIds
CALL {
  WITH c, $qvec AS qvec
  MATCH (c)<-[:IN_COMMUNITY]-(:Node)-[:FROM_CHUNK]->(ch:__Chunk__) WITH ch, qvec
  CALL db.index.vector.queryNodes('chunk_idx', 50, qvec) YIELD node AS cand, score WHERE cand = ch
  RETURN cand AS chunk, score ORDER BY score DESC LIMIT 3
}
RETURN c, collect({chunk: chunk, score: score}) AS top_chunks;

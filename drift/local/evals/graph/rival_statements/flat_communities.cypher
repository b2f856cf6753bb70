CALL db.index.vector.queryNodes('graphrag_comm_index', $k, $qvec) YIELD node, score
RETURN node, score ORDER BY score DESC;

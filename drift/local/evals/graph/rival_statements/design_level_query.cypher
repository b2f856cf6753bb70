MATCH (p:__Project__ {id: $projectId})
MATCH (c:__Community__)-[:IN_PROJECT]->(p)
WHERE c.level = $level  // Filter by hierarchy level
WITH collect(c) AS candidates, p
CALL db.index.vector.queryNodes($name, $k * 2, $qvec)
YIELD node AS n, score
WHERE n IN candidates
RETURN n AS node, score
ORDER BY score DESC LIMIT $k

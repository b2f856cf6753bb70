CALL db.index.vector.queryNodes('chunkEmbeddings', 30, $qvec) YIELD node, score
MATCH (node)-[:FROM_DOCUMENT]-(doc:Document)
MATCH (doc)<-[:FILED]-(company:Company)
OPTIONAL MATCH (company)-[:FACES_RISK]->(risk:RiskFactor)
RETURN
    node.text AS text,
    score,
    company.name AS company,
    collect(DISTINCT risk.name) AS risks
ORDER BY score DESC

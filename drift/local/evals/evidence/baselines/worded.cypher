CALL db.index.fulltext.queryNodes($index, $terms) YIELD node, score
WHERE node.project_id = $project_id
RETURN node.id AS id, score
ORDER BY score DESC, id
LIMIT $most

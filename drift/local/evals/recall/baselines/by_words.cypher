// No limit before the project is known: another one's passages must not take places.
CALL db.index.fulltext.queryNodes($index, $terms) YIELD node, score
WHERE node.project_id = $project_id
RETURN node.id AS id
ORDER BY score DESC, id
LIMIT $most

MATCH (ch:__Chunk__)
WHERE ch.project_id = $project_id
WITH ch, vector.similarity.cosine(ch.embedding, $vector) AS similarity
ORDER BY similarity DESC, ch.id
LIMIT $most
RETURN ch.id AS id

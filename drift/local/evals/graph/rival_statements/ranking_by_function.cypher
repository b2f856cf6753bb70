MATCH (d:__Chunk__) WITH d, 0.0 AS tfidfScore RETURN d
ORDER BY cosineSimilarity(d.embedding, $queryEmb) DESC, tfidfScore DESC

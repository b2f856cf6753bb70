RETURN node.id AS chunk_id, node.text AS text, score,
  COLLECT {
    MATCH (d:__Document__)-[:HAS_CHUNK]->(node)
    RETURN d.title LIMIT 1
  } AS documents,
  COLLECT {
    MATCH (node)-[:HAS_ENTITY]->(e:__Entity__)
    RETURN e {.title, .description} LIMIT 20
  } AS entities,
  COLLECT {
    MATCH (node)-[:HAS_ENTITY]->(:__Entity__)-[r:RELATED]-(o:__Entity__)
    RETURN [o.title, r.description] LIMIT 20
  } AS relations

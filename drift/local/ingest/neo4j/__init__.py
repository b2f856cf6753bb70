"""Writing to Neo4j: one writer a project, documents whole or not at all."""

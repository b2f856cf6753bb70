"""The graph that is searched, on Neo4j."""

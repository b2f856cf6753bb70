"""DRIFT search over a Neo4j knowledge graph: answers with evidence that was checked."""

__version__ = "0.1.0"

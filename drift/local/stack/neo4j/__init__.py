"""A real Neo4j on this machine: its jars, its Java, its folder, its Browser."""

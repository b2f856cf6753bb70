"""The output of Microsoft GraphRAG as a project: its tables become our records."""

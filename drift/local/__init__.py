"""The local stack: a real Neo4j, a real Valkey and a small model server as child processes, for development and tests.

Nothing here is deployed, and nothing here reads the environment: callers hand in what it says.
"""

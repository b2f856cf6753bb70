"""Servers as child processes, for development and tests. Nothing here reads the environment."""

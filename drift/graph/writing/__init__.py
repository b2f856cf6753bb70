"""Writing a project: under its lease, documents whole or not at all."""

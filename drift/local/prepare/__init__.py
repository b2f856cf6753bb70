"""Making a graph that others wrote searchable."""

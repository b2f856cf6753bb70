"""One document into the graph: its text, its chunks, and one transaction for all of it."""

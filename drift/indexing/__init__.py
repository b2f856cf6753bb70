"""Documents into a project's graph, one by one: text, chunks, vectors, written under a lease."""

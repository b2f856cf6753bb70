"""Evidence by number: sentences of chunks, and what a model cites of them, made verbatim."""

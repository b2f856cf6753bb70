"""Pure: the check of a model's words: sentences, citations, statements, verdict."""

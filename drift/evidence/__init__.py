"""Pure: from a model's words to what holds: sentences, citations, marks, verdict."""

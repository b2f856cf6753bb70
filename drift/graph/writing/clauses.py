"""Clauses that statements of the indexing share."""

from __future__ import annotations

from drift.graph.cypher.expressions import milliseconds

KEYS = {
    "__Document__": "id",
    "__Chunk__": "id",
    "__Entity__": "id",
    "__Community__": "community",
    "__ModelReply__": "key",
}
"""The property that names a node within its project, by label."""


def one(variable: str, label: str, column: str) -> str:
    """Return the clause that finds the project's node whose key stands in a column of `row`."""
    key = KEYS[label]
    return f"""MATCH ({variable}:{label} {{project_id: $project_id, {key}: row.{column}}})
  USING INDEX SEEK {variable}:{label}(project_id, {key})"""


DOCUMENTS = """MATCH (d:__Document__) USING INDEX SEEK d:__Document__(project_id)
WHERE d.project_id = $project_id"""


UPDATED_AT = milliseconds("d.updated_at")
"""When a document last changed, in milliseconds since 1970."""

STAGED = "__StagedChunk__"
"""The label of chunks that no reader sees yet: those of a document too big for one transaction,
until all are there."""
OFF = "__OffChunk__"
"""The label of chunks of documents that are switched off."""

SET_VECTOR = """WITH n, row
WHERE row.embedding IS NOT NULL
CALL db.create.setNodeVectorProperty(n, $vector, row.embedding)"""


def set_mean_vector(name: str) -> str:
    """Return the clause that gives a document `d` the mean of its chunks' vectors, of length 1.

    `name` is the expression of their property. What others wrote may be no vector there, or one
    without a direction.
    """
    return f"""CALL (*) {{
  MATCH (d)-[:HAS_CHUNK]->(ch)
  WITH ch[{name}] AS vector
  WHERE vector IS :: LIST<FLOAT NOT NULL> NOT NULL
  RETURN collect(vector) AS found
}}
WITH *, [v IN found WHERE size(v) = size(found[0])] AS vectors
WHERE size(vectors) > 0
WITH *, [i IN range(0, size(vectors[0]) - 1) | reduce(s = 0.0, v IN vectors | s + v[i])] AS summed
WITH *, sqrt(reduce(s = 0.0, x IN summed | s + x * x)) AS length
WHERE 1.0e-30 < length < 3.4e38
CALL db.create.setNodeVectorProperty(d, {name}, [x IN summed | x / length])"""

"""Vectors of documents that were written without one: by an earlier release, or by others.

A document's vector is the mean of its chunks', so no model is asked.
"""

from __future__ import annotations

from drift.graph.connection import Connection
from drift.graph.writing.clauses import set_mean_vector

_BARE = """MATCH (d:__Document__)
WHERE d[$vector] IS NULL
  AND EXISTS { MATCH (d)-[:HAS_CHUNK]->(ch) WHERE ch[$vector] IS NOT NULL }"""

COUNT_BARE = f"""
{_BARE}
RETURN count(d) AS documents
"""

FILL = f"""
{_BARE}
CALL (d) {{
  SET d:Document
  WITH d
  {set_mean_vector("$vector")}
}} IN TRANSACTIONS OF 50 ROWS
"""


async def fill_documents(connection: Connection, vector: str) -> None:
    """Give the documents of all projects that lack this vector one; errors as for any write."""
    await connection.write_in_batches(FILL, {"vector": vector})

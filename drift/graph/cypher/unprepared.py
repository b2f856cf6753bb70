"""What a graph holds that no search sees: nodes that `prepare` has not met yet.

No request waits for these statements but one that found nothing.
"""

from __future__ import annotations

LABELS = ("__Document__", "__Chunk__", "__Entity__", "__Community__")

HIDDEN = f"""
CALL () {{
  UNWIND $asked.project_ids AS id
  MATCH (p:__Project__ {{id: id}}) USING INDEX SEEK p:__Project__(id)
  MATCH (p)<-[:IN_PROJECT]-(n)
  WITH n LIMIT $most
  WITH n WHERE n.project_id IS NULL AND ({" OR ".join(f"n:{label}" for label in LABELS)})
  RETURN count(n) AS hidden
}}
CALL () {{
  MATCH (c:__Community__) USING INDEX SEEK c:__Community__(project_id)
  WHERE c.project_id = $asked.project_id
  WITH c LIMIT $most
  RETURN count(c) AS communities
}}
RETURN hidden, communities
"""
"""Of one project: nodes that only an edge connects to it, and communities."""

# The server keeps this count.
HIDDEN_V1 = """
MATCH ()-[r:FROM_CHUNK]->()
WITH count(r) AS hidden
RETURN hidden, 0 AS communities
"""
"""The same where the database is the project: edges from entities to nodes without a label."""


def _unseen(label: str) -> str:
    """Return the subquery that counts the nodes of a label without `project_id`.

    The server keeps the count of all, the index has those with the property; so no node is read.
    """
    return f"""CALL () {{
  MATCH (n:{label})
  RETURN count(n) AS all_{label}
}}
CALL (all_{label}) {{
  UNWIND CASE WHEN all_{label} <= $most THEN [1] ELSE [] END AS few
  MATCH (n:{label})
  WHERE n.project_id IS NOT NULL
  RETURN count(n) AS seen_{label}
}}
"""


UNSEEN = f"""
{"".join(map(_unseen, LABELS))}
RETURN {", ".join(f"[all_{label}, seen_{label}] AS {label}" for label in LABELS)}
"""
"""Of the whole graph: how many nodes of each label there are, and how many searches can see."""

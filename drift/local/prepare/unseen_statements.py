"""The nodes of a graph that no search sees, counted over the whole graph."""

from __future__ import annotations

from drift.graph.cypher import legs
from drift.graph.cypher.clauses import OTHERS
from drift.graph.cypher.nearest import comparable, readable
from drift.graph.cypher.schema import Schema
from drift.graph.cypher.unprepared import LABELS


def _unseen(label: str) -> str:
    """Return the subquery that counts a label's nodes without `project_id`, and reads none."""
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


_IS_ZERO = """CASE WHEN embedding IS :: LIST<ANY>
    THEN all(x IN embedding WHERE -1.0e-30 <= x AND x <= 1.0e-30) ELSE false END"""


# What no list of numbers is, is not asked for its length.
def _state(is_readable: str) -> str:
    return f"""CASE
    WHEN NOT {is_readable} THEN 'unread'
    WHEN embedding IS NULL THEN 'bare'
    WHEN {comparable()} THEN 'usable'
    WHEN {_IS_ZERO} THEN 'zero'
    ELSE 'incomparable'
  END"""


def _any_usable(s: Schema, label: str, text: str) -> str:
    return f"""CALL () {{
  MATCH (n:{s.label(label)})
  WITH n LIMIT $looked_at
  WITH n, n.{s.vector} AS embedding
  WITH n, {_state(readable(s, "n", text))} AS state
  RETURN count(n) AS all_{label}, count(CASE WHEN state = 'usable' THEN 1 END) AS usable_{label},
    count(CASE WHEN state = 'bare' THEN 1 END) AS bare_{label},
    count(CASE WHEN state = 'zero' THEN 1 END) AS zero_{label}
}}
"""


def usable(s: Schema) -> str:
    """Return the statement that counts chunks, and what can be searched by the schema's vectors.

    It looks at the first nodes of the whole graph. Beside them it counts those that are neither
    people's own nor a beginning of ours.
    """
    chunks = _any_usable(s, "__Chunk__", s.text)
    return f"""{chunks}{_any_usable(s, "__Community__", s.summary)}{OTHERS}
RETURN all___Chunk__ AS chunks, bare___Chunk__ AS bare, zero___Chunk__ AS zero,
  usable___Chunk__ + usable___Community__ AS usable, others
"""


MADE_BY = f"""
CALL () {{
  MATCH (p:__Project__)
  WHERE p.embedding_models IS NOT NULL
  UNWIND p.embedding_models AS model
  RETURN model, toStringOrNull(p.id) AS project
UNION
  MATCH (n:__DriftNode__|__Node__)
  WITH n LIMIT $looked_at
  WITH n WHERE {legs.is_personal("n")}
  WITH DISTINCT n.embedding_model AS model, n.project_id AS project
  WHERE model IS NOT NULL
  RETURN model, toStringOrNull(project) AS project
}}
WITH model, project ORDER BY project
RETURN model, count(DISTINCT project) AS projects, collect(DISTINCT project)[0..3] AS examples
ORDER BY projects DESC, model
LIMIT 100
"""
"""Of the whole graph: the models that made vectors, as projects and own nodes name them."""

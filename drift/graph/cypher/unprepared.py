"""What a graph holds that no search sees; only a request that found nothing waits for these."""

from __future__ import annotations

from drift.graph.cypher import legs
from drift.graph.cypher.expressions import is_key
from drift.graph.cypher.nearest import comparable, readable
from drift.graph.cypher.schema import Schema

LABELS = ("__Document__", "__Chunk__", "__Entity__", "__Community__")

# The server keeps these counts. What is being ingested for the first time is on its way, and what
# people added themselves is no graph of others.
_OURS = (
    *("__Project__", "__DriftFormat__", "__DriftNode__", "__Document__", "__StagedChunk__"),
    *("__OffChunk__", "__ModelReply__"),
)


def _count(label: str, name: str) -> str:
    return f"CALL () {{ MATCH (n{label}) RETURN count(n) AS {name} }}\n"


_OTHERS = f"""{_count("", "nodes")}{"".join(_count(f":{label}", label) for label in _OURS)}
WITH *, nodes - {" - ".join(_OURS)} AS others
"""

_HIDDEN = f"""
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
  RETURN count(c) AS communities, count(c.summary) AS told, count(c[$vector]) AS embedded
}}
CALL () {{
  UNWIND $asked.project_ids AS id
  WITH id WHERE NOT id IS :: STRING
  MATCH (n:__Chunk__ {{project_id: id}}) USING INDEX SEEK n:__Chunk__(project_id)
  WITH n LIMIT $most
  RETURN count(n) AS untold
}}
{_count(":__Chunk__", "chunks")}{_OTHERS}
RETURN hidden, communities, told, embedded, untold,
  CASE chunks WHEN 0 THEN others ELSE 0 END AS others
"""
"""Of one project: nodes that only an edge connects to it, communities, and chunks whose
`project_id` is no text. Of a graph without any chunk, the nodes that are there instead.
"""


# The server keeps these counts.
def hidden(s: Schema) -> str:
    """Return the same where the database is the project: mentions of nodes, else what is there."""
    if s.has_projects:
        return _HIDDEN
    return f"""
CALL () {{
  MATCH (){s.mentions}() RETURN count(*) AS hidden
}}
{_count("", "nodes")}{_count(":__DriftFormat__", "ours")}
RETURN hidden, nodes - ours AS others, 0 AS communities, 0 AS untold
"""


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


def why_nothing(s: Schema) -> str:
    """Return the statement that counts a project's chunks by what keeps searches from them.

    They are `nameless`, `unread` (no text), `bare` (no embedding), `zero` (no
    direction), `incomparable` or `usable`.
    """
    chunk_id = s.node_id("ch")
    return f"""
MATCH (ch:{s.chunk}){s.seek("ch", "__Chunk__")}
WHERE {s.project_chunk("ch")}
WITH ch LIMIT $most
WITH ch, ch.{s.vector} AS embedding, {chunk_id} IS NULL OR NOT ({is_key(chunk_id)}) AS is_nameless
WITH CASE WHEN is_nameless THEN 'nameless' ELSE {_state(readable(s))} END AS state
RETURN state, count(*) AS nodes
ORDER BY nodes DESC, state
"""


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
    return f"""{chunks}{_any_usable(s, "__Community__", s.summary)}{_OTHERS}
RETURN all___Chunk__ AS chunks, bare___Chunk__ AS bare, zero___Chunk__ AS zero,
  usable___Chunk__ + usable___Community__ AS usable, others
"""


BEHIND = """
MATCH (p:__Project__)
WITH p LIMIT $looked_at
WITH p WHERE p.behind > 0
RETURN count(p) AS projects, sum(p.behind) AS documents
"""
"""Of the first projects: how many documents changed since knowledge was derived, in how many."""

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

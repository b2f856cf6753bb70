"""The primer's statement: the best communities, highest first, with the voters that each holds."""

from __future__ import annotations

from drift.graph.cypher.finding import one_by_id
from drift.graph.cypher.nearest import COSINE, comparable, readable, visible
from drift.graph.cypher.schema import Schema


def primer(s: Schema) -> str:
    """Return the statement that gives the `communities`, and the `models` of all vectors seen.

    It also tells whether a voter `is_embedded`.
    """
    return f"""
{visible(s)}{_best_communities(s)}{_voters(s)}{_held(s)}
RETURN [c IN best | {{
  id: {s.community_id("c")}, level: toIntegerOrNull(c.level), title: c.title,
  summary: c.{s.summary}, members: [h IN held WHERE h.node = c | h.id]
}}] AS communities, made_by,
  [c IN best | c.embedding_model] + [v IN voters | v.ch.embedding_model] AS models,
  any(v IN voters WHERE v.ch.{s.vector} IS NOT NULL) AS is_embedded
"""


# Level numbers mean nothing by themselves (0 is the leaf here and the root there), so the edges
# tell which way is up. A community without a parent is at the top whatever its number.
def _heights(s: Schema) -> str:
    return f"""
CALL (generation) {{
  MATCH (child:{s.community}){s.seek("child", "__Community__")}
  WHERE {s.project_community("child")}
  MATCH (child){s.community_up}(parent)
  WITH DISTINCT child, parent, generation
  WHERE parent:{s.community} AND {s.project_community("parent")}
  WITH sign({_level("parent")} - {_level("child")}) AS step
  LIMIT 60
  RETURN count(*) > 0 AS linked, CASE WHEN sum(step) < 0 THEN -1 ELSE 1 END AS upwards
}}
CALL (linked, upwards, generation) {{
  MATCH (c:{s.community}){s.seek("c", "__Community__")}
  WHERE {s.project_community("c")}
  WITH c, CASE
    WHEN linked AND COUNT {{ (c){s.community_up}() }} = 0 THEN 1.0e300
    ELSE upwards * {_level("c")}
  END AS height
  ORDER BY height DESC
  RETURN collect(c) AS known, collect(height) AS heights
}}
"""


# The floor is the height of the ceil(k/2)-th highest community: that many candidates at least, and
# none from below the level that completes them. Only vectors that may decide are read: they are
# most of what a community costs.
def _best_communities(s: Schema) -> str:
    usable = f"{comparable(f'known[i].{s.vector}')} AND {readable(s, 'known[i]', s.summary)}"
    return f"""{_heights(s)}CALL (known, heights) {{
  WITH known, heights,
    [i IN range(0, $first_looked_at - 1) WHERE i < size(known) AND {usable}] AS first
  WITH known, heights, CASE
    WHEN size(first) >= $enough OR size(known) <= $first_looked_at THEN first
    ELSE [i IN range(0, size(known) - 1) WHERE {usable}]
  END AS usable
  RETURN CASE
    WHEN size(usable) = 0 THEN 1.0e301
    ELSE heights[usable[CASE WHEN size(usable) < $enough THEN size(usable) ELSE $enough END - 1]]
  END AS floor
}}
CALL (known, heights, floor) {{
  UNWIND range(0, size(known) - 1) AS i
  WITH known[i] AS c, heights[i] AS height, floor
  WHERE height >= floor
  WITH c, height, c.{s.vector} AS embedding
  WHERE {comparable()} AND {readable(s, "c", s.summary)}
  WITH c, height, {COSINE} AS score
  ORDER BY height DESC, score DESC, {s.community_id("c")}
  LIMIT $top_k
  RETURN collect(c) AS best
}}
"""


def _level(c: str) -> str:
    """Return a community's level as a number that can be compared, 0 where it has none."""
    number = f"toFloatOrNull({c}.level)"
    return f"CASE WHEN abs({number}) < 1.0e300 THEN {number} ELSE 0.0 END"


# The question's best chunks, as far as they are still there.
def _voters(s: Schema) -> str:
    return f"""
CALL () {{
  UNWIND $asked.voters AS asked
  CALL (asked) {{
    {one_by_id(s, "ch", "__Chunk__", "asked")}
  }}
  RETURN collect({{id: asked.id, ch: ch}}) AS voters
}}
"""


# Communities are followed upwards once for all their chunks, and to each higher one once
# (DISTINCT), for where communities are below each other there are countless ways.
def _held(s: Schema) -> str:
    return f"""
CALL (best, voters) {{
  UNWIND voters AS voter
  WITH best, voter.id AS id, voter.ch AS ch
  MATCH (ch){s.member_of}(direct:{s.community})
  WITH best, direct, collect(DISTINCT id) AS ids
  CALL (direct) {{
    MATCH (direct){s.any_above}(c)
    RETURN DISTINCT c
  }}
  WITH c, ids, best
  WHERE c IN best
  UNWIND ids AS id
  RETURN collect({{node: c, id: id}}) AS held
}}
"""

"""The primer's statement: the best communities, highest first, with samples; else chunks."""

from __future__ import annotations

from drift.graph.cypher.nearest import (
    COSINE,
    comparable,
    count,
    every_chunk,
    readable,
    scored,
    shown,
    visible,
)
from drift.graph.cypher.schema import Schema


def primer(s: Schema, hits: str) -> str:
    """Return the statement; `hits` is the body that asks a big project's index."""
    return f"""
{visible(s)}{_best_communities(s)}{count(s)}{_ranked(s, hits)}{_communities(s)}
CALL (best, ranked) {{
  UNWIND CASE WHEN size(best) = 0 THEN ranked[0..$most_rescored] ELSE [] END AS ch
  {scored(s)}
  ORDER BY similarity DESC, {s.node_id("ch")}
  LIMIT $spare_chunks
  {shown(s, "chunks")}
}}
RETURN communities, chunks, made_by
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
  RETURN collect({{node: c, score: score}}) AS best
}}
"""


def _level(c: str) -> str:
    """Return a community's level as a number that can be compared, 0 where it has none."""
    number = f"toFloatOrNull({c}.level)"
    return f"CASE WHEN abs({number}) < 1.0e300 THEN {number} ELSE 0.0 END"


# The project's chunks, the nearest first: all of a small project, the first ones of an index for a
# big one. The index's own order is good enough to choose from; what is shown is scored exactly.
def _ranked(s: Schema, hits: str) -> str:
    return f"""
CALL (chunk_count) {{
  CALL (chunk_count) {{
    UNWIND CASE WHEN chunk_count > $exact_limit THEN [1] ELSE [] END AS indexed
    CALL () {{{hits}}}
    RETURN hits
  UNION ALL
    UNWIND CASE WHEN chunk_count <= $exact_limit THEN [1] ELSE [] END AS exact
    RETURN [] AS hits
  }}
  CALL (hits) {{
    WITH hits WHERE size(hits) >= $pool
    RETURN [ch IN hits WHERE {readable(s)}] AS ranked
  UNION ALL
    UNWIND CASE WHEN size(hits) < $pool THEN [1] ELSE [] END AS few
    CALL () {{
      {every_chunk(s)}
      {scored(s)}
      ORDER BY similarity DESC, {s.node_id("ch")}
      RETURN collect(ch) AS ranked
    }}
    RETURN ranked
  }}
  RETURN ranked
}}
"""


# Communities are followed upwards once for all their chunks, and to each higher one once
# (DISTINCT), for where communities are below each other there are countless ways. A community
# without enough of the ranked chunks shows the best of a few of its own.
def _communities(s: Schema) -> str:
    return f"""
CALL (best, ranked) {{
  WITH ranked, [b IN best | b.node] AS tops
  UNWIND CASE WHEN size(tops) > 0 THEN range(0, size(ranked) - 1) ELSE [] END AS place
  WITH tops, place, ranked[place] AS ch
  MATCH (ch){s.member_of}(direct:{s.community})
  WITH tops, direct, collect(DISTINCT place) AS places
  CALL (direct) {{
    MATCH (direct){s.any_above}(c)
    RETURN DISTINCT c
  }}
  WITH tops, places, c
  WHERE c IN tops
  UNWIND places AS place
  WITH c, place
  ORDER BY place
  WITH c, collect(DISTINCT place) AS places
  RETURN collect({{node: c, places: places[0..$most_rescored]}}) AS held
}}
CALL (best, ranked, held, chunk_count) {{
  UNWIND best AS chosen
  WITH ranked, chunk_count, chosen.node AS c, chosen.score AS score,
    coalesce(head([h IN held WHERE h.node = chosen.node | h.places]), []) AS places
  {_samples(s)}
  RETURN collect({{
    id: {s.community_id("c")}, level: toIntegerOrNull(c.level), title: c.title,
    summary: c.{s.summary}, score: score, samples: samples, model: c.embedding_model
  }}) AS communities
}}
"""


def _samples(s: Schema) -> str:
    return f"""
  CALL (c, ranked, places, chunk_count) {{
    CALL (c, ranked, places, chunk_count) {{
      UNWIND places AS place
      RETURN ranked[place] AS ch
    UNION ALL
      UNWIND CASE
        WHEN size(places) < $samples AND chunk_count > $exact_limit THEN [c] ELSE []
      END AS top
      MATCH (top){s.below}(ch)
      WITH DISTINCT ch
      WHERE {s.project_chunk("ch")}
      RETURN ch LIMIT $spare_samples
    }}
    WITH DISTINCT ch
    {scored(s)}
    ORDER BY similarity DESC, {s.node_id("ch")}
    LIMIT $samples
    {shown(s, "samples")}
  }}
"""

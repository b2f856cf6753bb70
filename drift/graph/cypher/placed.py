"""What stands at the place that a follow-up asks about.

The edges of the documents that the best candidates are from, numbered parts by their headings, and
what stands beside a chunk. Each leg begins with an UNWIND over what was asked, so that a question
about no place runs none of it.
"""

from __future__ import annotations

from drift.graph.cypher.nearest import readable, still_there, told
from drift.graph.cypher.schema import Schema
from drift.graph.cypher.walk import in_scope


def placed(s: Schema) -> str:
    """Return the subqueries that give `placed`: a row with `why`, `anchor` and `step` for each."""
    return f"""{_homes(s)}{_edges(s)}{_parts(s)}{_anchors(s)}{_beside(s)}
CALL (at_edges, at_parts, beside, generation, hard) {{
  UNWIND at_edges + at_parts + beside AS row
  WITH row, row.ch AS ch, generation, hard
  WHERE NOT hard OR {in_scope(s)}
  WITH ch, {{{told(s)}, why: row.why, anchor: row.anchor, step: row.step}} AS row
  RETURN collect(CASE WHEN {still_there()} THEN row END) AS placed
}}
"""


def _home(s: Schema) -> str:
    """Return the subquery that gives the document `home` of `ch`: the one it is named after."""
    return f"""CALL (ch) {{
    {s.document}
    RETURN d AS home ORDER BY coalesce(title, id) LIMIT 1
  }}"""


# Those of the likeliest candidates, whose order here is the one by reciprocal ranks.
def _homes(s: Schema) -> str:
    return f"""
CALL (chosen) {{
  WITH CASE WHEN $asked.edge <> '' OR $asked.part_terms <> '' THEN chosen[0..$rooted] ELSE []
    END AS best
  UNWIND range(0, size(best) - 1) AS place
  WITH place, best[place] AS ch
  {_home(s)}
  WITH home, sum(1.0 / (1 + place)) AS votes
  ORDER BY votes DESC
  RETURN collect(home) AS homes
}}
"""


# What stands outside a mark, a licence most often, is not the text's beginning or end.
def _edges(s: Schema) -> str:
    ordinal = s.ordinal("ch")
    return f"""
CALL (homes) {{
  UNWIND CASE WHEN $asked.edge <> '' AND $asked.part_terms = '' THEN homes[0..$most_homes] ELSE []
    END AS home
  CALL (home) {{
    MATCH (home){s.holds}(ch)
    WITH DISTINCT ch
    WHERE {s.project_chunk("ch")} AND {readable()}
    WITH ch, CASE $asked.edge WHEN 'end' THEN -{ordinal} ELSE {ordinal} END AS inwards
    WHERE inwards IS NOT NULL
    WITH ch ORDER BY inwards LIMIT $outermost
    RETURN collect(ch) AS outer
  }}
  WITH outer, coalesce(last([
    place IN range(0, size(outer) - 1)
    WHERE any(mark IN $asked.marks WHERE outer[place].text CONTAINS mark)
  ]), 0) AS first
  UNWIND range(first, first + $most_beside - 1) AS place
  WITH outer[place] AS ch, place - first AS inside
  WHERE ch IS NOT NULL
  RETURN collect({{
    ch: ch, why: $asked.edge, anchor: '',
    step: CASE $asked.edge WHEN 'end' THEN -inside ELSE inside END
  }}) AS at_edges
}}
"""


# The phrase finds few chunks; of these only the ones with a line that begins with it are sent.
def _parts(s: Schema) -> str:
    heading = "CASE WHEN ch.heading IS :: STRING NOT NULL THEN ch.heading ELSE '' END"
    return f"""
CALL (homes) {{
  UNWIND CASE WHEN $asked.part_terms = '' THEN [] ELSE [$asked.part_terms] END AS terms
  CALL db.index.fulltext.queryNodes($fulltext_index, terms, {{limit: $part_pool}}) YIELD node AS ch
  WITH ch, homes
  WHERE {s.project_chunk("ch")} AND {readable()}
    AND (ch.text =~ $asked.part_line OR {heading} =~ $asked.part_line)
  {_home(s)}
  WITH ch, head([place IN range(0, size(homes) - 1) WHERE homes[place] = home]) AS nearness
  ORDER BY coalesce(nearness, size(homes)), {s.ordinal("ch")}, {s.chunk_id("ch")}
  LIMIT $most_parts
  RETURN collect({{ch: ch, why: 'part', anchor: {s.chunk_id("ch")}, step: 0}}) AS at_parts
}}
"""


def _anchors(s: Schema) -> str:
    return f"""
CALL (chosen, at_parts) {{
  CALL (chosen, at_parts) {{
    UNWIND $asked.beside AS wish
    MATCH (ch:__Chunk__){s.seek("ch", "__Chunk__", "id")}
    WHERE {s.project_chunk("ch")} AND {s.chunk_id("ch")} IN wish.ids
    RETURN ch, wish.direction AS direction, 'beside' AS why
  UNION ALL
    UNWIND CASE WHEN $asked.side = '' THEN [] ELSE chosen[0..$most_events] END AS ch
    RETURN ch, $asked.side AS direction, 'event' AS why
  UNION ALL
    UNWIND at_parts AS row
    UNWIND ['before', 'after'] AS direction
    RETURN row.ch AS ch, direction, 'part' AS why
  }}
  RETURN collect({{ch: ch, direction: direction, why: why}}) AS anchors
}}
"""


def _beside(s: Schema) -> str:
    return f"""
CALL (anchors) {{
  UNWIND anchors AS asked
  WITH asked, asked.ch AS ch
  {_home(s)}
  WITH asked, home, {s.chunk_id("ch")} AS anchor, {s.ordinal("ch")} AS here,
    CASE asked.direction WHEN 'after' THEN 1 ELSE -1 END AS sign
  CALL (home, here, sign) {{
    MATCH (home){s.holds}(ch)
    WITH DISTINCT ch, here, sign
    WHERE {s.project_chunk("ch")} AND {readable()}
    WITH ch, sign * ({s.ordinal("ch")} - here) AS distance
    WHERE distance > 0
    WITH ch ORDER BY distance LIMIT $most_beside
    RETURN collect(ch) AS beyond
  }}
  UNWIND range(0, size(beyond) - 1) AS place
  RETURN collect({{
    ch: beyond[place], why: asked.why, anchor: anchor, step: sign * (place + 1)
  }}) AS beside
}}
"""

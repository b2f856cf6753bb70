"""The chunks at a position of a document: its first or last ones, or those beside a chunk."""

from __future__ import annotations

from drift.graph.cypher.followup import picked
from drift.graph.cypher.nearest import readable, still_there, told, visible
from drift.graph.cypher.schema import Schema
from drift.graph.cypher.walk import in_scope


# What stands outside a mark, a licence most often, is not the text's beginning or end.
def positions(s: Schema) -> str:
    """Return the statement that gives `pinned`: the chunks of each wish, the nearest first.

    A wish has the `ids` of a chunk, a `direction` seen from it or the edge of its document, and the
    `marks` that part the text of an electronic edition from the words around it.
    """
    ordinal = s.ordinal("ch")
    return f"""
{visible(s)}{picked(s)}
CALL () {{
  UNWIND range(0, size($asked.wishes) - 1) AS number
  WITH number, $asked.wishes[number] AS wish
  MATCH (ch:__Chunk__){s.seek("ch", "__Chunk__", "id")}
  WHERE {s.project_chunk("ch")} AND {s.chunk_id("ch")} IN wish.ids
  RETURN collect({{number: number, wish: wish, ch: ch}}) AS anchors
}}
CALL (anchors) {{
  UNWIND anchors AS anchor
  WITH anchor.number AS number, anchor.wish AS wish, anchor.ch AS ch
  CALL (ch) {{
    {s.document}
    RETURN d AS home ORDER BY coalesce(title, id) LIMIT 1
  }}
  WITH number, wish, home, {ordinal} AS here
  CALL (wish, home, here) {{
    MATCH (home){s.holds}(ch)
    WITH DISTINCT ch, wish, here
    WHERE {s.project_chunk("ch")} AND {readable()}
    WITH ch, wish.direction IN ['before', 'after'] AS is_beside, CASE wish.direction
      WHEN 'before' THEN here - {ordinal}
      WHEN 'after' THEN {ordinal} - here
      WHEN 'end' THEN -{ordinal}
      ELSE {ordinal}
    END AS distance
    WHERE distance > 0 OR NOT is_beside AND distance IS NOT NULL
    WITH ch ORDER BY distance LIMIT $outermost
    RETURN collect(ch) AS outer
  }}
  WITH number, outer, coalesce(last([
    place IN range(0, size(outer) - 1)
    WHERE any(mark IN wish.marks WHERE outer[place].text CONTAINS mark)
  ]), 0) AS first
  UNWIND range(first, first + $most_pinned - 1) AS place
  WITH number, outer[place] AS ch, place
  WHERE ch IS NOT NULL
  RETURN collect({{ch: ch, number: number, place: place}}) AS found
}}
CALL (found, generation, hard) {{
  UNWIND found AS row
  WITH row, row.ch AS ch, generation, hard
  WHERE NOT hard OR {in_scope(s)}
  WITH ch, row.number AS number, row.place AS place, {{{told(s)}}} AS pin
  ORDER BY number, place
  RETURN collect(CASE WHEN {still_there()} THEN pin END) AS pinned
}}
RETURN pinned
"""

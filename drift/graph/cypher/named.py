"""The statement that searches whole documents: those that a question calls by their titles."""

from __future__ import annotations

from drift.graph.cypher.followup import picked
from drift.graph.cypher.nearest import scored, still_there, told, visible
from drift.graph.cypher.schema import Schema
from drift.graph.cypher.walk import in_scope


def named(s: Schema) -> str:
    """Return the statement that gives the `named`: the nearest chunks of the anchors' documents."""
    return f"""
{visible(s)}{picked(s)}
CALL () {{
  MATCH (ch:__Chunk__){s.seek("ch", "__Chunk__", "id")}
  WHERE {s.project_chunk("ch")} AND {s.chunk_id("ch")} IN $asked.anchors
  RETURN collect(ch) AS anchors
}}
CALL (anchors, generation, hard) {{
  CALL (anchors) {{
    UNWIND anchors AS ch
    CALL (ch) {{
      {s.document}
      RETURN d AS home ORDER BY coalesce(title, id) LIMIT 1
    }}
    RETURN DISTINCT home
  }}
  MATCH (home){s.holds}(ch)
  WITH DISTINCT ch, generation, hard
  WHERE {s.project_chunk("ch")} AND (NOT hard OR {in_scope(s)})
  {scored(s)}
  ORDER BY similarity DESC, {s.chunk_id("ch")}
  LIMIT $most_of_named
  WITH ch, similarity, {{{told(s)}, similarity: similarity, bm25: 0.0, graph: 0.0, in_scope: true}}
    AS row
  RETURN collect(CASE WHEN {still_there()} THEN row END) AS named
}}
RETURN named
"""

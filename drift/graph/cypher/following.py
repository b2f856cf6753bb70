"""What stands behind a short hit: a heading, a question or a caption says little by itself."""

from __future__ import annotations

from drift.graph.cypher.nearest import readable, still_there, told
from drift.graph.cypher.schema import Schema
from drift.graph.cypher.walk import in_scope


# Each document is gone through once, however many of its chunks are short.
def following(s: Schema) -> str:
    """Return the subquery that gives `following`: the chunk behind each short one of the likeliest.

    `place` is that of the short one among the candidates.
    """
    return f"""
CALL (chosen, generation, hard) {{
  CALL (chosen) {{
    UNWIND range(0, size(chosen[0..$most_followed]) - 1) AS place
    WITH place, chosen[place] AS ch
    WITH place, ch, {s.ordinal("ch")} AS here
    WHERE 0 <= here < $most_chunks
      AND CASE WHEN ch.text IS :: STRING NOT NULL THEN size(ch.text) < $short ELSE false END
    CALL (ch) {{
      {s.document}
      RETURN d AS home ORDER BY coalesce(title, id) LIMIT 1
    }}
    RETURN home, collect({{place: place, ordinal: here + 1}}) AS wanted
  }}
  MATCH (home){s.holds}(ch)
  WITH DISTINCT ch, wanted, generation, hard, {s.ordinal("ch")} AS ordinal
  UNWIND [one IN wanted WHERE one.ordinal = ordinal | one.place] AS place
  WITH ch, place, generation, hard
  WHERE {s.project_chunk("ch")} AND {readable()} AND (NOT hard OR {in_scope(s)})
  WITH ch, place, {{{told(s)}}} AS row ORDER BY place, {s.chunk_id("ch")}
  RETURN collect(CASE WHEN {still_there()} THEN {{place: place, chunk: row}} END) AS following
}}
"""

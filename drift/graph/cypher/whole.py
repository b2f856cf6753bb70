"""The statement of a question about the whole: every topic's summary, and its nearest chunks."""

from __future__ import annotations

from drift.graph.cypher.nearest import (
    COSINE,
    comparable,
    readable,
    scored,
    still_there,
    told,
    visible,
)
from drift.graph.cypher.schema import Schema


# The lowest communities hold the chunks, whatever the numbers of their levels are.
def whole(s: Schema) -> str:
    """Return the statement that gives the `topics`, and of how many `known` ones they are."""
    return f"""
{visible(s)}
CALL (generation) {{
  MATCH (c:{s.community}){s.seek("c", "__Community__")}
  WHERE {s.project_community("c")}
  WITH c, generation LIMIT $most_known
  WITH c, c.{s.vector} AS embedding
  WHERE {comparable()} AND {readable(s, "c", s.summary)}
    AND NOT EXISTS {{ MATCH (b){s.community_up}(c) WHERE b:{s.community} }}
  WITH c, {COSINE} AS score
  ORDER BY score DESC, {s.community_id("c")}
  WITH collect(c) AS found
  RETURN found[0..$most_topics] AS topics, size(found) AS known
}}
CALL (topics) {{
  UNWIND topics AS c
  CALL (c) {{
    MATCH (c){s.below}(ch)
    WITH DISTINCT ch
    WHERE {s.project_chunk("ch")}
    WITH ch LIMIT $compared_of_topic
    RETURN collect(ch) AS members
  }}
  CALL (members) {{
    UNWIND members AS ch
    {scored(s)}
    ORDER BY similarity DESC, {s.node_id("ch")}
    LIMIT $passages_of_topic
    WITH ch, {{{told(s)}, score: similarity}} AS row
    RETURN collect(CASE WHEN {still_there(s)} THEN row END) AS samples
  }}
  RETURN collect({{
    id: {s.community_id("c")}, level: toIntegerOrNull(c.level), title: c.title,
    summary: c.{s.summary}, samples: samples,
    members: [ch IN members | {s.node_id("ch")}]
  }}) AS communities
}}
RETURN communities, known
"""

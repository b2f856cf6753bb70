"""The statement of topics: the communities that hold a question's best chunks."""

from __future__ import annotations

from drift.graph.cypher.nearest import readable, visible
from drift.graph.cypher.schema import Schema


# A vote counts 1 / (10 + rank). A topic without a vector does not say what is in it.
def topics(s: Schema) -> str:
    """Return the statement that gives the topics voted for, and the group above each."""
    return f"""
{visible(s)}
CALL (generation) {{
  UNWIND range(0, size($asked.voters) - 1) AS rank
  WITH rank, $asked.voters[rank] AS voter, generation
  MATCH (ch:__Chunk__ {{project_id: $asked.project_id, id: voter}}){s.seek("ch", "__Chunk__", "id")}
  MATCH (ch){s.member_of}(c:__Community__)
  WHERE {s.project_community("c")} AND c.embedding IS NOT NULL AND {readable("c", "summary")}
  WITH c, rank, voter, generation ORDER BY rank
  WITH c, sum(1.0 / (10 + rank)) AS votes, collect(voter)[0..$samples] AS samples, generation
  ORDER BY votes DESC, {s.community_id("c")}
  LIMIT $most_topics
  CALL (c, generation) {{
    OPTIONAL MATCH (c)-[:IN_COMMUNITY]->(g:__Community__)
    WHERE {s.project_community("g")} AND g.embedding IS NOT NULL AND {readable("g", "summary")}
    RETURN g LIMIT 1
  }}
  RETURN collect({{
    id: {s.community_id("c")}, level: toIntegerOrNull(c.level), summary: c.summary, score: votes,
    samples: samples, above: CASE WHEN g IS NOT NULL THEN {{
      id: {s.community_id("g")}, level: toIntegerOrNull(g.level), summary: g.summary
    }} END
  }}) AS topics
}}
RETURN topics, made_by
"""

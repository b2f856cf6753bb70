"""The statement that finds whole documents: by their vectors, and where those tie by words."""

from __future__ import annotations

from drift.graph.cypher.legs import Leg
from drift.graph.cypher.nearest import scored, threshold, told
from drift.graph.cypher.node_search import nearest_of
from drift.graph.cypher.schema import DEFAULT, Schema


def nearest_documents(leg: Leg, s: Schema = DEFAULT) -> str:
    """Return the statement of the nearest documents, each with the chunk of it that is nearest.

    Its one row says what was measured of the project too, null where there is none. Vectors have
    about seven digits, so six of a cosine are compared.
    """
    language = "CYPHER 25\n" if leg.searches else ""
    return f"""{language}
CALL () {{
  {s.visible}
}}
CALL () {{
  {threshold(s)}
}}
CALL (generation) {{
  CALL (generation) {{
{nearest_of(leg, s)}
  }}
  RETURN collect({{d: n, similarity: similarity}}) AS near
}}
CALL () {{
  UNWIND CASE WHEN $asked.lucene = '' THEN [] ELSE [$asked.lucene] END AS terms
  CALL db.index.fulltext.queryNodes($fulltext_index, terms, {{limit: $text_pool}})
    YIELD node AS ch, score
  WITH ch, score
  WHERE {s.project_chunk("ch")}
  MATCH (ch)<-[:HAS_CHUNK]-(d)
  WITH d, max(score) AS words
  RETURN collect({{d: d, words: words}}) AS worded
}}
CALL (near, worded) {{
  UNWIND near AS one
  WITH one.d AS d, one.similarity AS similarity,
    coalesce(head([w IN worded WHERE w.d = one.d | w.words]), 0.0) AS words
  ORDER BY round(similarity, 6) DESC, words DESC, toString(d.id)
  LIMIT $most
  CALL (d) {{
    MATCH (d)-[:HAS_CHUNK]->(ch)
    WHERE {s.project_chunk("ch")}
    {scored(s)}
    ORDER BY similarity DESC, {s.node_id("ch")}
    LIMIT 1
    RETURN collect({{{told(s)}, score: similarity}}) AS best
  }}
  RETURN collect({{
    id: toString(d.id), title: {s.document_title("d")}, similarity: similarity, best: best
  }}) AS documents
}}
RETURN threshold AS project, made_by, documents
"""


def passages_saying(s: Schema = DEFAULT) -> str:
    """Return the statement of passages, of any project, whose words are nearest to a text's.

    Those of the project's documents that are off are looked at too.
    """
    return f"""
CALL () {{
  CALL db.index.fulltext.queryNodes($fulltext_index, $terms, {{limit: 50}}) YIELD node AS ch
  RETURN ch
UNION
  MATCH (d:__Document__){s.seek("d", "__Document__")}
  WHERE d.project_id = $project_id AND d.is_off
  MATCH (d)-[:HAS_CHUNK]->(ch)
  RETURN ch LIMIT 5000
}}
RETURN coalesce(ch.project_id, $project_id) AS project, toStringOrNull({s.node_id("ch")}) AS id,
  ch:__OffChunk__ AS is_off, ch.{s.text} AS text,
  any(name IN keys(ch) WHERE name STARTS WITH '{s.vector}') AS has_vector
"""

"""The statements of what a project holds as a whole, each one round trip and bounded."""

from __future__ import annotations

from drift.graph.cypher.finding import finding, is_whole
from drift.graph.cypher.nearest import listed_document, visible
from drift.graph.cypher.said import behind
from drift.graph.cypher.schema import DEFAULT, Schema


def overview(s: Schema = DEFAULT) -> str:
    """Return the statement that counts what the project holds."""
    return f"""
{visible(s)}
CALL () {{
  {finding(s).history}
}}
CALL () {{
  {finding(s).counts}
}}
CALL () {{
  {_questions(s)}
}}
RETURN documents, chunks, entities, communities, models, written_at, questions
"""


# A question says what its chunk says, so it is told to who may read that, while it is there.
def _questions(s: Schema) -> str:
    """Return the body that gives the project's questions to begin with, in their order."""
    if not s.has_projects:
        return "RETURN [] AS questions"
    return f"""OPTIONAL MATCH (p:__Project__ {{id: $asked.project_id}})
  WITH CASE WHEN p.questions IS :: LIST<STRING NOT NULL> NOT NULL THEN p.questions ELSE [] END
    AS stored
  UNWIND range(0, size(stored) - 1) AS place
  WITH place, split(stored[place], '\n') AS parts
  MATCH (ch:__Chunk__){s.seek("ch", "__Chunk__", "id")}
  WHERE {s.project_chunk("ch")} AND ch.id = parts[0] AND size(parts) = 2
  WITH place, parts[1] AS question ORDER BY place LIMIT $most_questions
  RETURN collect(question) AS questions"""


def about(s: Schema = DEFAULT) -> str:
    """Return the statement of what the project knows of itself."""
    return f"""
{visible(s)}
CALL () {{
  {finding(s).counts}
}}
CALL () {{
  CALL () {{
    {finding(s).documents}
  }}
  WITH d, key ORDER BY key LIMIT $most_named
  RETURN collect({{{listed_document(s)}}}) AS named
}}
CALL () {{
  {_kinds(s)}
}}
CALL () {{
  {behind(s)}
}}
RETURN documents, chunks, entities, communities, named, kinds, behind
"""


def largest(s: Schema = DEFAULT) -> str:
    """Return the statement of the largest communities that are in no other.

    What is directly in them counts, and in those right below.
    """
    return f"""
{visible(s)}
CALL (generation) {{
  {finding(s).communities}
}}
WITH c, key, generation
WHERE NOT EXISTS {{
  MATCH (c){s.community_up}(p)
  WHERE p:{s.community} AND {s.project_community("p")}
}}
WITH c, key, {s.inside("c")} + reduce(
  below = 0,
  size IN COLLECT {{
    MATCH (b){s.community_up}(c) WHERE b:{s.community}
    RETURN {s.inside("b")}
  }} | below + size
) AS members
ORDER BY members DESC, key LIMIT $most_told
RETURN c.title AS title, c.{s.summary} AS summary
"""


# The id of a document is its path below what was ingested, or its address.
def _kinds(s: Schema) -> str:
    """Return the body that counts documents by the first folder and the ending of their ids."""
    if not s.has_projects:
        return "RETURN [] AS kinds"
    return f"""MATCH (d:__Document__){s.seek("d", "__Document__")}
  WHERE {s.project_document("d")} AND {is_whole("d")}
  WITH coalesce(toStringOrNull(d.id), '') AS id
  WITH split(id, '/') AS path, id CONTAINS '://' AS is_address
  WITH CASE WHEN is_address THEN path[2] WHEN size(path) > 1 THEN path[0] ELSE '' END AS folder,
    CASE WHEN is_address THEN [] ELSE split(last(path), '.') END AS name
  WITH folder, CASE WHEN size(name) > 1 THEN toLower(last(name)) ELSE '' END AS ending
  WITH folder, ending, count(*) AS documents
  ORDER BY documents DESC, folder, ending
  LIMIT $most_kinds
  RETURN collect([folder, ending, documents]) AS kinds"""

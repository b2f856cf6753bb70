"""The statements of what is read outside of a search, each one round trip and bounded.

A list begins behind the keys of the last row of the page before, so that every page costs the same.
"""

from __future__ import annotations

from drift.graph.cypher.finding import finding
from drift.graph.cypher.nearest import (
    listed_document,
    of_document,
    readable,
    still_there,
    visible,
)
from drift.graph.cypher.said import said
from drift.graph.cypher.schema import DEFAULT, Schema

# A range of ids is asked for as one, so nothing beside it is looked at. Projects that no node
# stands for are found by their chunks, where the caller names them.
PROJECTS = f"""
UNWIND $asked.ranges AS span
CALL (span) {{
  MATCH (p:__Project__) USING INDEX SEEK p:__Project__(id)
  WHERE p.id >= span.first AND p.id < span.end
  RETURN p.id AS id ORDER BY id LIMIT $limit
UNION
  WITH span
  WHERE span.only IS NOT NULL
  MATCH (ch:__Chunk__){DEFAULT.seek("ch", "__Chunk__")}
  WHERE ch.project_id = span.only
  RETURN ch.project_id AS id LIMIT 1
}}
RETURN id ORDER BY id LIMIT $limit
"""


def version(s: Schema = DEFAULT) -> str:
    """Return the statement that tells one state of the project from another, where one is known."""
    return f"""
{finding(s).version}
"""


def _community(s: Schema) -> str:
    return f"""id: {s.community_id("c")}, level: toIntegerOrNull(c.level), title: c.title,
    summary: c.{s.summary}"""


def documents(s: Schema = DEFAULT) -> str:
    """Return the statement of a page of documents."""
    return f"""
CALL () {{
  {finding(s).documents}
}}
WITH d, key ORDER BY key LIMIT $limit
RETURN key, {{{listed_document(s)}, said: {said(s)}}} AS document
ORDER BY key
"""


def communities(s: Schema = DEFAULT) -> str:
    """Return the statement of a page of communities, of one level or of all."""
    return f"""
{visible(s)}
CALL (generation) {{
  {finding(s).communities}
}}
WITH c, key, generation ORDER BY key LIMIT $limit
RETURN key, {{
  {_community(s)}, members: {s.inside("c")},
  parents: COLLECT {{
    MATCH (c){s.community_up}(p)
    WITH DISTINCT p
    WHERE p:{s.community} AND {s.project_community("p")}
    RETURN {s.community_id("p")} LIMIT $most_parents
  }}
}} AS community
ORDER BY key
"""


def _standing(s: Schema) -> str:
    return f"""id: {s.node_id("ch")}, ordinal: {s.ordinal("ch")},
      heading: CASE WHEN ch.heading IS :: STRING THEN ch.heading END"""


# Chunks without a place stand behind the others.
def document(s: Schema = DEFAULT) -> str:
    """Return the statement of a document, with a page of its chunks in their order."""
    original = "[d.key, d.content_hash]" if s.has_projects else "null"
    return f"""
CALL () {{
  {finding(s).document}
}}
CALL (d) {{
  MATCH (d){s.holds}(ch)
  WITH DISTINCT ch
  WHERE {s.project_chunk("ch")} AND {readable(s)}
  WITH ch, coalesce({s.ordinal("ch")}, $no_place) AS at,
    coalesce(toStringOrNull({s.node_id("ch")}), '') AS key
  WHERE at > $asked.at OR (at = $asked.at AND key > $asked.key)
  WITH ch, at, key ORDER BY at, key LIMIT $limit
  RETURN collect({{{_standing(s)}, at: at, key: key}}) AS chunks
}}
RETURN {{{listed_document(s)}, said: {said(s)}, original: {original}}} AS document, chunks
"""


def chunk(s: Schema = DEFAULT) -> str:
    """Return the statement of a chunk, with what is beside it in its document and in the graph."""
    return f"""
{visible(s)}
CALL () {{
  {finding(s).chunk}
}}
WITH ch, generation, {_home(s)} AS document
WITH ch, generation, document, document.node AS home, {s.ordinal("ch")} AS here
{_neighbour(s, "before", "<", "DESC")}
{_neighbour(s, "after", ">", "ASC")}
{_mentioned(s)}
WITH {{{_standing(s)}, text: ch.{s.text}}} AS chunk, document {{.*, node: null}} AS document,
  before, after, entities, {_communities_of(s, "ch")} AS communities, {still_there(s)} AS is_there
WHERE is_there
RETURN chunk, document, before, after, entities, communities
"""


def _mentioned(s: Schema) -> str:
    """Return the subquery that gives the `entities` of `ch`, by title."""
    return f"""CALL (ch, generation) {{
  MATCH (ch){s.mentions}(e)
  WITH e, generation LIMIT $looked_at
  WITH DISTINCT e, generation
  WHERE {s.is_entity("e")} AND {s.project_entity("e")}
  WITH e, generation, coalesce({s.title("e")}, '') AS title
  ORDER BY title, {s.node_id("e")} LIMIT $limit
  WITH {{
    id: {s.node_id("e")}, title: title, communities: {_communities_of(s, "e")}
  }} AS entity
  RETURN collect(entity) AS entities
}}"""


def _communities_of(s: Schema, n: str) -> str:
    return f"""COLLECT {{
    MATCH ({n}){s.in_community}(c)
    WITH DISTINCT c, generation
    WHERE c:{s.community} AND {s.project_community("c")}
    RETURN {{{_community(s)}}} LIMIT $most_parents
  }}"""


def _home(s: Schema) -> str:
    """Return the document that `ch` is named after, as a map with its `node`; null for none."""
    return of_document(s, f"node: d, {listed_document(s)}")


def _neighbour(s: Schema, name: str, side: str, order: str) -> str:
    return f"""CALL (home, here) {{
  MATCH (home){s.holds}(ch)
  WITH DISTINCT ch, here
  WHERE {s.project_chunk("ch")} AND {readable(s)}
  WITH ch, {s.ordinal("ch")} AS there, here
  WHERE there {side} here
  WITH ch ORDER BY there {order}, {s.node_id("ch")} LIMIT 1
  RETURN head(collect({{{_standing(s)}, text: ch.{s.text}}})) AS {name}
}}"""


def entity(s: Schema = DEFAULT) -> str:
    """Return the statement of an entity, its weightiest relations, and chunks that mention it."""
    return f"""
{visible(s)}
CALL (generation) {{
  {finding(s).entity}
}}
{_relations(s)}
{_mentions(s)}
RETURN {s.node_id("e")} AS id, {s.title("e")} AS title, {s.entity_text("e")} AS description,
  relations, relations_seen, mentions, mentions_seen
"""


def _relations(s: Schema) -> str:
    return f"""CALL (e) {{
  MATCH (e)-{s.related("r")}-(other)
  WITH e, r, other LIMIT $looked_at
  WITH e, r, other
  WHERE {s.is_entity("other")} AND {s.project_related("other")}
  WITH r, other, startNode(r) = e AS is_outgoing, coalesce({s.weight("r")}, 0.0) AS weight
  ORDER BY weight DESC, {s.title("other")}, {s.node_id("other")}, {s.description("r")}
  WITH collect({{
    id: {s.node_id("other")}, title: {s.title("other")}, description: {s.description("r")},
    weight: weight, is_outgoing: is_outgoing
  }}) AS rows
  RETURN rows[0..$limit] AS relations, size(rows) AS relations_seen
}}"""


def _mentions(s: Schema) -> str:
    return f"""CALL (e) {{
  MATCH (e){s.mentioned_in}(ch)
  WITH ch LIMIT $looked_at
  WITH DISTINCT ch
  WHERE {s.project_chunk("ch")} AND {readable(s)}
  WITH ch ORDER BY {s.node_id("ch")}
  WITH collect(ch) AS chunks
  WITH chunks, size(chunks) AS mentions_seen
  UNWIND CASE WHEN chunks = [] THEN [null] ELSE chunks[0..$limit] END AS ch
  WITH ch, mentions_seen, {_home(s)} AS document
  WITH mentions_seen, CASE WHEN ch IS NOT NULL THEN {{
    {_standing(s)}, beginning: left(ch.{s.text}, $beginning), document: document {{.*, node: null}}
  }} END AS row
  RETURN collect(row) AS mentions, head(collect(mentions_seen)) AS mentions_seen
}}"""

"""The statement of what is read of cited chunks: how near they are, how old, who else says it."""

from __future__ import annotations

from drift.graph.cypher import nearest
from drift.graph.cypher.finding import one_by_id
from drift.graph.cypher.nearest import comparable, still_there, threshold, visible
from drift.graph.cypher.schema import DEFAULT, Schema

TIMES = ("updated_at", "last_modified", "last_modified_date", "modified_at")
"""Where ingestion, and pipelines of others, leave when a document last changed."""


def passages(s: Schema = DEFAULT) -> str:
    """Return the statement that gives the `threshold`, and a row for each chunk that is there."""
    return f"""
{visible(s)}
CALL () {{
  {threshold(s)}
}}
UNWIND $asked.chunks AS asked
CALL (asked) {{
  {one_by_id(s, "ch", "__Chunk__", "asked")}
}}
{_home(s)}
{_witnesses(s)}
WITH threshold, asked, ch, home, named, witnesses, ch.{s.vector} AS embedding
WITH threshold, asked, ch, home, named, witnesses,
  CASE WHEN {comparable()} THEN {nearest.COSINE} END AS similarity
RETURN threshold, asked.id AS id, {still_there(s)} AS is_there, similarity, named, witnesses,
  [one IN home.times WHERE {_is_a_time("one")}] AS times, home IS NOT NULL AS has_document
"""


# What more of the chunks share comes first: it is what the question is about.
def around(s: Schema = DEFAULT) -> str:
    """Return the statement that gives the `entities` that chunks mention, and their `communities`.

    The chunks are those of `$asked.chunks`.
    """
    return f"""
{visible(s)}
CALL () {{
  UNWIND $asked.chunks AS asked
  CALL (asked) {{
    {one_by_id(s, "ch", "__Chunk__", "asked")}
  }}
  RETURN collect(ch) AS chunks
}}
CALL (chunks, generation) {{
  UNWIND chunks AS ch
  CALL (ch, generation) {{
    MATCH (ch){s.mentions}(e)
    WITH DISTINCT e, generation
    WHERE {s.is_entity("e")} AND {s.project_entity("e")}
    RETURN e LIMIT $mentions_each
  }}
  WITH toStringOrNull({s.node_id("e")}) AS id, coalesce({s.title("e")}, '') AS title,
    collect(toStringOrNull({s.node_id("ch")})) AS chunk_ids
  WHERE id IS NOT NULL
  WITH id, title, chunk_ids ORDER BY size(chunk_ids) DESC, title, id LIMIT $most_entities
  RETURN collect({{id: id, title: title, chunk_ids: chunk_ids}}) AS entities
}}
CALL (chunks, generation) {{
  UNWIND chunks AS ch
  CALL (ch, generation) {{
    MATCH (ch){s.member_of}(c)
    WITH DISTINCT c, generation
    WHERE c:{s.community} AND {s.project_community("c")}
    RETURN c LIMIT $mentions_each
  }}
  WITH c, count(*) AS held
  ORDER BY held DESC, {s.community_id("c")} LIMIT $most_communities
  RETURN collect({{
    id: {s.community_id("c")}, title: coalesce(toStringOrNull(c.title), ''),
    level: toIntegerOrNull(c.level)
  }}) AS communities
}}
RETURN entities, communities
"""


def _home(s: Schema) -> str:
    """Return the subquery that gives `home`: the document the chunk is named after; or null."""
    times = ", ".join(f"d.{name}" for name in TIMES)
    return f"""CALL (ch) {{
    {s.document}
    WITH d, title, id ORDER BY coalesce(title, id)
    WITH collect({{node: d, times: [{times}]}}) AS homes
    RETURN homes[0] AS home, [one IN homes | one.node] AS own
}}"""


# Only entities that few chunks name tell what a chunk is about, and following those costs little. A
# copy of a chunk bears nothing out.
def _witnesses(s: Schema) -> str:
    """Return the subquery that gives how many entities are `named`, and the `witnesses`."""
    return f"""CALL (ch, own, generation) {{
  CALL (ch, generation) {{
    MATCH (ch){s.mentions}(e)
    WITH DISTINCT e, generation
    WHERE {s.is_entity("e")} AND {s.project_entity("e")}
    WITH e, COUNT {{ (e){s.mentioned_in}() }} AS mentions
    WHERE mentions <= $most_mentions
    WITH e, mentions ORDER BY mentions, toString({s.node_id("e")}) LIMIT $rarest
    RETURN collect(e) AS rare
  }}
  WITH rare, own, ch.{s.text} AS said
  CALL (rare, own, said) {{
    UNWIND rare AS e
    MATCH (e){s.mentioned_in}(other)
    WITH DISTINCT e, other, own, said
    WITH other AS ch, count(e) AS shared, own, said
    WHERE shared > 1 AND coalesce(ch.{s.text} <> said, true) AND {s.project_chunk("ch")}
    CALL (ch) {{
      {s.document}
      RETURN d, id
    }}
    WITH DISTINCT d, id, own
    WHERE NOT d IN own
    WITH coalesce(id, elementId(d)) AS name ORDER BY name LIMIT $most_witnesses
    RETURN collect(name) AS witnesses
  }}
  RETURN size(rare) AS named, witnesses
}}"""


# CASE keeps the server from asking what is no text for its length.
def _is_a_time(value: str) -> str:
    kinds = ("INTEGER", "FLOAT", "ZONED DATETIME", "LOCAL DATETIME", "DATE")
    is_one = " OR ".join(f"{value} IS :: {kind} NOT NULL" for kind in kinds)
    return f"""CASE WHEN {value} IS :: STRING NOT NULL THEN size({value}) <= $longest_time
    ELSE {is_one} END"""

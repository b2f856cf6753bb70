"""What a follow-up learns around its likeliest chunks: what is behind, and related entities."""

from __future__ import annotations

from drift.graph.cypher.nearest import home, is_common, rarity, readable, still_there, told
from drift.graph.cypher.schema import Schema
from drift.graph.cypher.walk import in_scope


# An entity counts by how many of the likeliest chunks mention it, and by its rarity. `places` are
# those of the candidates that mention it.
def entities(s: Schema) -> str:
    """Return the subquery that gives `around`, entities with their places."""
    return f"""
CALL (entity_lists, chunk_count) {{
  UNWIND range(0, size(entity_lists) - 1) AS place
  UNWIND entity_lists[place] AS e
  WITH e, chunk_count, collect(place) AS places
  WITH e, chunk_count, places, size([place IN places WHERE place < $rooted]) AS mentions
  WHERE mentions > 0
  WITH e, chunk_count, places, mentions, COUNT {{ (e){s.mentioned_in}() }} AS everywhere
  WHERE NOT {is_common("everywhere")}
  WITH e, places, mentions * {rarity("everywhere", "size(places)")} AS worth
  ORDER BY worth DESC, {s.node_id("e")}
  LIMIT $most_entities
  RETURN collect({{e: e, places: places}}) AS around
}}
"""


# Two entities have one relation, the heaviest that says more than its type: a sentence of a chunk
# where it has one, else its description, told by candidates that mention both.
def relations(s: Schema) -> str:
    """Return the subquery that gives `relationships`, the heaviest of those entities first."""
    return f"""
CALL (around, entity_lists, chunk_count) {{
  UNWIND around AS root
  WITH root.e AS e, root.places AS places, entity_lists, chunk_count
  CALL (e, chunk_count) {{
    MATCH (e)-{s.related("r")}-(other)
    WITH DISTINCT r, other, chunk_count
    WHERE {s.is_entity("other")} AND {s.project_related("other")}
    WITH r, other, chunk_count LIMIT $relations_seen
    WITH r, other, chunk_count, {s.description("r")} AS said,
      coalesce({s.weight("r")}, 0.0) AS weight
    WHERE said <> type(r)
      AND CASE WHEN said IS :: STRING NOT NULL THEN trim(said) <> '' ELSE false END
    WITH r, other, chunk_count, said, weight ORDER BY weight DESC, said
    WITH other, chunk_count, collect({{r: r, said: said, weight: weight}})[0] AS best
    WITH other, best, chunk_count, COUNT {{ (other){s.mentioned_in}() }} AS everywhere
    WHERE NOT {is_common("everywhere")}
    ORDER BY best.weight DESC, {s.node_id("other")}
    LIMIT $relations_each
    RETURN other, best.r AS r, best.said AS said, best.weight AS weight
  }}
  WITH r, entity_lists, collect({{
    other: other, said: said, weight: weight, places: places
  }}) AS seen
  WITH r, entity_lists, seen[0] AS one
  WITH r, one.other AS other, one.said AS said, one.weight AS weight, one.places AS places,
    entity_lists
  ORDER BY weight DESC, {s.node_id("other")}
  LIMIT $most_relations
  RETURN collect({{
    source: {s.title("startNode(r)")}, target: {s.title("endNode(r)")},
    {_evidence(s)}, places: [place IN places WHERE other IN entity_lists[place]]
  }}) AS relationships
}}
"""


def _evidence(s: Schema) -> str:
    if not s.has_projects:
        return "description: said, chunk_id: null"
    return """description: CASE WHEN r.sentence IS :: STRING NOT NULL THEN r.sentence ELSE said END,
    chunk_id: CASE WHEN r.chunk_id IS :: STRING THEN r.chunk_id END"""


# A heading, a question or a caption says little by itself. Each document is gone through once,
# however many of its chunks are short.
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
      AND CASE WHEN ch.{s.text} IS :: STRING NOT NULL THEN size(ch.{s.text}) < $short ELSE false END
    {home(s)}
    RETURN home, collect({{place: place, ordinal: here + 1}}) AS wanted
  }}
  MATCH (home){s.holds}(ch)
  WITH DISTINCT ch, wanted, generation, hard, {s.ordinal("ch")} AS ordinal
  UNWIND [one IN wanted WHERE one.ordinal = ordinal | one.place] AS place
  WITH ch, place, generation, hard
  WHERE {s.project_chunk("ch")} AND {readable(s)} AND (NOT hard OR {in_scope(s)})
  WITH ch, place, {{{told(s)}}} AS row ORDER BY place, {s.node_id("ch")}
  RETURN collect(CASE WHEN {still_there(s)} THEN {{place: place, chunk: row}} END) AS following
}}
"""

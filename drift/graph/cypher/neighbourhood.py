"""What a follow-up learns around its likeliest chunks: communities, entities and relations."""

from __future__ import annotations

from drift.graph.cypher.nearest import rarity, readable
from drift.graph.cypher.schema import MAX_LEVELS, Schema


def _says_something(text: str) -> str:
    """Return the condition that a value is text with more than spaces in it."""
    return f"CASE WHEN {text} IS :: STRING NOT NULL THEN trim({text}) <> '' ELSE false END"


# What stands above the communities of a chunk counts too, but not what has nothing above it: the
# primer has shown that. Where the chunks are directly in such a one, there is nothing below it.
def communities(s: Schema) -> str:
    """Return the subquery that gives `communities`: those that hold most of the likeliest."""
    return f"""
CALL (chosen, generation) {{
  CALL (chosen, generation) {{
    UNWIND range(0, size(chosen[0..$rooted]) - 1) AS place
    WITH place, chosen[place] AS ch, generation
    MATCH (ch){s.member_of}(direct)
    WITH DISTINCT place, direct, generation
    WHERE direct:__Community__ AND {s.project_community("direct")}
    RETURN direct, collect(place) AS places
  }}
  CALL (direct) {{
    RETURN direct AS c, false AS is_above
  UNION ALL
    MATCH (direct)-[:IN_COMMUNITY]->(first)
    WITH DISTINCT first
    MATCH (first)-[:IN_COMMUNITY*0..{MAX_LEVELS - 2}]->(c)
    WITH DISTINCT c
    RETURN c, true AS is_above
  }}
  UNWIND places AS place
  WITH c, generation, count(DISTINCT place) AS chunks, max(toInteger(is_above)) AS is_above
  WHERE c:__Community__ AND {s.project_community("c")} AND {readable("c", "summary")}
    AND {_says_something("c.summary")}
    AND (is_above = 0 OR COUNT {{ (c)-[:IN_COMMUNITY]->() }} > 0)
  WITH c, chunks, is_above
  ORDER BY chunks DESC, is_above, {s.community_id("c")}
  LIMIT $most_communities
  RETURN collect({{
    id: {s.community_id("c")}, level: toIntegerOrNull(c.level), summary: c.summary, score: 0.0,
    samples: []
  }}) AS communities
}}
"""


# An entity counts by how many of the likeliest chunks mention it, and by its rarity. A hub says
# nothing of what they are about. `places` are those of the candidates that mention it.
def entities(s: Schema) -> str:
    """Return the subqueries that give `around`, entities with their places, and `entities`."""
    return f"""
CALL (entity_lists, chunk_count) {{
  UNWIND range(0, size(entity_lists) - 1) AS place
  UNWIND entity_lists[place] AS e
  WITH e, chunk_count, collect(place) AS places
  WITH e, chunk_count, places, size([place IN places WHERE place < $rooted]) AS mentions
  WHERE mentions > 0
  WITH e, chunk_count, places, mentions, COUNT {{ (e){s.mentioned_in}() }} AS everywhere
  WHERE chunk_count <= $few_chunks OR everywhere <= $hub_share * chunk_count
  WITH e, places, mentions, mentions * {rarity("everywhere", "size(places)")} AS worth
  ORDER BY worth DESC, {s.entity_id("e")}
  LIMIT $entities_seen
  RETURN collect({{e: e, places: places, mentions: mentions}}) AS around
}}
CALL (around) {{
  UNWIND around AS held
  WITH held.e AS e, held.places AS places, held.mentions AS mentions
  WHERE {_says_something("e.description")}
  WITH e, places, mentions LIMIT $most_entities
  RETURN collect({{
    id: {s.entity_id("e")}, title: {s.title("e")}, description: e.description, mentions: mentions,
    places: places
  }}) AS entities
}}
"""


# Two entities have one relation, the heaviest that says something; it is met from the first of
# them. A chunk says it when it mentions both.
def relations(s: Schema) -> str:
    """Return the subquery that gives `relationships`: those among the entities come first."""
    return f"""
CALL (around, entity_lists) {{
  WITH around, entity_lists, [held IN around[0..$most_entities] | held.e] AS roots
  UNWIND range(0, size(roots) - 1) AS i
  WITH i, roots, roots[i] AS e, around[i].places AS places, entity_lists
  CALL (i, roots, e) {{
    MATCH (e)-{s.related("r")}-(other)
    WITH DISTINCT r, other, i, roots
    WHERE {s.is_entity("other")} AND {s.project_related("other")}
    WITH r, other, i, roots LIMIT $relations_seen
    WITH r, other, roots, {s.description("r")} AS said, coalesce({s.weight("r")}, 0.0) AS weight
    WHERE NOT other IN roots[0..i] AND {_says_something("said")}
    WITH r, other, other IN roots AS is_near, said, weight
    ORDER BY weight DESC, said
    WITH other, is_near, collect({{r: r, said: said, weight: weight}})[0] AS best
    ORDER BY is_near DESC, best.weight DESC, {s.entity_id("other")}
    LIMIT $relations_each
    RETURN other, is_near, best.r AS r, best.said AS said, best.weight AS weight
  }}
  WITH i, r, other, is_near, said, weight, places, entity_lists
  ORDER BY is_near DESC, weight DESC, i, {s.entity_id("other")}
  LIMIT $most_relations
  RETURN collect({{
    source: {s.title("startNode(r)")}, target: {s.title("endNode(r)")}, description: said,
    weight: weight, places: [place IN places WHERE other IN entity_lists[place]]
  }}) AS relationships
}}
"""

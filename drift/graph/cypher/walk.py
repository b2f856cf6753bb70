"""A follow-up's walk over the graph, from the entities that the question names."""

from __future__ import annotations

from drift.graph.cypher.nearest import is_common, rarity, readable
from drift.graph.cypher.schema import Schema


def in_scope(s: Schema) -> str:
    """Return the condition that `ch` is below a community that the follow-up is about."""
    chosen = f"{s.project_community('c')} AND {s.is_asked('c')}"
    return f"""EXISTS {{
    MATCH (ch){s.above}(c) WITH DISTINCT c WHERE c:{s.community} AND {chosen} RETURN c
  }}"""


# The entities that the question names, by their longest names only: who asks for the old mill does
# not mean every mill.
def _named(s: Schema) -> str:
    return f"""
  CALL (generation) {{
    MATCH (e:{s.entity}){s.seek("e", "__Entity__", "title_key")}
    WHERE {s.project_entity("e")} AND e.title_key IN $asked.title_keys
    WITH e, size(e.title_key) AS length
    ORDER BY length DESC, {s.node_id("e")}
    LIMIT $most_named
    RETURN collect(e) AS named
  }}
{_named_in_part(s)}
  CALL (named, fitting, chunk_count) {{
    UNWIND [e IN named WHERE NOT any(other IN named
      WHERE size(other.title_key) > size(e.title_key) AND other.title_key CONTAINS e.title_key)
    ] + fitting AS e
    WITH DISTINCT e, chunk_count
    WITH e, chunk_count, COUNT {{ (e){s.mentioned_in}() }} AS mentions
    WHERE NOT {is_common("mentions")}
    WITH e, {rarity("mentions", "1")} AS rarity
    ORDER BY rarity DESC, {s.node_id("e")}
    LIMIT $most_seeds
    WITH collect({{node: e, rarity: rarity}}) AS seeds, sum(rarity) AS total
    RETURN [s IN seeds | {{node: s.node, mass: s.rarity / total}}] AS walkers0
  }}
"""


# A part of a title counts where no whole title has it, and where it means one entity: one with all
# of its words and few others, inside whose title no other begins. A longer part wins over its own.
def _named_in_part(s: Schema) -> str:
    return f"""
  CALL (named, generation) {{
    UNWIND [part IN $asked.name_parts
      WHERE NOT any(e IN named WHERE e.title_key CONTAINS part.key)] AS part
    CALL (part, generation) {{
      CALL db.index.fulltext.queryNodes($names_index, part.lucene, {{limit: $names_seen}})
        YIELD node AS e
      WITH DISTINCT e, part, generation, toStringOrNull(e.title_key) AS title
      WHERE {s.project_entity("e")}
        AND size(split(title, ' ')) <= $words_for_one * size(split(part.key, ' '))
      WITH e, title ORDER BY size(title), {s.node_id("e")}
      RETURN collect({{e: e, title: title}}) AS fits
    }}
    WITH part, fits
    WHERE size(fits) > 0 AND all(fit IN fits WHERE fit.title CONTAINS head(fits).title)
    WITH collect({{key: part.key, e: head(fits).e}}) AS found
    RETURN [one IN found WHERE NOT any(other IN found
      WHERE size(other.key) > size(one.key) AND other.key CONTAINS one.key) | one.e
    ] AS fitting
  }}"""


def _step(s: Schema, before: int) -> str:
    """Return one step of the walk, to neighbours in equal parts, less of it to common entities.

    A node whose parts would be smaller than `$least_mass` keeps them, so that a step never costs
    more than 1 / $least_mass rows, hubs or not (Andersen, Chung, Lang, "Local graph partitioning
    using PageRank vectors", 2006).
    """
    return f"""
  CALL (walkers{before}, chunk_count, generation, building) {{
    UNWIND walkers{before} AS walker
    WITH walker.node AS node, walker.mass AS mass, chunk_count, generation, building
    WITH node, mass, chunk_count, generation, {s.degree("node")} AS degree
    WHERE degree > 0 AND mass >= $least_mass * degree
    MATCH (node){s.walked}(next)
    WHERE {s.project_step("next")}
    WITH next, chunk_count, sum($damping * mass / degree) AS mass
    WITH next, mass, chunk_count, CASE
      WHEN {s.is_entity("next")} THEN COUNT {{ (next){s.mentioned_in}() }} ELSE 0
    END AS mentions
    WHERE NOT {is_common("mentions")}
    WITH next, CASE
      WHEN mentions > 0 AND chunk_count > 0
      THEN mass * log(1.0 + toFloat(chunk_count) / mentions) / log(1.0 + chunk_count)
      ELSE mass
    END AS mass
    ORDER BY mass DESC, {s.node_id("next")}
    LIMIT $most_walked
    RETURN collect({{node: next, mass: mass}}) AS walkers{before + 1}
  }}"""


# A walk of three steps from there over mentions and relations, both ways: the mass that the chunks
# on the way have seen.
def graph_leg(s: Schema) -> str:
    """Return the subquery that gives `walked`: chunks with the weight that they have got."""
    return f"""
CALL (chunk_count, generation, building, hard) {{{_named(s)}{_step(s, 0)}{_step(s, 1)}{_step(s, 2)}
  CALL (walkers1, walkers2, walkers3, generation, hard) {{
    UNWIND walkers1 + walkers2 + walkers3 AS walker
    WITH walker.node AS ch, walker.mass AS mass, generation, hard
    WHERE ch:{s.chunk}
    WITH ch, generation, hard, sum(mass) AS weight
    WHERE {readable(s)} AND (NOT hard OR {in_scope(s)})
    ORDER BY weight DESC, {s.node_id("ch")}
    LIMIT $graph_pool
    RETURN collect({{ch: ch, weight: weight}}) AS walked
  }}
  RETURN walked
}}
"""

"""A follow-up's statement: chunks by vector, full text and a walk, and what is around the best."""

from __future__ import annotations

from drift.graph.cypher.nearest import (
    COSINE,
    comparable,
    count,
    is_common,
    nearest,
    rarity,
    readable,
    scored,
    still_there,
    told,
    visible,
)
from drift.graph.cypher.neighbourhood import entities, following, relations
from drift.graph.cypher.schema import Schema
from drift.graph.cypher.walk import graph_leg, in_scope


def followup(s: Schema, hits: str) -> str:
    """Return the statement; `hits` is the body that asks a big project's index."""
    legs = f"{_vector_leg(s, hits)}{_text_leg(s)}{_rare_leg(s)}{graph_leg(s)}"
    around = f"{entities(s)}{relations(s)}"
    return f"""
{visible(s)}{picked(s)}{count(s)}{legs}{_candidates(s)}{following(s)}{_mentioned(s)}{shared(s)}{around}
RETURN candidates, following, shared, relationships, rare
"""


# Communities that are gone, because the knowledge was made anew since the primer, leave the whole
# project to search in.
def picked(s: Schema) -> str:
    """Return the subquery that gives the `picked` communities, and whether scope is `hard`."""
    return f"""
CALL (generation) {{
  MATCH (c:{s.community}){s.seek("c", "__Community__", "community")}
  WHERE {s.project_community("c")} AND {s.is_asked("c")}
  RETURN collect(c) AS picked, $hard AND count(c) > 0 AS hard
}}
"""


def _vector_leg(s: Schema, hits: str) -> str:
    return f"""
CALL (picked, hard) {{
  UNWIND CASE WHEN hard THEN picked ELSE [] END AS c
  MATCH (c){s.below}(ch)
  WITH DISTINCT ch
  WHERE {s.project_chunk("ch")}
  {scored(s)}
  ORDER BY similarity DESC, {s.node_id("ch")}
  LIMIT $pool
  RETURN collect({{ch: ch, similarity: similarity}}) AS scoped
}}
WITH generation, building, picked, hard, chunk_count, scoped, NOT hard AS whole
{nearest(s, hits)}
WITH generation, building, picked, hard, chunk_count, scoped + near AS nearest
"""


def _text_leg(s: Schema) -> str:
    return f"""
CALL (generation, hard) {{
  UNWIND CASE WHEN $asked.lucene = '' THEN [] ELSE [$asked.lucene] END AS terms
  CALL db.index.fulltext.queryNodes($fulltext_index, terms, {{limit: $text_rows}})
    YIELD node AS ch, score
  WITH ch, score, generation, hard
  WHERE {s.project_chunk("ch")} AND {readable(s)} AND (NOT hard OR {in_scope(s)})
  RETURN collect({{ch: ch, score: score}})[0..$text_pool] AS worded
}}
"""


# The chunks of each word that the index finds in few, the rarest first.
def _rare_leg(s: Schema) -> str:
    return f"""
CALL () {{
  UNWIND $asked.words AS word
  CALL (word) {{
    CALL db.index.fulltext.queryNodes($fulltext_index, word, {{limit: $few_rows}}) YIELD node AS ch
    RETURN collect(CASE WHEN {s.project_chunk("ch")} THEN {s.node_id("ch")} END) AS ids,
      count(*) AS rows
  }}
  WITH ids, rows WHERE 0 < rows < $few_rows
  WITH ids ORDER BY rows LIMIT $most_rare
  RETURN collect(ids) AS rare
}}
"""


# Reciprocal ranks cut the legs down to what is worth sending; the final order is made by
# drift.search.ranking.
def _candidates(s: Schema) -> str:
    return f"""
CALL (nearest, worded, walked) {{
  CALL (nearest, worded, walked) {{
    UNWIND range(0, size(nearest) - 1) AS i
    RETURN nearest[i].ch AS ch, 1.0 / (60 + i) AS vote,
      nearest[i].similarity AS similarity, 0.0 AS text, 0.0 AS graph
  UNION ALL
    UNWIND range(0, size(worded) - 1) AS i
    RETURN worded[i].ch AS ch, 1.0 / (60 + i) AS vote,
      null AS similarity, worded[i].score AS text, 0.0 AS graph
  UNION ALL
    UNWIND range(0, size(walked) - 1) AS i
    RETURN walked[i].ch AS ch, 1.0 / (60 + i) AS vote,
      null AS similarity, 0.0 AS text, walked[i].weight AS graph
  }}
  WITH ch, sum(vote) AS votes, max(similarity) AS similarity, max(text) AS text, max(graph) AS graph
  ORDER BY votes DESC, {s.node_id("ch")}
  LIMIT $keep
  RETURN collect(ch) AS chosen,
    collect({{similarity: similarity, text: text, graph: graph}}) AS legs
}}
{_inside(s)}
CALL (chosen, legs, inside) {{
  UNWIND range(0, size(chosen) - 1) AS place
  WITH place, chosen[place] AS ch, legs[place] AS leg, inside
  WITH place, ch, leg, inside, CASE WHEN leg.similarity IS NULL THEN ch.{s.vector} END AS embedding
  WITH place, ch, leg, inside,
    CASE WHEN {comparable()} THEN {COSINE} ELSE leg.similarity END AS similarity
  WITH place, ch, {{
    {told(s)}, links: {s.links("ch")},
    similarity: similarity, is_near: leg.similarity IS NOT NULL, bm25: leg.text, graph: leg.graph,
    in_scope: place IN inside
  }} AS row
  RETURN collect(CASE WHEN {still_there(s)} THEN row ELSE {{id: null}} END) AS candidates
}}
"""


# The places of the candidates that are below a picked community. Many candidates share theirs, so
# each is followed upwards once.
def _inside(s: Schema) -> str:
    return f"""
CALL (chosen, picked) {{
  CALL (chosen, picked) {{
    UNWIND CASE WHEN size(picked) > 0 THEN range(0, size(chosen) - 1) ELSE [] END AS place
    WITH place, chosen[place] AS ch
    MATCH (ch){s.member_of}(direct)
    WITH direct, collect(DISTINCT place) AS places
    WHERE direct:{s.community}
    RETURN direct, places
  }}
  CALL (direct, picked) {{
    MATCH (direct){s.any_above}(c)
    WITH DISTINCT c
    WHERE c IN picked
    RETURN count(c) > 0 AS below
  }}
  WITH places WHERE below
  UNWIND places AS place
  RETURN collect(DISTINCT place) AS inside
}}
"""


def _mentioned(s: Schema) -> str:
    return f"""
CALL (chosen, generation) {{
  UNWIND chosen AS ch
  CALL (ch, generation) {{
    MATCH (ch){s.mentions}(e)
    WITH DISTINCT e, generation
    WHERE {s.is_entity("e")} AND {s.project_entity("e")}
    WITH e LIMIT $mentions_each
    RETURN collect(e) AS mentioned
  }}
  RETURN collect(mentioned) AS entity_lists
}}
"""


# What two candidates both mention, as [place of the candidate, number of the entity, its rarity,
# how much the candidate is about it]: the share of the candidate's other entities that the entity
# has a relation to. The rarest come first.
def shared(s: Schema) -> str:
    """Return the subqueries that give `shared`, from the entities that each candidate mentions."""
    return f"""
CALL (entity_lists, chunk_count) {{
  UNWIND range(0, size(entity_lists) - 1) AS place
  UNWIND entity_lists[place] AS e
  WITH e, chunk_count, collect(place) AS places
  WHERE size(places) > 1
  WITH e, chunk_count, places, COUNT {{ (e){s.mentioned_in}() }} AS mentions
  WHERE NOT {is_common("mentions")}
  WITH e, places, mentions, {s.told("e")} AS told
  ORDER BY mentions, {s.node_id("e")}
  LIMIT $most_shared
  RETURN collect({{
    e: e, places: places, mentions: mentions,
    targets: CASE WHEN told <= $fan THEN {s.targets("e")} ELSE [] END
  }}) AS held
}}
CALL (entity_lists, held, chunk_count) {{
  UNWIND range(0, size(held) - 1) AS number
  WITH entity_lists, number, held[number].places AS places, held[number].targets AS targets,
    {rarity("held[number].mentions", "size(held[number].places)")} AS rarity
  UNWIND places AS place
  WITH number, place, rarity, targets, entity_lists[place] AS mentioned
  WITH number, place, rarity, size(mentioned) - 1 AS others,
    size([x IN mentioned WHERE x IN targets]) AS related
  RETURN collect([
    place, number, rarity, CASE WHEN others > 0 THEN toFloat(related) / others ELSE 0.0 END
  ]) AS shared
}}
"""

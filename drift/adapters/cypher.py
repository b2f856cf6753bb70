"""Every Cypher statement that reads: constants with $parameters, in two forms of one story.

The plain form is Cypher 5 and runs from Neo4j 5.26 on. Where the chunk index has `project_id` as a filter property, the
function below puts a SEARCH with an in-index filter in the place of the index procedure.

What the statements hold to, each because a real server does otherwise:
- `collect` and `UNWIND` stand between a match on a unique key with a list and any DISTINCT. Without them Neo4j takes the unique
  key for "one row at most", drops the DISTINCT, and chunks below both a community and its parent appear twice.
- Filter first, then rank. An index without filter properties is asked only above the exact limit, and when its best rows
  hold too few of the project's chunks, the project is scored exactly: no tenant starves beside a larger one.
- Scores of an index are quantised, so its rows are scored again.
- Every step names `project_id`; every list is bounded before the next step; no embedding is returned.
"""

from __future__ import annotations

MOST_LEVELS = 12

_BELOW = f"<-[:IN_COMMUNITY*1..{MOST_LEVELS}]-"
_ABOVE = f"-[:IN_COMMUNITY*1..{MOST_LEVELS}]->"
_USABLE = "ch.project_id = $project_id AND size(ch.embedding) = $dimensions"
_COSINE = "vector.similarity.cosine(ch.embedding, $vector)"

# A chunk of two documents has one name and makes one row.
_DOCUMENT_NAME = """coalesce(head(COLLECT {
    MATCH (d:__Document__)-[:HAS_CHUNK]->(ch)
    WHERE d.project_id = $project_id
    RETURN CASE WHEN trim(toString(coalesce(d.title, ''))) = '' THEN d.id ELSE d.title END AS name
    ORDER BY name LIMIT 1
  }), 'unknown')"""

# Counting stops at the limit: the answer needed is "few or many".
_COUNT = """
CALL () {
  MATCH (ch:__Chunk__)
  WHERE ch.project_id = $project_id
  WITH ch LIMIT $exact_limit + 1
  RETURN count(ch) AS chunk_count
}
"""

_INDEX_HITS = """
    CALL db.index.vector.queryNodes($chunk_index, $fetch, $vector) YIELD node
    WITH node WHERE node.project_id = $project_id AND size(node.embedding) = $dimensions
    RETURN collect(node) AS hits
"""

_SEARCH_HITS = """
    MATCH (node:__Chunk__)
      SEARCH node IN (VECTOR INDEX `{index}` FOR $vector WHERE node.project_id = $project_id LIMIT $fetch)
    RETURN collect(node) AS hits
"""

# The chunks of the project nearest to the vector, when `whole` is true: `near`, best first.
_NEAREST = f"""
CALL (chunk_count, whole) {{
  CALL (chunk_count, whole) {{
    UNWIND CASE WHEN whole AND chunk_count <= $exact_limit THEN [1] ELSE [] END AS exact
    MATCH (ch:__Chunk__)
    WHERE {_USABLE}
    RETURN ch
  UNION ALL
    UNWIND CASE WHEN whole AND chunk_count > $exact_limit THEN [1] ELSE [] END AS indexed
    CALL () {{/*HITS*/}}
    CALL (hits) {{
      UNWIND CASE WHEN size(hits) >= $pool THEN hits ELSE [] END AS ch
      RETURN ch
    UNION ALL
      UNWIND CASE WHEN size(hits) < $pool THEN [1] ELSE [] END AS starved
      MATCH (ch:__Chunk__)
      WHERE {_USABLE}
      RETURN ch
    }}
    RETURN ch
  }}
  WITH ch, {_COSINE} AS similarity
  ORDER BY similarity DESC, ch.id
  LIMIT $pool
  RETURN collect(ch) AS near
}}
"""

# ------------------------------------------------------------------------------------------------- primer
# Level numbers mean nothing by themselves (0 is the leaf here and the root there), so the edges tell which way is up. A community
# without a parent is at the top whatever its number. The floor is the height of the ceil(k/2)-th highest community: that many
# candidates at least, and none from below the level that completes them.
_BEST_COMMUNITIES = """
CALL () {
  MATCH (child:__Community__)-[:IN_COMMUNITY]->(parent:__Community__)
  WHERE child.project_id = $project_id AND parent.project_id = $project_id
  WITH sign(toFloatOrNull(parent.level) - toFloatOrNull(child.level)) AS step
  LIMIT 200
  RETURN count(*) > 0 AS linked, CASE WHEN sum(step) < 0 THEN -1 ELSE 1 END AS upwards
}
CALL (linked, upwards) {
  MATCH (c:__Community__)
  WHERE c.project_id = $project_id AND size(c.embedding) = $dimensions
  WITH c, CASE
    WHEN linked AND NOT EXISTS { MATCH (c)-[:IN_COMMUNITY]->(p:__Community__) WHERE p.project_id = $project_id } THEN 1.0e300
    ELSE upwards * coalesce(toFloatOrNull(c.level), 0.0)
  END AS height
  ORDER BY height DESC
  RETURN collect(c) AS known, collect(height) AS heights
}
CALL (known, heights) {
  UNWIND range(0, size(known) - 1) AS i
  WITH known[i] AS c, heights[i] AS height, heights[CASE WHEN size(known) < $enough THEN size(known) ELSE $enough END - 1] AS floor
  WHERE height >= floor
  WITH c, height, vector.similarity.cosine(c.embedding, $vector) AS score
  ORDER BY height DESC, score DESC, c.community
  LIMIT $top_k
  RETURN collect({node: c, score: score}) AS best
}
"""

# Below a chosen community: all chunks when the project is small; else its share of the project's nearest, and a few of its
# own so that a community without such a share still shows what it holds.
_SAMPLES = f"""
  CALL (c, near, chunk_count) {{
    CALL (c, near, chunk_count) {{
      UNWIND CASE WHEN chunk_count <= $exact_limit THEN [c] ELSE [] END AS top
      MATCH (top){_BELOW}(ch:__Chunk__)
      WHERE {_USABLE}
      RETURN ch
    UNION ALL
      UNWIND CASE WHEN chunk_count > $exact_limit THEN near ELSE [] END AS ch
      WITH c, ch WHERE EXISTS {{ MATCH (ch){_ABOVE}(c) }}
      RETURN ch
    UNION ALL
      UNWIND CASE WHEN chunk_count > $exact_limit THEN [c] ELSE [] END AS top
      MATCH (top){_BELOW}(ch:__Chunk__)
      WHERE {_USABLE}
      RETURN ch LIMIT $spare_samples
    }}
    WITH DISTINCT ch
    WITH ch, {_COSINE} AS similarity
    ORDER BY similarity DESC, ch.id
    LIMIT $samples
    RETURN collect({{id: ch.id, text: ch.text, score: similarity, document_name: {_DOCUMENT_NAME}}}) AS samples
  }}
"""

_PRIMER = f"""
{_BEST_COMMUNITIES}{_COUNT}
WITH best, chunk_count, size(best) = 0 OR chunk_count > $exact_limit AS whole
{_NEAREST}
CALL (best, near, chunk_count) {{
  UNWIND best AS chosen
  WITH near, chunk_count, chosen.node AS c, chosen.score AS score
  {_SAMPLES}
  RETURN collect({{id: c.community, level: toIntegerOrNull(c.level), summary: c.summary, score: score, samples: samples}}) AS communities
}}
CALL (best, near) {{
  UNWIND CASE WHEN size(best) = 0 THEN near[0..$spare_chunks] ELSE [] END AS ch
  RETURN collect({{id: ch.id, text: ch.text, score: {_COSINE}, document_name: {_DOCUMENT_NAME}}}) AS chunks
}}
RETURN communities, chunks
"""

# ---------------------------------------------------------------------------------------------- follow-up
_PICKED = """
CALL () {
  MATCH (c:__Community__)
  WHERE c.project_id = $project_id AND c.community IN $communities
  RETURN collect(c) AS picked
}
"""
_IN_SCOPE = (
    f"EXISTS {{ MATCH (ch){_ABOVE}(c:__Community__) WHERE c.project_id = $project_id AND c.community IN $communities }}"
)

_VECTOR_LEG = f"""
CALL (picked) {{
  UNWIND CASE WHEN $hard THEN picked ELSE [] END AS c
  MATCH (c){_BELOW}(ch:__Chunk__)
  WHERE {_USABLE}
  WITH DISTINCT ch
  WITH ch, {_COSINE} AS similarity
  ORDER BY similarity DESC, ch.id
  LIMIT $pool
  RETURN collect(ch) AS scoped
}}
WITH picked, chunk_count, scoped, NOT $hard AS whole
{_NEAREST}
WITH picked, chunk_count, scoped + near AS nearest
"""

_TEXT_LEG = f"""
CALL () {{
  UNWIND CASE WHEN $lucene = '' THEN [] ELSE [$lucene] END AS terms
  CALL db.index.fulltext.queryNodes($fulltext_index, terms, {{limit: $text_pool}}) YIELD node AS ch, score
  WITH ch, score
  WHERE ch.project_id = $project_id AND (NOT $hard OR {_IN_SCOPE})
  RETURN collect({{ch: ch, score: score}}) AS worded
}}
"""

# The entities that the question names, by their longest names only: who asks for the old mill does not mean every mill.
_NAMED = """
  CALL () {
    MATCH (e:__Entity__)
    WHERE e.project_id = $project_id AND e.title_key IN $title_keys
    WITH e, size(e.title_key) AS length
    ORDER BY length DESC, e.id
    LIMIT $most_named
    RETURN collect(e) AS named
  }
  CALL (named, chunk_count) {
    UNWIND named AS e
    WITH e, chunk_count, COUNT { (e)<-[:HAS_ENTITY]-() } AS mentions
    WHERE NOT any(other IN named WHERE size(other.title_key) > size(e.title_key)
      AND other.title_key CONTAINS e.title_key)
    WITH e, CASE WHEN mentions = 0 THEN 1.0 ELSE log(1.0 + toFloat(chunk_count) / mentions) END AS rarity
    ORDER BY rarity DESC, e.id
    LIMIT $most_seeds
    WITH collect({node: e, rarity: rarity}) AS seeds, sum(rarity) AS total
    RETURN [s IN seeds | {node: s.node, mass: s.rarity / total}] AS walkers0
  }
"""


def _step(before: int) -> str:
    """Return one step of the walk: what stands on a node goes to its neighbours in equal parts, less of it to common entities.

    A node whose parts would be smaller than `$least_mass` keeps them, so that a step never costs more than 1 / $least_mass
    rows, hubs or not (Andersen, Chung, Lang, "Local graph partitioning using PageRank vectors", 2006).
    """
    return f"""
  CALL (walkers{before}, chunk_count) {{
    UNWIND walkers{before} AS walker
    WITH walker.node AS node, walker.mass AS mass, chunk_count
    WITH node, mass, chunk_count, COUNT {{ (node)-[:HAS_ENTITY]-() }} + COUNT {{ (node)-[:RELATED]-() }} AS degree
    WHERE degree > 0 AND mass / degree >= $least_mass
    MATCH (node)-[:HAS_ENTITY|RELATED]-(next)
    WHERE next.project_id = $project_id
    WITH next, chunk_count, sum($damping * mass / degree) AS mass
    WITH next, mass, chunk_count, CASE WHEN next:__Entity__ THEN COUNT {{ (next)<-[:HAS_ENTITY]-() }} END AS mentions
    WITH next, CASE WHEN mentions > 0 THEN mass * log(1.0 + toFloat(chunk_count) / mentions) / log(1.0 + chunk_count) ELSE mass END AS mass
    ORDER BY mass DESC, next.id
    LIMIT $most_walked
    RETURN collect({{node: next, mass: mass}}) AS walkers{before + 1}
  }}"""


# A walk of three steps from there over mentions and relations, both ways: the mass that the chunks on the way have seen.
_GRAPH_LEG = f"""
CALL (chunk_count) {{{_NAMED}{_step(0)}{_step(1)}{_step(2)}
  CALL (walkers1, walkers2, walkers3) {{
    UNWIND walkers1 + walkers2 + walkers3 AS walker
    WITH walker.node AS ch, walker.mass AS mass
    WHERE ch:__Chunk__
    WITH ch, sum(mass) AS weight
    WHERE NOT $hard OR {_IN_SCOPE}
    ORDER BY weight DESC, ch.id
    LIMIT $graph_pool
    RETURN collect({{ch: ch, weight: weight}}) AS walked
  }}
  RETURN walked
}}
"""

# Reciprocal ranks cut the legs down to what is worth sending; the final order is made by drift.ranking.
_CANDIDATES = f"""
CALL (nearest, worded, walked) {{
  UNWIND range(0, size(nearest) - 1) AS i
  RETURN nearest[i] AS ch, 1.0 / (60 + i) AS vote, 0.0 AS text, 0.0 AS graph
UNION ALL
  UNWIND range(0, size(worded) - 1) AS i
  RETURN worded[i].ch AS ch, 1.0 / (60 + i) AS vote, worded[i].score AS text, 0.0 AS graph
UNION ALL
  UNWIND range(0, size(walked) - 1) AS i
  RETURN walked[i].ch AS ch, 1.0 / (60 + i) AS vote, 0.0 AS text, walked[i].weight AS graph
}}
WITH chunk_count, ch, sum(vote) AS votes, max(text) AS text, max(graph) AS graph
ORDER BY votes DESC, ch.id
LIMIT $keep
WITH chunk_count, ch, text, graph, CASE WHEN size(ch.embedding) = $dimensions THEN {_COSINE} END AS similarity
WITH max(chunk_count) AS chunk_count, collect(ch) AS chosen, collect({{
  id: ch.id, text: ch.text, document_name: {_DOCUMENT_NAME}, similarity: similarity, bm25: text, graph: graph,
  in_scope: size($communities) > 0 AND {_IN_SCOPE}
}}) AS candidates
"""

# What two candidates both mention, as [place of the candidate, number of the entity, its rarity, how much the candidate is about it]:
# the share of the candidate's other entities that the entity has a relation to. The rarest come first.
_SHARED = """
CALL (chosen, chunk_count) {
  UNWIND range(0, size(chosen) - 1) AS place
  WITH place, chosen[place] AS ch, chunk_count
  CALL (ch) {
    MATCH (ch)-[:HAS_ENTITY]->(e:__Entity__)
    WHERE e.project_id = $project_id
    RETURN e LIMIT $mentions_each
  }
  WITH e, chunk_count, collect({place: place, ch: ch}) AS holders
  WHERE size(holders) > 1
  WITH e, holders, chunk_count, COUNT { (e)<-[:HAS_ENTITY]-() } AS mentions
  ORDER BY mentions, e.id
  LIMIT $most_shared
  WITH collect({e: e, holders: holders, rarity: log(1.0 + toFloat(chunk_count) / mentions)}) AS held
  UNWIND range(0, size(held) - 1) AS number
  WITH number, held[number].e AS e, held[number].rarity AS rarity, held[number].holders AS holders
  WITH number, e, rarity, holders, COUNT { (e)-[:RELATED]->() } AS told
  UNWIND holders AS holder
  WITH number, e, rarity, told, holder.place AS place, holder.ch AS ch
  WITH number, rarity, place, COUNT { (ch)-[:HAS_ENTITY]->() } - 1 AS others,
    CASE WHEN told > 0 AND told <= $fan THEN COUNT { (e)-[:RELATED]->()<-[:HAS_ENTITY]-(ch) } ELSE 0 END AS found
  RETURN collect([place, number, rarity, CASE WHEN others > 0 THEN toFloat(found) / others ELSE 0.0 END]) AS shared
}
"""

_NEIGHBOURHOOD = f"""
CALL (chosen) {{
  UNWIND chosen[0..$rooted] AS ch
  MATCH (ch)-[:HAS_ENTITY]->(e:__Entity__)
  WHERE e.project_id = $project_id
  WITH e, count(DISTINCT ch) AS mentions
  ORDER BY mentions DESC, e.id
  LIMIT $most_entities
  RETURN collect(e) AS mentioned, collect({{id: e.id, title: e.title, description: e.description, mentions: mentions}}) AS entities
}}
CALL (mentioned) {{
  UNWIND mentioned AS e
  CALL (e) {{
    MATCH (e)-[r:RELATED]-(other:__Entity__)
    WHERE other.project_id = $project_id
    RETURN r, other
    ORDER BY coalesce(r.weight, 0.0) DESC, other.id
    LIMIT $relations_each
  }}
  WITH DISTINCT r, other
  ORDER BY coalesce(r.weight, 0.0) DESC, other.id
  LIMIT $most_relations
  RETURN collect(other) AS others, collect(DISTINCT {{source: startNode(r).title, target: endNode(r).title,
    description: r.description, weight: r.weight}}) AS relationships
}}
CALL (chosen, mentioned, others) {{
  UNWIND others + mentioned AS e
  WITH DISTINCT e, chosen
  CALL (e) {{
    MATCH (e)<-[:HAS_ENTITY]-(ch:__Chunk__)
    WHERE {_USABLE}
    RETURN ch LIMIT $chunks_each
  }}
  WITH DISTINCT ch, chosen
  WHERE NOT ch IN chosen
  WITH ch, {_COSINE} AS similarity
  ORDER BY similarity DESC, ch.id
  LIMIT $most_neighbors
  RETURN collect({{id: ch.id, text: ch.text, score: similarity, document_name: {_DOCUMENT_NAME}}}) AS neighbors
}}
"""

_FOLLOWUP = f"""
{_PICKED}{_COUNT}{_VECTOR_LEG}{_TEXT_LEG}{_GRAPH_LEG}{_CANDIDATES}{_SHARED}{_NEIGHBOURHOOD}
RETURN candidates, shared, entities, relationships, neighbors
"""

# ------------------------------------------------------------------------------------------------- probes
SHOW_INDEXES = """
SHOW INDEXES YIELD name, type, state, labelsOrTypes, properties, options
WHERE type IN ['VECTOR', 'FULLTEXT']
RETURN name, type, state, labelsOrTypes AS labels, properties, options.indexConfig['vector.dimensions'] AS dimensions
"""


def probe_search(index: str) -> str:
    """Return the statement that compiles only where `index` can be searched inside one project."""
    return "CYPHER 25 EXPLAIN " + _SEARCH_HITS.format(index=index)


def primer(search_index: str | None) -> str:
    """Return the primer's statement; with the name of a searchable index, that index filters by project itself."""
    return _with_hits(_PRIMER, search_index)


def followup(search_index: str | None) -> str:
    """Return the follow-up's statement, in the same two forms."""
    return _with_hits(_FOLLOWUP, search_index)


def _with_hits(text: str, search_index: str | None) -> str:
    if search_index is None:
        return text.replace("/*HITS*/", _INDEX_HITS)
    return "CYPHER 25\n" + text.replace("/*HITS*/", _SEARCH_HITS.format(index=search_index))

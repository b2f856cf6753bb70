"""The statements of a search of nodes: the nearest of several labels, with what is around each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from drift.graph.cypher import legs, nearest
from drift.graph.cypher.expressions import first_not_blank, of_generation, of_project
from drift.graph.cypher.legs import GIVEN, KINDS, Leg, key_of
from drift.graph.cypher.nearest import comparable, metadata, of_document, threshold, visible
from drift.graph.cypher.schema import DEFAULT, Schema


def nearest_nodes(searched: Sequence[Leg], s: Schema = DEFAULT) -> str:
    """Return the statement of the nearest nodes of these labels, with what is around each."""
    language = "CYPHER 25\n" if any(leg.searches for leg in searched) else ""
    return f"""{language}{visible(s)}
CALL () {{
  {threshold(s)}
}}
CALL (generation) {{
{_union(nearest_of(leg, s) for leg in searched)}
}}
WITH n, similarity, threshold, made_by, generation
ORDER BY similarity DESC, toString({_id(s, "n")}), elementId(n)
LIMIT $top_k
{"WITH *, [] AS related" if s.is_filtered else _related(s)}
WITH n AS ch, similarity, threshold, made_by, related
WITH threshold, made_by, ch, {{{_told(s)}, text: {_text(s, "ch")}, similarity: similarity,
  related: related, model: ch.embedding_model
}} AS row
RETURN threshold, made_by, {_still_there()} AS is_there, row
"""


def cosines(searched: Sequence[Leg], s: Schema = DEFAULT) -> str:
    """Return the statement of the cosines of random pairs of the project's texts."""
    return f"""{visible(s)}
CALL (generation) {{
{_union(_embedded(leg, s) for leg in searched)}
}}
WITH n ORDER BY toString({_id(s, "n")}), elementId(n)
WITH collect(n) AS texts
UNWIND CASE WHEN size(texts) >= $least THEN $pairs ELSE [null] END AS pair
WITH size(texts) AS number, texts[toInteger(pair[0] * size(texts))] AS one,
  texts[toInteger(pair[1] * size(texts))] AS other
WITH number, one, other, one.{s.vector} AS embedding,
  other.{s.vector} AS second
WITH number, CASE
  WHEN one <> other AND {comparable()} AND {comparable("second")}
  THEN vector.similarity.cosine(embedding, second)
END AS similarity
RETURN number AS texts, collect(similarity) AS similarities
"""


def _union(parts: Iterable[str]) -> str:
    return "\nUNION ALL\n".join(parts)


def _belongs(leg: Leg, s: Schema, n: str) -> str:
    match leg.label:
        case "__Chunk__":
            return s.project_chunk(n)
        case "__Entity__":
            return s.project_entity(n)
        case "__Community__":
            return s.project_community(n)
        case "__Document__":
            return f"{of_project(n)} AND coalesce({n}.is_off, false) = false"
        case _:
            is_own = f"{n}.id IS NOT NULL AND {legs.is_personal(n)}"
            is_asked = f"any(label IN labels({n}) WHERE label IN $asked.labels)"
            return f"{of_project(n)} AND {is_own} AND {is_asked}"


def _all_of(leg: Leg, s: Schema) -> str:
    if s.is_filtered:  # where only chunks are searched
        return f"{nearest.every_chunk(s)}\n    WITH ch AS n"
    return f"""{_match(leg, s)}
      WHERE {_belongs(leg, s, "n")}"""


def _match(leg: Leg, s: Schema) -> str:
    """Return the clause that finds nodes `n` of a label; people's own are sought by their key."""
    key = (key_of(leg.label),) if leg.label == legs.PERSONAL else ()
    return f"MATCH (n:{s.label(leg.label)}){s.seek('n', leg.label, *key)}"


def nearest_of(leg: Leg, s: Schema) -> str:
    """Return the body that gives the nearest `n` of one label, with their `similarity`."""
    if leg.index == GIVEN:
        found = _given(leg, _belongs(leg, s, "n"))
    else:
        found = _all_of(leg, s) if leg.index is None else _few_or_nearest(leg, s)
    return f"""
  WITH generation
  {found}
  WITH n, n.{s.vector} AS embedding
  WHERE {comparable()}
  WITH n, {nearest.COSINE} AS similarity
  ORDER BY similarity DESC, toString({_id(s, "n")}), elementId(n)
  LIMIT $top_k
  RETURN n, similarity"""


def _given(leg: Leg, belongs: str) -> str:
    key = key_of(leg.label)
    return f"""UNWIND {GIVEN}.{KINDS[leg.label]} AS ids
      MATCH (n:{leg.label}){DEFAULT.seek("n", leg.label, key)}
      WHERE n.{key} IN ids AND {belongs}"""


def _few_or_nearest(leg: Leg, s: Schema) -> str:
    return f"""CALL () {{
    {_count(leg, s)}
  }}
  CALL (nodes, generation) {{
    UNWIND CASE WHEN nodes <= $exact_limit THEN [1] ELSE [] END AS exact
    {_all_of(leg, s)}
    RETURN n
  UNION ALL
    UNWIND CASE WHEN nodes > $exact_limit THEN [1] ELSE [] END AS indexed
    CALL (generation) {{{_hits(leg, s)}}}
    CALL (hits, generation) {{
      UNWIND CASE WHEN size(hits) >= $top_k THEN hits[0..$rescored] ELSE [] END AS n
      RETURN n
    UNION ALL
      UNWIND CASE WHEN size(hits) < $top_k THEN [1] ELSE [] END AS starved
      {_all_of(leg, s)}
      RETURN n
    }}
    RETURN n
  }}"""


def _count(leg: Leg, s: Schema) -> str:
    if s.is_filtered:
        return "RETURN $asked.allowed_chunks AS nodes"
    has_key = " AND n.id IS NOT NULL" if leg.label == legs.PERSONAL else ""
    condition = f"WHERE {of_project('n')}{has_key}" if s.has_projects else ""
    return f"""{_match(leg, s)}
    {condition}
    WITH n LIMIT $count_limit
    RETURN count(n) AS nodes"""


def _hits(leg: Leg, s: Schema) -> str:
    if leg.searches:
        asked = f"""MATCH (node:{leg.indexed or s.label(leg.label)})
      SEARCH node IN (
        VECTOR INDEX `{leg.index}` FOR $vector WHERE node.project_id = $asked.project_id
        LIMIT $fetch
      ) SCORE AS score
    WITH node, score, generation ORDER BY score DESC"""
    else:
        asked = f"CALL db.index.vector.queryNodes('{leg.index}', $fetch, $vector) YIELD node"
    return f"""
    {asked}
    WITH node, generation WHERE node:{s.label(leg.label)} AND {_belongs(leg, s, "node")}
    RETURN collect(node) AS hits
"""


def _embedded(leg: Leg, s: Schema) -> str:
    return f"""  WITH generation
  {_all_of(leg, s)} AND n.{s.vector} IS NOT NULL
  WITH n LIMIT $most
  RETURN n"""


# Relations first: what mentions an entity is looked at behind them, so that a hub's relations are
# not lost among its mentions.
def _related(s: Schema) -> str:
    return f"""CALL (n, generation) {{
  CALL (n) {{
    MATCH (n)-{s.related("r")}-(other)
    RETURN r, other LIMIT $looked_at
  UNION
    MATCH (n)-[r:{s.between}]-(other)
    RETURN r, other LIMIT $looked_at
  UNION
    WITH n WHERE {legs.is_personal("n")}
    MATCH (n)-[r]-(other)
    RETURN r, other LIMIT $looked_at
  }}
  WITH n, r, other, generation
  WHERE other <> n AND {_is_seen(s)}
  WITH other, CASE WHEN abs({s.weight("r")}) < 1.0e300 THEN {s.weight("r")} ELSE 0.0 END AS weight,
    CASE WHEN r.description IS :: STRING NOT NULL THEN r.description ELSE type(r) END AS relation
  ORDER BY weight DESC, relation
  WITH other, sum(weight) AS weight, head(collect(relation)) AS relation
  WITH other AS ch, weight, relation, COUNT {{ (other)--() }} AS degree
  ORDER BY weight DESC, degree DESC, toString({_id(s, "ch")}), elementId(ch)
  LIMIT $most_related
  WITH ch, {{{_told(s)}, relation: left(relation, $longest_relation)}} AS row
  RETURN collect(CASE WHEN {_still_there()} THEN row END) AS related
}}"""


def _is_seen(s: Schema) -> str:
    if not s.has_projects:
        return f"(other:{s.community} OR {s.project_step('other')})"
    return f"""other.project_id = $asked.project_id AND (other:{s.chunk}
    OR {legs.is_personal("other")}
    OR (other:{s.entity} OR other:{s.community}) AND {of_generation("other")})"""


def _still_there() -> str:
    """Return the condition that `ch` was not removed while the statement ran; see `nearest`."""
    return "size(labels(ch)) > 0"


def _id(s: Schema, n: str) -> str:
    return f"""CASE WHEN {n}:{s.chunk} THEN {s.node_id(n)} WHEN {n}:{s.community}
      THEN {s.community_id(n)} ELSE {s.node_id(n)} END"""


def _labels(s: Schema, n: str) -> str:
    if s.has_projects:
        return f"labels({n})"
    return f"""CASE WHEN {n}:{s.chunk} THEN ['__Chunk__'] WHEN {n}:{s.community}
      THEN ['__Community__'] ELSE ['__Entity__'] END"""


def _text(s: Schema, n: str) -> str:
    kinds = {s.chunk: s.text, s.community: s.summary}
    cases = " ".join(
        f"WHEN {n}:{label} THEN {_cut(f'{n}.{name}')}" for label, name in kinds.items()
    )
    return f"CASE {cases} ELSE {_cut(s.entity_text(n))} END"


def _cut(value: str) -> str:
    return f"CASE WHEN {value} IS :: STRING NOT NULL THEN left({value}, $longest_text) END"


def _told(s: Schema) -> str:
    """Return the entries of a map that say which node `ch` is, and what it is called."""
    document = of_document(s, f"title: title, id: id, metadata: {metadata('d', 'title')}")
    return f"""
    id: {_id(s, "ch")}, labels: {_labels(s, "ch")},
    title: left({first_not_blank("ch", "title", "name")}, $longest_text),
    heading: CASE WHEN ch:{s.chunk} AND ch.heading IS :: STRING THEN ch.heading END,
    document: CASE WHEN ch:{s.chunk} THEN {document} END"""

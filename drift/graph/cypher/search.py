"""Every Cypher statement that reads: text with $parameters, one story for both graph schemas.

The plain form is Cypher 5 and runs from Neo4j 5.26 on. Where the chunk index has `project_id` as a
filter property, the searching form puts a SEARCH with an in-index filter in the place of the index
procedure.

What the statements hold to, each because a real server does otherwise:
- `collect` and `UNWIND` stand between a match on a unique key with a list and any DISTINCT. Without
  them Neo4j takes the unique key for "one row at most", drops the DISTINCT, and chunks below both a
  community and its parent appear twice.
- Filter first, then rank. An index without filter properties is asked only above the exact limit,
  and when its best rows hold too few of the project's chunks, the project is scored exactly: no
  project starves beside a larger one.
- What is reached along edges is filtered behind a WITH DISTINCT. In the pattern itself, a label or
  a project would let the planner begin at an index of chunks instead, once for each row.
- Scores of an index are quantised, so its rows are scored again.
- What a question brings stands inside one map, `$asked`: a statement is planned anew, for up to
  seconds, for each order of magnitude of the length of a text or list that is a parameter of its
  own.
- Every step names what belongs to the project; every list is bounded before the next step; no
  embedding is returned.
"""

from __future__ import annotations

from drift.graph.cypher import followup as followup_text
from drift.graph.cypher.legs import GIVEN
from drift.graph.cypher.nearest import hits, home, readable, scored, still_there, told, visible
from drift.graph.cypher.schema import DEFAULT, Schema
from drift.graph.cypher.walk import in_scope
from drift.graph.mapping import quoted

SHOW_INDEXES = """
SHOW INDEXES YIELD name, type, state, populationPercent, entityType, labelsOrTypes, properties,
  owningConstraint, options
WHERE entityType = 'NODE' AND type <> 'LOOKUP'
RETURN name, toLower(type) AS kind, state, coalesce(populationPercent, 0.0) AS percent,
  coalesce(labelsOrTypes, []) AS labels, coalesce(properties, []) AS properties,
  owningConstraint IS NOT NULL AS is_unique,
  options.indexConfig['vector.dimensions'] AS dimensions,
  options.indexConfig['vector.similarity_function'] AS similarity
ORDER BY name
"""

HAS_TOPICS = """
OPTIONAL MATCH (p:__Project__ {id: $asked.project_id})
RETURN p.clustered_chunks IS NOT NULL AS has_topics
"""

BEHIND = """
MATCH (p:__Project__)
WITH p LIMIT $looked_at
WITH p WHERE p.behind > 0
RETURN count(p) AS projects, sum(p.behind) AS documents
"""
"""Of the first projects: how many documents changed since knowledge was derived, in how many."""

EDGE_TYPES = (
    "CALL db.relationshipTypes() YIELD relationshipType AS type RETURN type ORDER BY type LIMIT 300"
)

CYPHER_25 = "CYPHER 25 EXPLAIN RETURN 1"
"""Compiles only where the server speaks the newer language."""


def followup(search_index: str | None, schema: Schema = DEFAULT) -> str:
    """Return the follow-up's statement; a searchable index of that name filters by project itself.

    In its place stands GIVEN where a store of vectors was asked.
    """
    language = "CYPHER 25\n" if search_index not in {None, GIVEN} else ""
    return f"{language}{followup_text.followup(schema, hits(schema, search_index))}"


# A vote counts 1 / (10 + rank). A topic without a vector does not say what is in it.
def topics(s: Schema = DEFAULT) -> str:
    """Return the statement that gives the topics voted for, and the group above each."""
    return f"""
{visible(s)}
CALL (generation) {{
  UNWIND range(0, size($asked.voters) - 1) AS rank
  WITH rank, $asked.voters[rank] AS voter, generation
  MATCH (ch:{s.chunk}){s.seek("ch", "__Chunk__", "id")}
  WHERE {s.project_chunk("ch")} AND ch.id = voter.id
  MATCH (ch){s.member_of}(c:{s.community})
  WHERE {s.project_community("c")} AND c.{s.vector} IS NOT NULL AND {readable(s, "c", s.summary)}
  WITH c, rank, voter, generation ORDER BY rank
  WITH c, sum(1.0 / (10 + rank)) AS votes, collect(voter.id) AS members, generation
  ORDER BY votes DESC, {s.community_id("c")}
  LIMIT $top_k
  CALL (c, generation) {{
    OPTIONAL MATCH (c){s.community_up}(g:{s.community})
    WHERE {s.project_community("g")} AND g.{s.vector} IS NOT NULL AND {readable(s, "g", s.summary)}
    RETURN g LIMIT 1
  }}
  RETURN collect({{
    id: {s.community_id("c")}, level: toIntegerOrNull(c.level), title: c.title,
    summary: c.{s.summary}, votes: votes, members: members, above: CASE WHEN g IS NOT NULL THEN {{
      id: {s.community_id("g")}, level: toIntegerOrNull(g.level), title: g.title,
      summary: g.{s.summary}
    }} END
  }}) AS topics
}}
RETURN topics, made_by
"""


# A title that more documents have names none of them. A linked document is long at times, and only
# its first chunks are compared.
def named(s: Schema = DEFAULT) -> str:
    """Return the statement that gives the `named`: the nearest chunks of documents.

    These are the documents of the `$asked.anchors`, those whose titles are `$asked.titles`, and
    those that links lead to, `$asked.linked`.
    """
    return f"""
{visible(s)}{followup_text.picked(s)}
CALL () {{
  MATCH (ch:{s.chunk}){s.seek("ch", "__Chunk__", "id")}
  WHERE {s.project_chunk("ch")} AND {s.node_id("ch")} IN $asked.anchors
  RETURN collect(ch) AS anchors
}}
CALL () {{
  {_titled(s)}
}}
CALL (anchors, titled, generation, hard) {{
  CALL (anchors) {{
    UNWIND anchors AS ch
    {home(s)}
    RETURN collect(DISTINCT home) AS homes
  }}
  UNWIND [{{of: homes, compared: $most_chunks, most: $most_of_named}}] +
    [d IN titled | {{of: [d], compared: $compared_of_titled, most: $most_of_titled}}] AS one
  CALL (one, generation, hard) {{
    UNWIND one.of AS d
    MATCH (d){s.holds}(ch)
    WITH DISTINCT ch, one, generation, hard
    WHERE {s.project_chunk("ch")}
    WITH ch, one, generation, hard ORDER BY {s.ordinal("ch")}
    WITH collect(ch)[0..one.compared] AS compared, one, generation, hard
    UNWIND compared AS ch
    WITH ch, one, generation, hard
    WHERE NOT hard OR {in_scope(s)}
    {scored(s, "ch, one")}
    ORDER BY similarity DESC, {s.node_id("ch")}
    WITH collect({{ch: ch, similarity: similarity}})[0..one.most] AS nearest, one
    RETURN nearest
  }}
  UNWIND nearest AS near
  WITH DISTINCT near.ch AS ch, near.similarity AS similarity
  WITH ch, {{
    {told(s)}, links: {s.links("ch")},
    similarity: similarity, bm25: 0.0, graph: 0.0, in_scope: true
  }} AS row
  RETURN collect(CASE WHEN {still_there(s)} THEN row END) AS named
}}
RETURN named
"""


# A title of several documents names none of them.
def _titled(s: Schema) -> str:
    if not s.titled_label:
        return "RETURN [] AS titled"
    of_project, is_on = "", ""
    if s.has_projects:
        of_project, is_on = f"{s.project_document('d')} AND ", " AND d.is_off IS NULL"
    return f"""CALL () {{
    UNWIND $asked.titles AS key
    CALL (key) {{
      MATCH (d:{quoted(s.titled_label)}){s.seek("d", "__Document__", "title_key")}
      WHERE {of_project}d.title_key = key{is_on}
      WITH d LIMIT 2
      RETURN collect(d) AS of_title
    }}
    WITH of_title WHERE size(of_title) = 1
    RETURN head(of_title) AS d LIMIT $most_titled{_linked(s)}
  }}
  RETURN collect(d) AS titled"""


def _linked(s: Schema) -> str:
    if not s.has_projects:
        return ""
    return f"""
  UNION
    UNWIND $asked.linked AS id
    MATCH (d:__Document__){s.seek("d", "__Document__", "id")}
    WHERE {s.project_document("d")} AND d.id = id AND d.is_off IS NULL
    RETURN d"""


# What stands outside a mark, a licence most often, is not the text's beginning or end.
def positions(s: Schema = DEFAULT) -> str:
    """Return the statement that gives `pinned`: the chunks of each wish, the nearest first.

    A wish has the `ids` of a chunk, a `direction` seen from it or the edge of its document, and the
    `marks` that part the text of an electronic edition from the words around it.
    """
    ordinal = s.ordinal("ch")
    return f"""
{visible(s)}{followup_text.picked(s)}
CALL () {{
  UNWIND range(0, size($asked.wishes) - 1) AS number
  WITH number, $asked.wishes[number] AS wish
  MATCH (ch:{s.chunk}){s.seek("ch", "__Chunk__", "id")}
  WHERE {s.project_chunk("ch")} AND {s.node_id("ch")} IN wish.ids
  RETURN collect({{number: number, wish: wish, ch: ch}}) AS anchors
}}
CALL (anchors) {{
  UNWIND anchors AS anchor
  WITH anchor.number AS number, anchor.wish AS wish, anchor.ch AS ch
  {home(s)}
  WITH number, wish, home, {ordinal} AS here
  CALL (wish, home, here) {{
    MATCH (home){s.holds}(ch)
    WITH DISTINCT ch, wish, here
    WHERE {s.project_chunk("ch")} AND {readable(s)}
    WITH ch, wish.direction IN ['before', 'after'] AS is_beside, CASE wish.direction
      WHEN 'before' THEN here - {ordinal}
      WHEN 'after' THEN {ordinal} - here
      WHEN 'end' THEN -{ordinal}
      ELSE {ordinal}
    END AS distance
    WHERE distance > 0 OR NOT is_beside AND distance IS NOT NULL
    WITH ch ORDER BY distance LIMIT $outermost
    RETURN collect(ch) AS outer
  }}
  WITH number, outer, coalesce(last([
    place IN range(0, size(outer) - 1)
    WHERE any(mark IN wish.marks WHERE outer[place].{s.text} CONTAINS mark)
  ]), 0) AS first
  UNWIND range(first, first + $most_pinned - 1) AS place
  WITH number, outer[place] AS ch, place
  WHERE ch IS NOT NULL
  RETURN collect({{ch: ch, number: number, place: place}}) AS found
}}
CALL (found, generation, hard) {{
  UNWIND found AS row
  WITH row, row.ch AS ch, generation, hard
  WHERE NOT hard OR {in_scope(s)}
  WITH ch, row.number AS number, row.place AS place, {{{told(s)}}} AS pin
  ORDER BY number, place
  RETURN collect(CASE WHEN {still_there(s)} THEN pin END) AS pinned
}}
RETURN pinned
"""

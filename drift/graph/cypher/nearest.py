"""What statements share: how many chunks there are, which are nearest, where they stand."""

from __future__ import annotations

from drift.graph.cypher.expressions import of_project
from drift.graph.cypher.legs import GIVEN
from drift.graph.cypher.schema import Schema

COSINE = "vector.similarity.cosine(embedding, $vector)"

STARTS = ("start", "start_index", "start_char_idx")
"""Where they leave the character of its document at which a chunk begins."""


def comparable(vector: str = "embedding") -> str:
    """Return the condition that a vector has the right length and, as a list, a direction.

    Whatever else stands there would make the whole statement fail. CASE keeps the server from
    looking into what is no list; nearly always the first number decides, so this costs nothing.
    Whether all numbers are finite is asked only where `$careful` says so, for it costs more than
    the comparison itself. Give it a variable, not a property: reading a property of 1,536 floats
    is most of what a chunk costs.
    """
    return f"""CASE WHEN {vector} IS :: LIST<ANY> THEN size({vector}) = $dimensions
    AND any(x IN {vector} WHERE x < -1.0e-30 OR x > 1.0e-30)
    AND CASE WHEN $careful THEN all(x IN {vector} WHERE -3.4e38 < x AND x < 3.4e38) ELSE true END
  WHEN valueType({vector}) STARTS WITH 'VECTOR'
  THEN valueType({vector}) CONTAINS '(' + $dimensions + ')'
  ELSE false END"""


THRESHOLD = {
    "score_threshold": "score",
    "score_threshold_texts": "texts",
    "score_threshold_model": "model",
    "score_threshold_dimensions": "dimensions",
    "score_floor": "floor",
    "score_unrelated": "unrelated",
    "score_threshold_written_at": "written_at",
}
"""The properties of a project's node that say how near is near enough, with ScoreThreshold's."""


def readable(s: Schema, node: str = "ch", name: str = "") -> str:
    """Return the condition that what is to be read of a node is text, or missing."""
    return f"{node}.{name or s.text} IS :: STRING"


def threshold(s: Schema) -> str:
    """Return the body that gives the project's `threshold` as it was measured; null for none."""
    if not s.has_projects:
        return "RETURN null AS threshold"
    return f"""OPTIONAL MATCH (p:__Project__ {{id: $asked.project_id}})
  RETURN p {{{listed(*THRESHOLD)}}} AS threshold"""


def listed(*properties: str) -> str:
    """Return these properties as a map projection lists them."""
    return ", ".join(f".{name}" for name in properties)


def every_chunk(s: Schema) -> str:
    """Return the clauses that give every `ch` of the project, or of what a filter leaves of it."""
    if not s.is_filtered:
        return f"""MATCH (ch:{s.chunk}){s.seek("ch", "__Chunk__")}
    WHERE {s.project_chunk("ch")}"""
    return f"""UNWIND keys($asked.allowed) AS document_id
    MATCH (holder:__Document__){s.seek("holder", "__Document__", "id")}
    WHERE {of_project("holder")} AND holder.id = document_id
    MATCH (holder)-[:HAS_CHUNK]->(ch)
    WITH DISTINCT ch
    WHERE ch:__Chunk__ AND {of_project("ch")}"""


def scored(s: Schema, kept: str = "ch") -> str:
    """Return the clauses after which `ch` has a `similarity`; what is not usable is left out.

    Of the variables those that are `kept` stay.
    """
    return f"""WITH {kept}, ch.{s.vector} AS embedding
  WHERE {comparable()} AND {readable(s)}
  WITH {kept}, {COSINE} AS similarity"""


def visible(s: Schema) -> str:
    """Return the subquery that gives the `generation` to read, and whether one is `building`."""
    return f"""
CALL () {{
  {s.visible}
}}
"""


def count(s: Schema) -> str:
    """Return the subquery that gives `chunk_count`; where the server keeps none, up to a limit."""
    if s.is_filtered:
        body = "RETURN $asked.allowed_chunks AS chunk_count"
    elif not s.has_projects:
        body = f"MATCH (ch:{s.chunk}) RETURN count(ch) AS chunk_count"
    else:
        body = f"""MATCH (ch:__Chunk__){s.seek("ch", "__Chunk__")}
  WHERE ch.project_id = $asked.project_id
  WITH ch LIMIT $count_limit
  RETURN count(ch) AS chunk_count"""
    return f"""
CALL () {{
  {body}
}}
"""


def hits(s: Schema, index: str | None) -> str:
    """Return the body that asks an index for `hits` of the project, best first.

    Without the name of one that searches inside a project (Cypher 25), the procedure is asked, and
    what is of another project dropped.
    """
    if index == GIVEN:
        return f"""
    UNWIND range(0, size({GIVEN}.Chunk) - 1) AS place
    WITH place, {GIVEN}.Chunk[place] AS ids
    MATCH (node:{s.chunk}){s.seek("node", "__Chunk__", "id")}
    WHERE node.id IN ids AND {s.project_chunk("node")}
    WITH node, place ORDER BY place
    RETURN collect(node) AS hits
"""
    if index:
        return f"""
    MATCH (node:{s.chunk})
      SEARCH node IN (
        VECTOR INDEX `{index}` FOR $vector WHERE node.project_id = $asked.project_id LIMIT $fetch
      ) SCORE AS score
    WITH node, score{f" WHERE {s.project_chunk('node')}" if s.is_filtered else ""}
    ORDER BY score DESC
    RETURN collect(node) AS hits
"""
    return f"""
    CALL db.index.vector.queryNodes($chunk_index, $fetch, $vector) YIELD node
    WITH node WHERE {s.project_chunk("node")}
    RETURN collect(node) AS hits
"""


def nearest(s: Schema, hits: str) -> str:
    """Return the subquery that gives `near`: where `whole`, the nearest chunks, best first."""
    return f"""
CALL (chunk_count, whole) {{
  CALL (chunk_count, whole) {{
    UNWIND CASE WHEN whole AND chunk_count <= $exact_limit THEN [1] ELSE [] END AS exact
    {every_chunk(s)}
    RETURN ch
  UNION ALL
    UNWIND CASE WHEN whole AND chunk_count > $exact_limit THEN [1] ELSE [] END AS indexed
    CALL () {{{hits}}}
    CALL (hits) {{
      UNWIND CASE WHEN size(hits) >= $pool THEN hits[0..$rescored] ELSE [] END AS ch
      RETURN ch
    UNION ALL
      UNWIND CASE WHEN size(hits) < $pool THEN [1] ELSE [] END AS starved
      {every_chunk(s)}
      RETURN ch
    }}
    RETURN ch
  }}
  {scored(s)}
  ORDER BY similarity DESC, {s.node_id("ch")}
  LIMIT $pool
  RETURN collect({{ch: ch, similarity: similarity}}) AS near
}}
"""


def still_there(s: Schema) -> str:
    """Return the condition that `ch` was not removed while the statement ran.

    A document may be replaced between two reads of one of its chunks, which then has its text and
    no document. Ask behind the clause that reads the chunk: what is there after was there before.
    """
    return f"ch:{s.chunk}"


def is_common(mentions: str) -> str:
    """Return the condition that an entity stands in too many chunks to lead to any of them.

    A collection's own subject does; `mentions` is read off the node's degree. Where chunks were
    counted up to a limit alone, it stands in more than these.
    """
    share = "CASE WHEN chunk_count = $count_limit THEN 1.0 ELSE $common_share END"
    return f"({mentions} > $few_mentions AND {mentions} > chunk_count * {share})"


def rarity(mentions: str, seen: str) -> str:
    """Return how rare an entity is that was `seen` in so many chunks; mentions may be gone."""
    known = f"CASE WHEN {mentions} < {seen} THEN {seen} ELSE {mentions} END"
    return f"log(1.0 + toFloat(chunk_count) / {known})"


def home(s: Schema) -> str:
    """Return the subquery that gives the `home` of `ch`: the document that it is named after."""
    return f"""CALL (ch) {{
      {s.document}
      RETURN d AS home ORDER BY coalesce(title, id) LIMIT 1
    }}"""


def of_document(s: Schema, entries: str) -> str:
    """Return these entries of a map about the document that `ch` is named after; null for none."""
    return f"""head(COLLECT {{
      {s.document}
      WITH d, title, id ORDER BY coalesce(title, id) LIMIT 1
      RETURN {{{entries}}}
    }})"""


def told(s: Schema) -> str:
    """Return the entries of a map that say what `ch` is, and where, in one of its documents."""
    # Where pipelines leave a chunk's page. A label comes before `page`, which PyPDFLoader counts
    # from 0 beside it.
    pages = ("page_number", "page_label", "page")
    document = f"""title: title, id: id, metadata: {metadata("d", "title")},
        chunks: {s.chunks_of("d")}, uris: {_where_asked(uris("d"))},
        superseded_by: {_newest(s)}"""
    return f"""
    id: {s.node_id("ch")}, text: ch.{s.text},
    heading: CASE WHEN ch.heading IS :: STRING THEN ch.heading END,
    ordinal: {s.ordinal("ch")},
    pages: {_where_asked(_usable("ch", pages, _short("one", "$longest_page")))},
    starts: {_where_asked(_usable("ch", STARTS, "one IS :: INTEGER NOT NULL"))},
    lines: {_where_asked(_usable("ch", ("first_line",), "one IS :: INTEGER NOT NULL"))},
    document: {of_document(s, document)}"""


# A name that a filter hides is not told either.
def _newest(s: Schema) -> str:
    if not s.is_filtered:
        return "d.superseded_by"
    is_seen = "coalesce($asked.allowed[toStringOrNull(d.superseded_by)], false)"
    return f"CASE WHEN {is_seen} THEN d.superseded_by END"


def uris(d: str) -> str:
    """Return the list of what may be a document's address, the likeliest first."""
    # Where pipelines leave a document's address, and other things.
    names = ("source_uri", "url", "uri", "source", "path")
    return _usable(d, names, _short("one", "$longest_uri"))


# Nothing of it is read for a question that does not ask where its citations stand.
def _where_asked(values: str) -> str:
    return f"CASE WHEN $asked.located THEN {values} ELSE [] END"


def _usable(node: str, names: tuple[str, ...], usable: str) -> str:
    properties = ", ".join(f"{node}.{name}" for name in names)
    return f"[one IN [{properties}] WHERE {usable}]"


# CASE keeps the server from asking what is no text for its length.
def _short(value: str, most: str) -> str:
    return f"""CASE WHEN {value} IS :: STRING NOT NULL THEN size({value}) <= {most}
      ELSE {value} IS :: INTEGER NOT NULL END"""


# A map cannot be stored, so pipelines store it as JSON. It is read by Python, and only where there
# is no title.
def metadata(d: str, title: str) -> str:
    """Return what a document without a title says of its file, null for one with a title."""
    stored = f"{d}.metadata"
    return f"""CASE WHEN {title} IS NULL AND {stored} IS :: STRING NOT NULL
          THEN CASE WHEN size({stored}) <= $longest_metadata THEN {stored} END END"""


def listed_document(s: Schema) -> str:
    """Return the entries of a map about the document `d`, as lists show it."""
    return f"""id: {s.document_id("d")}, title: {s.document_title("d")},
    uris: {uris("d")},
    metadata: {metadata("d", s.document_title("d"))}, chunks: {s.chunks_of("d")}"""

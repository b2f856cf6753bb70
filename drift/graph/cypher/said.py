"""What is said of documents beside their text: of one, and of a project's together."""

from __future__ import annotations

from drift.graph.cypher.allowed import matches
from drift.graph.cypher.expressions import milliseconds
from drift.graph.cypher.finding import is_whole
from drift.graph.cypher.schema import DEFAULT, Schema
from drift.model import attributes


def said(s: Schema) -> str:
    """Return what is said of a document `d`, as a map; null where ingestion wrote none."""
    if not s.has_projects:
        return "null"
    return f"""d {{.tags, .media_type, .source, .is_off, .created_at,
      updated_at: {milliseconds("d.updated_at")},
      metadata: [name IN keys(d)
        WHERE name STARTS WITH '{attributes.METADATA}' AND {_is_short("d[name]")}
        | [name, d[name]]][..$most_metadata]}}"""


# CASE keeps the server from asking what is no text for its length.
def _is_short(value: str) -> str:
    return f"""CASE WHEN {value} IS :: STRING NOT NULL THEN size({value}) <= $longest_value
      ELSE {value} IS :: BOOLEAN NOT NULL OR {value} IS :: INTEGER NOT NULL
        OR {value} IS :: FLOAT NOT NULL END"""


# Of the first documents alone, so that a project of any size costs as much.
def filter_keys(s: Schema = DEFAULT) -> str:
    """Return the statement of what documents say, with the commonest values of each key."""
    return f"""
MATCH (d:__Document__){s.seek("d", "__Document__")}
WHERE {s.project_document("d")} AND {is_whole("d")}
WITH d LIMIT $most_documents
UNWIND [name IN keys(d) WHERE name IN ['source', 'media_type', 'tags']
  OR name STARTS WITH '{attributes.METADATA}'] AS name
WITH CASE name WHEN 'tags' THEN 'tag' ELSE name END AS key, d[name] AS held
UNWIND CASE WHEN held IS :: LIST<ANY> THEN held ELSE [held] END AS value
WITH key, value WHERE {_is_short("value")}
WITH key, value, count(*) AS documents ORDER BY documents DESC, key, toString(value)
WITH key, collect({{value: value, documents: documents}}) AS found, sum(documents) AS said
RETURN key, found[..10] AS values ORDER BY said DESC, key LIMIT 20
"""


def allowed(s: Schema = DEFAULT) -> str:
    """Return the statement that gives what a filter leaves: ids of documents, counts of chunks."""
    return f"""
MATCH (d:__Document__){s.seek("d", "__Document__")}
WHERE {s.project_document("d")} AND {is_whole("d")} AND coalesce(d.chunks, 0) >= 0
WITH d, {s.chunks_of("d")} AS held, {matches("d")} AS fits
RETURN collect(CASE WHEN fits THEN toStringOrNull(d.id) END) AS documents,
  sum(CASE WHEN fits THEN held ELSE 0 END) AS chunks, sum(held) AS of
"""


# Documents say how many chunks they have, so none is read; of one more than is told, no size is.
SIZES = f"""
UNWIND $asked.ids AS id
CALL (id) {{
  MATCH (d:__Document__){DEFAULT.seek("d", "__Document__")}
  WHERE d.project_id = id AND {is_whole("d")}
  WITH d LIMIT $most_sized + 1
  RETURN count(d) AS documents, sum({DEFAULT.chunks_of("d")}) AS chunks
}}
RETURN id, documents, chunks
"""


# What changed may be documents that a filter hides.
def behind(s: Schema) -> str:
    """Return the body that gives the documents `behind`: changed since knowledge was derived."""
    if not s.has_projects or s.is_filtered:
        return "RETURN 0 AS behind"
    return """OPTIONAL MATCH (p:__Project__ {id: $asked.project_id})
  RETURN coalesce(p.behind, 0) AS behind"""

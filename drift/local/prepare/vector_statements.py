"""Statements that find what lacks a vector, of a project or of a whole graph, and write it."""

from __future__ import annotations

from collections.abc import Mapping

from drift.graph.cypher import clauses, legs
from drift.graph.cypher.edges import MAX_LEVELS
from drift.graph.cypher.expressions import first_not_blank
from drift.graph.cypher.schema import Schema
from drift.graph.versions import FIRST, VectorVersion
from drift.local.prepare.kinds import every_text

TEXTS: Mapping[str, str] = {"__Chunk__": "text", "__Community__": "summary"}
"""What is embedded of the nodes of a label."""


_NAME = f"coalesce({first_not_blank('ch', 'title', 'name')}, '')"

PROJECTS = """MATCH (p:__Project__)
WHERE toStringOrNull(p.id) IS NOT NULL
RETURN toString(p.id) AS id ORDER BY id LIMIT 10"""

FORGET_MODELS = "MATCH (p:__Project__) REMOVE p.embedding_models"


def _source(schema: Schema, label: str, *, everywhere: bool = False) -> str:
    """Return what binds the nodes of a label as `ch`: the project's, or the whole graph's."""
    if everywhere or not schema.has_projects:
        return f"MATCH (ch:{schema.label(label)})\nWHERE true"
    # Chunks that are switched off, and people's own nodes, are few, and have no index of that kind.
    hint = "" if label in {"__OffChunk__", legs.PERSONAL} else schema.seek("ch", label)
    return f"MATCH (ch:{label}){hint}\nWHERE ch.project_id = $asked.project_id"


def count_nodes(schema: Schema, label: str) -> str:
    """Return the statement that counts the project's nodes of a label."""
    return f"{_source(schema, label)}\nRETURN count(ch) AS nodes"


def count_texts(
    schema: Schema, label: str, version: VectorVersion, *, everywhere: bool = False
) -> str:
    """Return the statement that counts texts, those without a vector, and their characters."""
    return f"""{_source(schema, label, everywhere=everywhere)}
WITH ch, {_text(schema, label)} AS text, ch.{version.vector_in(schema)} IS NULL AS is_bare
WHERE {_says(label)}
RETURN count(ch) AS texts, count(CASE WHEN is_bare THEN 1 END) AS lacking,
  sum(CASE WHEN is_bare AND size(text) < $longest THEN size(text) WHEN is_bare THEN $longest
    ELSE 0 END) AS characters"""


def bare_nodes(
    schema: Schema,
    label: str,
    version: VectorVersion = FIRST,
    *,
    everywhere: bool = False,
    means: bool = False,
) -> str:
    """Return the statement that lists what lacks such a vector, by level; `means`: or a mean."""
    mean = f"OR ch.stamp IS NOT NULL AND ch.{version.named('mean')} IS NULL" if means else ""
    return f"""{_source(schema, label, everywhere=everywhere)}
  AND ch.{version.vector_in(schema)} IS NULL
WITH ch, {_text(schema, label)} AS text
WHERE {_says(label)} {mean}
RETURN elementId(ch) AS id, coalesce(toIntegerOrNull(ch.level), 0) AS level ORDER BY level"""


def read_texts(
    schema: Schema, label: str, version: VectorVersion = FIRST, *, means: bool = False
) -> str:
    """Return the statement that reads texts with their heading; `means`: with their members."""
    members = _members(version) if means else "[]"
    vector = version.vector_in(schema)
    return f"""UNWIND $keys AS key
MATCH (ch:{schema.label(label)}) WHERE elementId(ch) = key AND ch.{vector} IS NULL
WITH key, ch, {_text(schema, label)} AS text
RETURN key, text, {_heading(schema, label)} AS heading, {_says(label)} AS says,
  {members} AS members"""


def _text(schema: Schema, label: str) -> str:
    text = f"ch.{every_text(schema)[label]}"
    return f"CASE WHEN {text} IS :: STRING NOT NULL THEN {text} ELSE '' END"


def _says(label: str) -> str:
    match label:
        case "__Entity__":
            return "trim(toStringOrNull(ch.title)) <> ''"
        case "__Community__":
            return "trim(text) <> '' AND coalesce(ch.says, true)"
        case legs.PERSONAL:
            return f"trim(text) <> '' AND {_NAME} <> ''"
        case _:
            return "trim(text) <> ''"


def _heading(schema: Schema, label: str) -> str:
    if label == "__Community__":
        return "''"
    if label in {"__Entity__", legs.PERSONAL}:
        return _NAME

    title = f"""head(COLLECT {{
    {schema.document}
    WITH title, id ORDER BY coalesce(title, id)
    RETURN title LIMIT 1
  }})"""
    heading = "CASE WHEN ch.heading IS :: STRING THEN ch.heading END"

    return f"coalesce({heading}, {title}, '')"


def _members(version: VectorVersion) -> str:
    mean = version.named("mean")
    return f"""COLLECT {{
    MATCH (ch)<-[:IN_COMMUNITY]-(m:__Chunk__|__Community__)
    WHERE ch.stamp IS NOT NULL
    WITH m, CASE WHEN m:__Chunk__ THEN m.{version.vector} ELSE m.{mean} END AS vector
    WHERE vector IS NOT NULL
    RETURN [vector, CASE WHEN m:__Chunk__ THEN 1
      ELSE COUNT {{ (m)<-[:IN_COMMUNITY*1..{MAX_LEVELS}]-(:__Chunk__) }} END]
  }}"""


# A text that was changed since it was read is left for the next run.
def write_vectors(schema: Schema, label: str, version: VectorVersion = FIRST) -> str:
    """Return the statement that gives nodes such a vector where they have none."""
    return f"""UNWIND $rows AS row
MATCH (ch:{schema.label(label)}) WHERE elementId(ch) = row.key
  AND ch.{version.vector_in(schema)} IS NULL
WITH row, ch, {_text(schema, label)} AS text
WHERE text = row.text AND {_heading(schema, label)} = row.heading
SET ch += row.more
WITH row, ch
CALL (row, ch) {{
  WITH row, ch WHERE row.vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(ch, '{version.vector_in(schema)}', row.vector)
}}
WITH count(*) AS written, collect(DISTINCT ch.project_id) AS projects
CALL (projects) {{
  UNWIND projects AS id
  MATCH (p:__Project__ {{id: id}})
  SET {clauses.TOUCHED}
}}
RETURN written"""


def remove_properties(label: str) -> str:
    """Return the statement that takes these properties from all nodes of a label."""
    return f"""MATCH (n:{label})
WHERE any(name IN $names WHERE n[name] IS NOT NULL)
CALL (n) {{
  FOREACH (name IN $names | REMOVE n[name])
}} IN TRANSACTIONS OF 1000 ROWS"""


def sample_communities(schema: Schema, version: VectorVersion = FIRST) -> str:
    """Return the statement that takes some communities at random, with summary and embedding."""
    return f"""{_source(schema, "__Community__")} AND ch.{version.vector_in(schema)} IS NOT NULL
WITH ch WHERE ch.{schema.summary} IS :: STRING NOT NULL
WITH ch, rand() AS place ORDER BY place LIMIT $most
RETURN coalesce(toStringOrNull(ch.community), elementId(ch)) AS key, ch.{schema.summary} AS summary,
  ch.{version.vector_in(schema)} AS embedding, ch.{version.named("mean")} AS mean"""

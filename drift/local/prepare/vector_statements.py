"""Statements that find what lacks an embedding in a project, and write what is not there."""

from __future__ import annotations

from collections.abc import Mapping

from drift.graph.cypher.schema import SCHEMAS, SchemaName

TEXTS: Mapping[str, str] = {"__Chunk__": "text", "__Community__": "summary"}
"""What is embedded of the nodes of a label."""

_OF_PROJECT = """MATCH (n:{label}) USING INDEX SEEK n:{label}(project_id)
WHERE n.project_id = $asked.project_id"""

PROJECTS = """MATCH (p:__Project__)
WHERE toStringOrNull(p.id) IS NOT NULL
RETURN toString(p.id) AS id ORDER BY id LIMIT 10"""


def _source(schema: SchemaName, label: str) -> str:
    """Return what binds the project's nodes of a label as `n`."""
    if SCHEMAS[schema].has_projects:
        return _OF_PROJECT.format(label=label)
    return f"MATCH (n:{label})\nWHERE true"


def count_nodes(schema: SchemaName, label: str) -> str:
    """Return the statement that counts the project's nodes of a label."""
    return f"{_source(schema, label)}\nRETURN count(n) AS nodes"


def bare_nodes(schema: SchemaName, label: str, vector: str = "embedding") -> str:
    """Return the statement that lists what has a text and no such vector."""
    text = f"n.{TEXTS[label]}"
    return f"""{_source(schema, label)} AND n.{vector} IS NULL
WITH n WHERE {text} IS :: STRING NOT NULL
WITH n WHERE trim({text}) <> ''
RETURN elementId(n) AS id"""


def read_texts(schema: SchemaName, label: str, vector: str = "embedding") -> str:
    """Return the statement that reads texts with their heading, or their document's title."""
    heading = _heading(schema) if label == "__Chunk__" else "''"
    return f"""UNWIND $keys AS key
MATCH (ch) WHERE elementId(ch) = key AND ch.{vector} IS NULL
RETURN key, ch.{TEXTS[label]} AS text, {heading} AS heading"""


def _heading(schema: SchemaName) -> str:
    title = f"""head(COLLECT {{
    {SCHEMAS[schema].document}
    WITH title, id ORDER BY coalesce(title, id)
    RETURN title LIMIT 1
  }})"""
    heading = "CASE WHEN ch.heading IS :: STRING THEN ch.heading END"

    return f"coalesce({heading}, {title}, '')"


def write_vectors(vector: str = "embedding") -> str:
    """Return the statement that gives nodes such a vector where they have none."""
    return f"""UNWIND $rows AS row
MATCH (n) WHERE elementId(n) = row.key AND n.{vector} IS NULL
CALL db.create.setNodeVectorProperty(n, '{vector}', row.vector)
RETURN count(*) AS written"""


def sample_communities(schema: SchemaName) -> str:
    """Return the statement that takes some communities at random, with summary and embedding."""
    return f"""{_source(schema, "__Community__")} AND n.embedding IS NOT NULL
WITH n WHERE n.summary IS :: STRING NOT NULL
WITH n, rand() AS place ORDER BY place LIMIT $most
RETURN coalesce(toStringOrNull(n.community), elementId(n)) AS key, n.summary AS summary,
  n.embedding AS embedding"""

"""Statements that look at samples of a graph that nobody has described."""

from __future__ import annotations

from collections.abc import Sequence

from drift.graph.cypher.schema import Schema
from drift.graph.mapping import quoted


def _of_each(names: Sequence[str], body: str) -> str:
    """Return a body for each name, told by its place; one plan for many costs less than many."""
    parts = (body.format(name=quoted(name), place=place) for place, name in enumerate(names))
    return "CALL () {{\n{}\n}}".format("\nUNION ALL\n".join(parts))


def count_labels(labels: Sequence[str]) -> str:
    """Return the statement that counts the nodes of each label; the server keeps these counts."""
    return _counted(labels, "(n:{name})")


def count_types(types: Sequence[str]) -> str:
    """Return the statement that counts the edges of each type; the server keeps these counts."""
    return _counted(types, "()-[n:{name}]->()")


# Beside the place in one clause a count is made by reading all of them.
def _counted(names: Sequence[str], pattern: str) -> str:
    body = f"MATCH {pattern} WITH count(n) AS number RETURN {{place}} AS place, number"
    return f"{_of_each(names, body)}\nRETURN place, number"


def sample_edges(types: Sequence[str]) -> str:
    """Return the statement that shows between which labels the first `$most` of a type lead.

    Beside them how many edges these are, of how many starts and to how many ends.
    """
    some = "MATCH (a)-[r:{name}]->(b) WITH a, b LIMIT $most RETURN {place} AS place, a, b"
    return f"""{_of_each(types, some)}
UNWIND labels(a) AS start UNWIND labels(b) AS end
RETURN place, start, end, count(*) AS edges, count(DISTINCT a) AS starts, count(DISTINCT b) AS ends
"""


def sample_properties(labels: Sequence[str]) -> str:
    """Return the statement that tells texts and vectors of the first `$most` nodes of a label."""
    return f"""{_of_each(labels, "MATCH (n:{name}) WITH n LIMIT $most RETURN {place} AS place, n")}
UNWIND keys(n) AS name
WITH place, name, n[name] AS value
WITH place, name, value, CASE
    WHEN value IS :: STRING THEN 'text'
    WHEN valueType(value) STARTS WITH 'VECTOR' THEN 'vector'
    WHEN valueType(value) STARTS WITH 'LIST<FLOAT' THEN 'vector'
  END AS kind
WHERE kind IS NOT NULL
RETURN place, name, kind, toInteger(avg(CASE kind WHEN 'text' THEN size(value) ELSE 0 END))
  AS length"""


def kinds_of(source: str) -> str:
    """Return the statement that lists the labels that nodes of a source have together."""
    return f"""{source}
WITH DISTINCT [one IN labels(n) WHERE one <> '__Chunk__'] AS labels
WHERE size(labels) > 0
RETURN labels LIMIT 20"""


def count_alike(labels: Sequence[str], s: Schema) -> str:
    """Return the statement that counts nodes that look like such chunks, and lack their edges."""
    named = ":".join(map(quoted, labels))
    return f"""MATCH (n:{named})
WHERE n.{s.text} IS :: STRING NOT NULL AND NOT n:{s.chunk} AND NOT EXISTS {{ (n){s.mentions}() }}
  AND NOT EXISTS {{ ()-[:NEXT_CHUNK]-(n) }} AND NOT EXISTS {{ (){s.holds}(n) }}
RETURN count(n) AS nodes, collect(coalesce(toStringOrNull(n.id), elementId(n)))[0..3] AS examples"""


def count_ids(source: str, key: str) -> str:
    """Return the statement that counts the nodes with a key, and how many keys there are."""
    return f"""{source}
WITH n.{key} AS key WHERE key IS NOT NULL
RETURN count(key) AS nodes, count(DISTINCT key) AS ids"""

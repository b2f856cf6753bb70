"""What statements share about a graph's vectors, of several models, and about its writers."""

from __future__ import annotations

FORMAT = 2
"""The format that this release writes. 1 is that of the release before, which says nothing."""

NODE = "(f:__DriftFormat__ {id: 'drift'})"
"""The node that says which format the graph is of, and whose vectors it holds."""

NUMBER = f"COLLECT {{ MATCH {NODE} RETURN f.format }}[0]"
"""The number of the format as an expression; null where nothing says it."""

HAS_VERSIONS = f"EXISTS {{ MATCH {NODE} WHERE size(f.versions) > 0 }}"
"""Whether several models have vectors, as an expression."""

NOW = "datetime.realtime().epochMillis"

_DAY_MS = 86_400_000

TOUCHED = f"""p.written_at = CASE
  WHEN p.written_at IS :: INTEGER NOT NULL AND {NOW} <= p.written_at < {NOW} + {_DAY_MS}
  THEN p.written_at + 1 ELSE {NOW} END, p.format = {FORMAT}"""
"""The items of a SET that say when the project `p` was written, and in which format: no two writes
have one time, also where the server's clock stands or goes back."""

IS_HELD = f"coalesce(p.writer IS NOT NULL AND p.writer_until > {NOW}, false)"
"""Whether somebody holds the project `p` to write it."""

WRITTEN_AT = "toString(coalesce(p.generation, 0)) + ':' + toString(coalesce(p.written_at, 0))"
"""The write after which the project `p` is as it is."""


def vectors_of(n: str) -> str:
    """Return the list of the names of a node's vectors, of whichever model.

    `embedding_version` names the model of a document's, and is none.
    """
    others = "name STARTS WITH 'embedding_' AND name <> 'embedding_version'"
    return f"[name IN keys({n}) WHERE name = 'embedding' OR {others}]"


def without_vectors(n: str) -> str:
    """Return the clause that takes every vector from a node, of whichever model."""
    return f"FOREACH (name IN {vectors_of(n)} | REMOVE {n}[name])"


# What is being ingested for the first time is on its way, and what people added themselves is no
# graph of others.
_OURS = (
    *("__Project__", "__DriftFormat__", "__DriftNode__", "__Document__", "__StagedChunk__"),
    *("__OffChunk__", "__ModelReply__"),
)


def count(label: str, name: str) -> str:
    """Return the subquery that counts the nodes of a label as `name`; the server keeps these."""
    return f"CALL () {{ MATCH (n{label}) RETURN count(n) AS {name} }}\n"


OTHERS = f"""{count("", "nodes")}{"".join(count(f":{label}", label) for label in _OURS)}
WITH *, nodes - {" - ".join(_OURS)} AS others
"""
"""The clauses that give how many nodes are neither people's own nor a beginning of ours."""

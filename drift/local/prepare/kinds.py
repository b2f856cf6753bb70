"""The nodes that the searches use: where they stand, what each should have, what is embedded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from drift.graph.cypher import legs
from drift.graph.cypher.schema import Schema
from drift.graph.mapping import GraphMapping, quoted


@dataclass(frozen=True, slots=True)
class NodeKind:
    """Nodes that the searches use: `source` binds them as `n`, and `key` tells them apart.

    Each should have the `required` properties; those of `texts` may be missing, and are read as
    text. An `edge` of this type, or of one of `A|B`, should lead to or from them.
    """

    label: str
    key: str
    required: tuple[str, ...]
    texts: tuple[str, ...] = ()
    has_vectors: bool = False
    edge: str = ""
    source: str = ""


_OWN = (
    NodeKind("__Document__", "id", ("id",), ("title",), edge="HAS_CHUNK"),
    NodeKind("__Chunk__", "id", ("id", "text"), ("text",), has_vectors=True),
    NodeKind("__Entity__", "id", ("id", "title"), ("title", "description"), edge="HAS_ENTITY"),
    NodeKind(
        "__Community__",
        "community",
        ("community", "summary"),
        ("summary",),
        has_vectors=True,
        edge="IN_COMMUNITY",
    ),
)
KEYED = {kind.label: kind.key for kind in _OWN}
"""The label of everything that belongs to a project, and the property that is unique there."""

_EVERY_TEXT: Mapping[str, str] = {
    "__Chunk__": "text",
    "__OffChunk__": "text",
    "__Entity__": "description",
    legs.PERSONAL: "description",
    # Last, since a topic's vector is made of those of its chunks as well.
    "__Community__": "summary",
}


def kinds(s: Schema) -> tuple[NodeKind, ...]:
    """Return the kinds of nodes of a schema, by their labels there."""
    source, m, key = sources(s.mapping), s.mapping, s.id or "id"
    if s.has_projects:
        return tuple(replace(kind, source=source[kind.label]) for kind in _OWN)

    _, chunk, entity, community = (
        replace(kind, label=s.named(kind.label), key=key, edge="", source=source[kind.label])
        for kind in _OWN
    )
    text, summary, own = (s.text,), (s.summary,), key if m.community else "community"
    mention, member = m.mention.removeprefix("<"), m.member.removeprefix("<")
    return (
        replace(chunk, required=text, texts=text),
        # Without a label of their own, entities are what chunks mention.
        replace(entity, required=(), edge=mention if m.entity else ""),
        replace(community, key=own, required=summary, texts=summary, edge=member),
    )


def sources(mapping: GraphMapping) -> Mapping[str, str]:
    """Return what binds the nodes of a kind, by the label of ours."""
    bound = {
        ours: f"MATCH (n:{quoted(label)})"
        for ours, label in {"__Document__": "__Document__", **mapping.labels}.items()
    }
    # Without a label of their own, chunks and entities are known by their edges.
    mention, part_of = mapping.edge("mention"), mapping.edge("part_of")
    if not mapping.entity:
        bound["__Entity__"] = f"MATCH (n){mention.arrow(back=True)}()\nWITH DISTINCT n"
    if not mapping.chunk:
        bound["__Chunk__"] = f"""CALL () {{
  MATCH (n){mention.arrow()}() RETURN n
UNION
  MATCH (n){part_of.arrow()}() RETURN n
UNION
  MATCH (n)-[:NEXT_CHUNK]-() RETURN n
UNION
  MATCH (n:__Chunk__) RETURN n
}}
WITH n"""
    return bound


def every_text(schema: Schema) -> Mapping[str, str]:
    """Return the embedded properties of all kinds with vectors, by label."""
    if schema.has_projects:
        return _EVERY_TEXT
    return {"__Chunk__": schema.text, "__Community__": schema.summary}

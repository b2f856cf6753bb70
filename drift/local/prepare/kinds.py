"""The nodes that the searches use, and what each of them should have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from drift.graph.cypher.schema import SchemaName
from drift.local.prepare import statements


@dataclass(frozen=True, slots=True)
class NodeKind:
    """Nodes that the searches use: `source` binds them as `n`, and `key` tells them apart.

    Each should have the `required` properties; those of `texts` may be missing, and are read as
    text. An `edge` of this type should lead to or from them.
    """

    label: str
    key: str
    required: tuple[str, ...]
    texts: tuple[str, ...] = ()
    has_vectors: bool = False
    edge: str = ""
    source: str = ""


def _kinds(schema: SchemaName, *kinds: NodeKind) -> tuple[NodeKind, ...]:
    return tuple(replace(kind, source=statements.SOURCES[schema][kind.label]) for kind in kinds)


KINDS: Mapping[SchemaName, tuple[NodeKind, ...]] = {
    "default": _kinds(
        "default",
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
    ),
    "v1": _kinds(
        "v1",
        NodeKind("__Chunk__", "id", ("text",), ("text",), has_vectors=True),
        NodeKind("__Entity__", "id", (), ("title", "description")),
        NodeKind(
            "__Community__",
            "community",
            ("summary",),
            ("summary",),
            has_vectors=True,
            edge="IN_COMMUNITY",
        ),
    ),
}
KEYED = {kind.label: kind.key for kind in KINDS["default"]}
"""The label of everything that belongs to a project, and the property that is unique there."""

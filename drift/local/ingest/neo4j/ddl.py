"""The constraints and indexes that a graph needs, each with the Cypher that creates it.

Nodes are keyed per project.

Whether something in the database serves already is decided by the rules of
drift.graph.indexes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from drift.graph import indexes
from drift.graph.cypher.legs import PERSONAL
from drift.graph.cypher.schema import FALLBACK_VECTOR, Schema
from drift.graph.cypher.vector_indexes import create_key, create_range, create_vector_index
from drift.graph.indexes import IndexNames, WantedIndex
from drift.graph.mapping import is_theirs, quoted


@dataclass(frozen=True, slots=True)
class SchemaObject(WantedIndex):
    """One constraint or index that is wanted, and how it is created.

    `statements` are ways to create it, the best first; older servers refuse the first ones.
    """

    statements: tuple[str, ...] = ()


_KEYS = {
    "drift_format_key": ("__DriftFormat__", ("id",)),
    "drift_project_key": ("__Project__", ("id",)),
    "drift_document_key": ("__Document__", ("project_id", "id")),
    "drift_chunk_key": ("__Chunk__", ("project_id", "id")),
    "drift_reply_key": ("__ModelReply__", ("project_id", "key")),
}
_RANGES: dict[str, tuple[str, tuple[str, ...]]] = {
    # No keys: while a run writes new knowledge, an id may be there in two generations.
    "drift_entity_id": ("__Entity__", ("project_id", "id")),
    "drift_community_id": ("__Community__", ("project_id", "community")),
    # A composite index serves a query only when every property has a predicate: `project_id` alone
    # has its own.
    "drift_document_project": ("__Document__", ("project_id",)),
    "drift_chunk_project": ("__Chunk__", ("project_id",)),
    "drift_entity_project": ("__Entity__", ("project_id",)),
    "drift_community_project": ("__Community__", ("project_id",)),
    "drift_reply_project": ("__ModelReply__", ("project_id",)),
    "drift_entity_title": ("__Entity__", ("project_id", "title_key")),
}
FORMER_KEYS = frozenset({"drift_entity_key", "drift_community_key"})
"""Constraints of earlier versions, which forbid two generations of an id."""


def drop_index(name: str) -> str:
    """Return the statement that drops an index."""
    return f"DROP INDEX `{name}` IF EXISTS"


def drop_constraint(name: str) -> str:
    """Return the statement that drops a constraint, with its index."""
    return f"DROP CONSTRAINT `{name}` IF EXISTS"


def schema_objects(schema: Schema, names: IndexNames, vector: str = "") -> tuple[SchemaObject, ...]:
    """Return what the schema needs, in the order to create it, to be read by this vector."""
    vectors = vector_indexes(schema, names, vector or schema.vector)
    if schema.has_projects:
        return (*_keys(), *_ranges(_RANGES), *_fulltexts(schema, names.fulltext), *vectors[:4])
    return (*_ranges(_mapped_ranges(schema)), *_fulltexts(schema, names.fulltext), *vectors)


def _mapped_ranges(s: Schema) -> dict[str, tuple[str, tuple[str, ...]]]:
    chunk, entity = s.named("__Chunk__"), s.named("__Entity__")
    # What is read by its id; searches find chunks and entities by other ways.
    by_id = {"drift_chunk_id_v1": (chunk, (s.id,)), "drift_entity_id_v1": (entity, (s.id,))}
    return {"drift_entity_title_v1": (entity, ("title_key",)), **(by_id if s.id else {})}


def vector_indexes(schema: Schema, names: IndexNames, vector: str) -> tuple[SchemaObject, ...]:
    """Return the indexes of vectors of this name, those of people's own nodes last.

    Second vectors are of communities and chunks alone, and so are those of graphs of others.
    """
    is_first = vector == schema.first_vector
    community, chunk = schema.named("__Community__"), schema.named("__Chunk__")
    kinds = [
        (names.community, community, "COMMUNITY_VECTOR_INDEX_NAME" if is_first else ""),
        (names.chunk, chunk, "CHUNK_VECTOR_INDEX_NAME" if is_first else ""),
    ]
    if schema.has_projects and vector != FALLBACK_VECTOR:
        kinds += [(names.entity, "__Entity__", ""), (names.documents, "Document", "")]
        kinds += [(names.nodes, PERSONAL, "")]
    made = (_vector(*kind, is_filtered=schema.has_projects, vector=vector) for kind in kinds)
    # An index of somebody else's over entities serves as well, and one over documents may stay.
    others = {"__Entity__", "Document"}
    return tuple(
        replace(one, yields=is_first and (one.label in others or is_theirs(one.label)))
        for one in made
    )


def _keys() -> Iterator[SchemaObject]:
    for name, (label, properties) in _KEYS.items():
        text = create_key(name, label, *properties)
        yield SchemaObject(name, "constraint", label, properties, statements=(text,))


def _ranges(ranges: dict[str, tuple[str, tuple[str, ...]]]) -> Iterator[SchemaObject]:
    for name, (label, properties) in ranges.items():
        text = create_range(name, label, *properties)
        yield SchemaObject(name, "range", label, properties, statements=(text,))


def _fulltexts(s: Schema, chunks: str) -> tuple[SchemaObject, SchemaObject]:
    entity, chunk = s.named("__Entity__"), s.named("__Chunk__")
    if s.has_projects:
        titles = _fulltext(indexes.NAMES_INDEX, entity, "title_key", "project_key")
        texts = _fulltext(chunks, chunk, s.text, "project_key", optional=("heading", "name_words"))
    else:
        titles = _fulltext(indexes.NAMES_INDEX, entity, "title_key")
        texts = replace(_fulltext(chunks, chunk, s.text), yields=is_theirs(chunk))
    return titles, replace(texts, setting="CHUNK_FULLTEXT_INDEX_NAME")


def _fulltext(
    name: str, label: str, *properties: str, optional: tuple[str, ...] = ()
) -> SchemaObject:
    head = f"CREATE FULLTEXT INDEX `{name}` IF NOT EXISTS FOR (n:{quoted(label)})"
    text = f"{head} ON EACH [{_listed((*properties, *optional))}]"
    return SchemaObject(name, "fulltext", label, properties, optional=optional, statements=(text,))


def _vector(name: str, label: str, setting: str, *, is_filtered: bool, vector: str) -> SchemaObject:
    """Return a vector index; where there are projects, `project_id` is its filter property."""
    statements = create_vector_index(name, label, is_filtered=is_filtered, vector=vector)
    properties = (vector, "project_id") if is_filtered else (vector,)
    return SchemaObject(name, "vector", label, properties, setting, statements=statements)


def _listed(properties: tuple[str, ...]) -> str:
    return ", ".join(f"n.{name}" for name in properties)

"""The constraints and indexes that a graph needs, each with the Cypher that creates it.

Nodes are keyed per project.

Whether something in the database serves already is decided by the rules of
drift.graph.indexes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from drift.graph import indexes
from drift.graph.cypher import schema as cypher_schema
from drift.graph.cypher.schema import SchemaName
from drift.graph.cypher.vector_indexes import create_key, create_vector_index
from drift.graph.indexes import WantedIndex


@dataclass(frozen=True, slots=True)
class SchemaObject(WantedIndex):
    """One constraint or index that is wanted, and how it is created.

    `statements` are ways to create it, the best first; older servers refuse the first ones.
    """

    statements: tuple[str, ...] = ()


_KEYS = {
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
_V1_RANGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "drift_entity_title_v1": ("__Entity__", ("title_key",)),
    # What is read by its id; searches find chunks and entities by other ways.
    "drift_chunk_id_v1": ("__Chunk__", ("id",)),
    "drift_entity_id_v1": ("__Entity__", ("id",)),
}
FORMER_KEYS = frozenset({"drift_entity_key", "drift_community_key"})
"""Constraints of earlier versions, which forbid two generations of an id."""


def drop_index(name: str) -> str:
    """Return the statement that drops an index."""
    return f"DROP INDEX `{name}` IF EXISTS"


def drop_constraint(name: str) -> str:
    """Return the statement that drops a constraint, with its index."""
    return f"DROP CONSTRAINT `{name}` IF EXISTS"


def schema_objects(
    schema: SchemaName, community: str, chunk: str, fulltext: str
) -> tuple[SchemaObject, ...]:
    """Return what the schema needs, in the order to create it.

    The three names are those of the configured indexes.
    """
    has_projects = schema == "default"
    return (
        *(_keys() if has_projects else ()),
        *_ranges(_RANGES if has_projects else _V1_RANGES),
        *_fulltexts(fulltext, has_projects=has_projects),
        _vector(
            community, "__Community__", "COMMUNITY_VECTOR_INDEX_NAME", is_filtered=has_projects
        ),
        _vector(chunk, "__Chunk__", "CHUNK_VECTOR_INDEX_NAME", is_filtered=has_projects),
        # Entities of V1 have no label of their own. An index of somebody else's serves as well.
        *([_entities()] if has_projects else []),
    )


def _entities() -> SchemaObject:
    return replace(_vector(indexes.ENTITY_INDEX, "__Entity__", "", is_filtered=True), yields=True)


def _keys() -> Iterator[SchemaObject]:
    for name, (label, properties) in _KEYS.items():
        text = create_key(name, label, *properties)
        yield SchemaObject(name, "constraint", label, properties, statements=(text,))


def _ranges(ranges: dict[str, tuple[str, tuple[str, ...]]]) -> Iterator[SchemaObject]:
    for name, (label, properties) in ranges.items():
        text = f"CREATE INDEX {name} IF NOT EXISTS FOR (n:{label}) ON ({_listed(properties)})"
        yield SchemaObject(name, "range", label, properties, statements=(text,))


def _fulltexts(chunks: str, *, has_projects: bool) -> Iterator[SchemaObject]:
    setting = "CHUNK_FULLTEXT_INDEX_NAME"
    if has_projects:
        titles = WantedIndex(
            indexes.NAMES_INDEX, "fulltext", "__Entity__", ("title_key", "project_key")
        )
        texts = WantedIndex(
            chunks,
            "fulltext",
            "__Chunk__",
            ("text", "project_key"),
            setting,
            ("heading", "name_words"),
        )
    else:
        titles = WantedIndex(indexes.NAMES_INDEX, "fulltext", "__Entity__", ("title_key",))
        texts = WantedIndex(chunks, "fulltext", "__Chunk__", ("text",), setting)

    for wanted in (titles, texts):
        head = f"CREATE FULLTEXT INDEX `{wanted.name}` IF NOT EXISTS FOR (n:{wanted.label})"
        listed = _listed((*wanted.properties, *wanted.optional))
        yield SchemaObject(
            wanted.name,
            wanted.kind,
            wanted.label,
            wanted.properties,
            wanted.setting,
            wanted.optional,
            statements=(f"{head} ON EACH [{listed}]",),
        )


def second_vector_indexes(
    schema: SchemaName, community: str, chunk: str
) -> tuple[SchemaObject, SchemaObject]:
    """Return the indexes of second vectors, by their names."""
    is_filtered, vector = schema == "default", cypher_schema.FALLBACK_VECTOR
    return (
        _vector(community, "__Community__", "", is_filtered=is_filtered, vector=vector),
        _vector(chunk, "__Chunk__", "", is_filtered=is_filtered, vector=vector),
    )


def _vector(
    name: str, label: str, setting: str, *, is_filtered: bool, vector: str = "embedding"
) -> SchemaObject:
    """Return a vector index; where there are projects, `project_id` is its filter property."""
    statements = create_vector_index(name, label, is_filtered=is_filtered, vector=vector)
    properties = (vector, "project_id") if is_filtered else (vector,)
    return SchemaObject(name, "vector", label, properties, setting, statements=statements)


def _listed(properties: tuple[str, ...]) -> str:
    return ", ".join(f"n.{name}" for name in properties)

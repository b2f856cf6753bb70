"""The constraints and indexes that a graph needs; nodes are keyed per project.

Whether something in the database serves already is decided by the rules of
drift.graph.indexes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from drift.graph import indexes
from drift.graph.cypher.index_creation import Kind
from drift.graph.cypher.legs import PERSONAL
from drift.graph.cypher.schema import FALLBACK_VECTOR, Schema
from drift.graph.indexes import IndexNames, WantedIndex
from drift.graph.mapping import is_theirs

_Places = Mapping[str, tuple[str, tuple[str, ...]]]
"""Labels and properties, by the name of what is over them."""

_KEYS: _Places = {
    "drift_format_key": ("__DriftFormat__", ("id",)),
    "drift_project_key": ("__Project__", ("id",)),
    "drift_document_key": ("__Document__", ("project_id", "id")),
    "drift_chunk_key": ("__Chunk__", ("project_id", "id")),
    "drift_reply_key": ("__ModelReply__", ("project_id", "key")),
}
_RANGES: _Places = {
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
    "drift_document_title": ("__Document__", ("project_id", "title_key")),
}
FORMER_KEYS = frozenset({"drift_entity_key", "drift_community_key"})
"""Constraints of earlier versions, which forbid two generations of an id."""


def drop_index(name: str) -> str:
    """Return the statement that drops an index."""
    return f"DROP INDEX `{name}` IF EXISTS"


def drop_constraint(name: str) -> str:
    """Return the statement that drops a constraint, with its index."""
    return f"DROP CONSTRAINT `{name}` IF EXISTS"


def wanted_indexes(schema: Schema, names: IndexNames, vector: str = "") -> tuple[WantedIndex, ...]:
    """Return what the schema needs, in the order to create it, to be read by this vector."""
    vectors = vector_indexes(schema, names, vector or schema.vector)
    if schema.has_projects:
        ranges, vectors = _all("constraint", _KEYS) + _all("range", _RANGES), vectors[:4]
    else:
        ranges = _all("range", _mapped_ranges(schema))
    return (*ranges, *_fulltexts(schema, names.fulltext), *vectors)


def _all(kind: Kind, places: _Places) -> tuple[WantedIndex, ...]:
    return tuple(WantedIndex(name, kind, *place) for name, place in places.items())


def _mapped_ranges(s: Schema) -> _Places:
    chunk, entity = s.named("__Chunk__"), s.named("__Entity__")
    # What is read by its id; searches find chunks and entities by other ways.
    by_id = {"drift_chunk_id_v1": (chunk, (s.id,)), "drift_entity_id_v1": (entity, (s.id,))}
    titles = {"drift_entity_title_v1": (entity, ("title_key",))}
    if s.titled_label:
        titles["drift_document_title_v1"] = (s.titled_label, ("title_key",))
    return {**titles, **(by_id if s.id else {})}


def vector_indexes(schema: Schema, names: IndexNames, vector: str) -> tuple[WantedIndex, ...]:
    """Return the indexes of vectors of this name, those of people's own nodes last.

    Second vectors are of communities and chunks alone, and so are those of graphs of others. Where
    there are projects, `project_id` is the filter property.
    """
    is_first = vector == schema.first_vector
    labels = ["__Community__", "__Chunk__"]
    if schema.has_projects and vector != FALLBACK_VECTOR:
        labels += ["__Entity__", "Document", PERSONAL]
    properties = (vector, "project_id") if schema.has_projects else (vector,)
    # An index of somebody else's over entities serves as well, and one over documents may stay.
    others = {"__Entity__", "Document"}

    def wanted(ours: str) -> WantedIndex:
        (name, setting), label = names.of_vectors(ours), schema.named(ours)
        yields = is_first and (label in others or is_theirs(label))
        setting = setting if is_first else ""
        return WantedIndex(name, "vector", label, properties, setting, yields=yields)

    return tuple(map(wanted, labels))


def _fulltexts(s: Schema, chunks: str) -> tuple[WantedIndex, WantedIndex]:
    key = ("project_key",) if s.has_projects else ()
    titles = WantedIndex(
        indexes.NAMES_INDEX, "fulltext", s.named("__Entity__"), ("title_key", *key)
    )
    texts = WantedIndex(
        chunks, "fulltext", s.named("__Chunk__"), (s.text, *key), "CHUNK_FULLTEXT_INDEX_NAME"
    )
    if s.has_projects:
        return titles, replace(texts, optional=("heading", "name_words"))
    return titles, replace(texts, yields=is_theirs(texts.label))

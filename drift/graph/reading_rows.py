"""What the rows of the reading statements say, as values of drift.model.reading.

As for searches, what is of a wrong type counts as missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from drift.core.source_uri import first_shown
from drift.graph.rows import community_id, document_name, is_key, place_of, text_of
from drift.model.reading import (
    AboutProject,
    ChunkRead,
    ChunkRow,
    CommunityRow,
    CommunityTold,
    DocumentRead,
    DocumentRow,
    EntityMentioned,
    EntityRead,
    MentionRead,
    Neighbour,
    Page,
    ProjectOverview,
    RelationRead,
)

Row = Mapping[str, Any]
_Value = TypeVar("_Value")

_NO_DOCUMENT: Row = {"id": None, "title": None, "metadata": None, "chunks": None}


def page(
    rows: Sequence[Row], limit: int, value: Callable[[Row], _Value], *keys: str
) -> Page[_Value]:
    """Return up to `limit` rows as a page; its end is known by a row more."""
    shown = rows[:limit]
    last = tuple(shown[-1][key] for key in keys or ("key",)) if len(rows) > limit else None
    return Page(tuple(value(row) for row in shown), last)


def overview(project_id: str, row: Row) -> ProjectOverview:
    """Return what a project holds."""
    models = row["models"] if isinstance(row["models"], list) else []
    return ProjectOverview(
        project_id,
        row["documents"],
        row["chunks"],
        row["entities"],
        row["communities"],
        tuple(name for name in models if isinstance(name, str)),
        row["written_at"],
    )


def about(project_id: str, row: Row) -> AboutProject:
    """Return what a project knows of itself."""
    return AboutProject(
        overview(project_id, row),
        tuple(document(one).name for one in row["named"] if is_key(one["id"])),
        tuple(community(one) for one in row["largest"] if is_key(one["id"])),
    )


def document(row: Row) -> DocumentRow:
    """Return a document of a list."""
    chunks = row["chunks"] if type(row["chunks"]) is int else 0
    return DocumentRow(str(row["id"]), document_name(row), first_shown(row["uris"]), chunks)


def community(row: Row) -> CommunityRow:
    """Return a community of a list."""
    return CommunityRow(
        community_id(row["id"]),
        row["level"],
        text_of(row["title"]),
        text_of(row["summary"]),
        row["members"],
        tuple(sorted((community_id(id_) for id_ in row["parents"] if is_key(id_)), key=str)),
    )


def document_read(row: Row, limit: int) -> DocumentRead:
    """Return a document with a page of its chunks."""
    read = document(row["document"])
    chunks = page(row["chunks"], limit, lambda ch: _standing(ch, read.chunks), "at", "key")
    return DocumentRead(read, chunks)


def chunk_read(row: Row, limit: int) -> ChunkRead:
    """Return a chunk with what is around it, and up to `limit` entities that it mentions."""
    home = row["document"] or _NO_DOCUMENT
    return ChunkRead(
        _standing(row["chunk"], home["chunks"]),
        text_of(row["chunk"]["text"]),
        home["id"],
        document_name(home),
        _neighbour(row["before"], home["chunks"]),
        _neighbour(row["after"], home["chunks"]),
        tuple(_mentioned(e) for e in row["entities"][:limit] if is_key(e["id"])),
        _told(row["communities"]),
        len(row["entities"]) > limit,
    )


def entity_read(row: Row, limit: int) -> EntityRead:
    """Return an entity with what is around it."""
    return EntityRead(
        str(row["id"]),
        text_of(row["title"]),
        text_of(row["description"]),
        tuple(_relation(r) for r in row["relations"][:limit] if is_key(r["id"])),
        tuple(_mention(m) for m in row["mentions"][:limit]),
        row["relations_seen"] > limit,
        row["mentions_seen"] > limit,
    )


def _standing(row: Row, chunks: object) -> ChunkRow:
    place, places = place_of(row["ordinal"], chunks)
    return ChunkRow(str(row["id"]), text_of(row["heading"]), place, places)


def _neighbour(row: Row | None, chunks: object) -> Neighbour | None:
    return Neighbour(_standing(row, chunks), text_of(row["text"])) if row else None


def _mentioned(row: Row) -> EntityMentioned:
    return EntityMentioned(str(row["id"]), text_of(row["title"]), _told(row["communities"]))


def _told(rows: Sequence[Row]) -> tuple[CommunityTold, ...]:
    told = (
        CommunityTold(
            community_id(row["id"]), row["level"], text_of(row["title"]), text_of(row["summary"])
        )
        for row in rows
        if is_key(row["id"])
    )
    return tuple(sorted(told, key=lambda one: str(one.id)))


def _relation(row: Row) -> RelationRead:
    weight = row["weight"] if math.isfinite(row["weight"]) else 0.0
    return RelationRead(
        str(row["id"]),
        text_of(row["title"]),
        text_of(row["description"]),
        weight,
        row["is_outgoing"],
    )


def _mention(row: Row) -> MentionRead:
    home = row["document"] or _NO_DOCUMENT
    return MentionRead(
        _standing(row, home["chunks"]), document_name(home), text_of(row["beginning"])
    )

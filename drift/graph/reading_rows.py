"""What the rows of the reading statements say; what is of a wrong type counts as missing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar

from drift.contracts.reading import (
    ChunkItem,
    ChunkRead,
    ChunkText,
    CommunityOut,
    CommunityTold,
    DocumentName,
    DocumentOut,
    EntityMentioned,
    EntityRead,
    HeldDocument,
    MentionOut,
    ProjectOut,
    RelationOut,
)
from drift.core.moments import moment
from drift.core.source_uri import first_shown
from drift.graph.rows import NO_DOCUMENT, community_id, document_name, is_key, place_of, text_of
from drift.model.attributes import METADATA
from drift.model.reading import AboutProject, Page

Row = Mapping[str, Any]
_Value = TypeVar("_Value")


def page(
    rows: Sequence[Row], limit: int, value: Callable[[Row], _Value], *keys: str
) -> Page[_Value]:
    """Return up to `limit` rows as a page; its end is known by a row more."""
    shown = rows[:limit]
    last = tuple(shown[-1][key] for key in keys or ("key",)) if len(rows) > limit else None
    return Page(tuple(value(row) for row in shown), last)


def project(project_id: str, row: Row) -> ProjectOut:
    """Return what a project holds."""
    models = row["models"] if isinstance(row["models"], list) else []
    return ProjectOut(
        id=project_id,
        **_counts(row),
        embedding_models=tuple(name for name in models if isinstance(name, str)),
        written_at=row["written_at"],
        questions=tuple(row["questions"]),
    )


def about(project_id: str, row: Row) -> AboutProject:
    """Return what a project knows of itself."""
    return AboutProject(
        project_id,
        **_counts(row),
        names=tuple(document(one).name for one in row["named"] if is_key(one["id"])),
        kinds=tuple(tuple(one) for one in row["kinds"]),
        behind=row["behind"],
    )


def _counts(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in ("documents", "chunks", "entities", "communities")}


def document(row: Row) -> DocumentOut:
    """Return a document of a list."""
    return DocumentOut(
        id=str(row["id"]),
        name=document_name(row),
        source_uri=first_shown(row["uris"]) or None,
        chunk_count=row["chunks"] if type(row["chunks"]) is int else 0,
        **_said(row.get("said") or {}),
    )


def _said(row: Row) -> dict[str, Any]:
    """Return what is said of a document beside its text."""
    tags = row.get("tags")
    held = tags if isinstance(tags, list) else ()
    return {
        "tags": tuple(one for one in held if isinstance(one, str)),
        "metadata": {n.removeprefix(METADATA): v for n, v in sorted(row.get("metadata") or ())},
        "created_at": moment(row.get("created_at")),
        "updated_at": moment(row.get("updated_at")),
        "media_type": text_of(row.get("media_type")) or None,
        "source": _brought_by(text_of(row.get("source"))),
        "off": row.get("is_off") is True,
    }


def _brought_by(source: str) -> str | None:
    """Return what brought a document; a whole source names folders of whoever ingested it."""
    kind = source.partition(":")[0]
    return (kind if kind in {"api", "graphrag"} else "ingest") if source else None


def community(row: Row) -> CommunityOut:
    """Return a community of a list."""
    parents = (community_id(id_) for id_ in row["parents"] if is_key(id_))
    return CommunityOut(
        **_told_of(row), members=row["members"], parents=tuple(sorted(parents, key=str))
    )


def document_read(row: Row, limit: int) -> tuple[HeldDocument, Page[ChunkItem]]:
    """Return a document with a page of its chunks."""
    key, content_hash = map(text_of, row["document"]["original"] or ("", ""))
    read = document(row["document"])
    read = HeldDocument(**dict(read), key=key or read.id, content_hash=content_hash)
    return read, page(
        row["chunks"], limit, lambda ch: ChunkItem(**_where(ch, read.chunk_count)), "at", "key"
    )


def chunk_read(row: Row, limit: int) -> ChunkRead:
    """Return a chunk with what is around it, and up to `limit` entities that it mentions."""
    home = row["document"] or NO_DOCUMENT
    entities = [one for one in row["entities"][:limit] if is_key(one["id"])]

    # Each community once: many entities share one.
    around = _told(chain(row["communities"], *(one["communities"] for one in entities)))
    communities = {one.id: one for one in around}
    named = (
        DocumentName(id=home["id"], name=document_name(home)) if home["id"] is not None else None
    )

    return ChunkRead(
        **_where(row["chunk"], home["chunks"]),
        text=text_of(row["chunk"]["text"]),
        document=named,
        before=_neighbour(row["before"], home["chunks"]),
        after=_neighbour(row["after"], home["chunks"]),
        entities=tuple(_mentioned(one) for one in entities),
        communities=tuple(communities.values()),
        more_entities=len(row["entities"]) > limit,
    )


def entity_read(row: Row, limit: int) -> EntityRead:
    """Return an entity with what is around it."""
    return EntityRead(
        id=str(row["id"]),
        title=text_of(row["title"]),
        description=text_of(row["description"]),
        relations=tuple(_relation(r) for r in row["relations"][:limit] if is_key(r["id"])),
        chunks=tuple(_mention(m) for m in row["mentions"][:limit]),
        more_relations=row["relations_seen"] > limit,
        more_chunks=row["mentions_seen"] > limit,
    )


def _where(row: Row, chunks: object) -> dict[str, Any]:
    place, places = place_of(row["ordinal"], chunks)
    return {
        "id": str(row["id"]),
        "heading": text_of(row["heading"]) or None,
        "place": f"{place} of {places}" if place and places else None,
    }


def _neighbour(row: Row | None, chunks: object) -> ChunkText | None:
    return ChunkText(**_where(row, chunks), text=text_of(row["text"])) if row else None


def _mentioned(row: Row) -> EntityMentioned:
    communities = tuple(one.id for one in _told(row["communities"]))
    return EntityMentioned(id=str(row["id"]), title=text_of(row["title"]), communities=communities)


def _told(rows: Iterable[Row]) -> list[CommunityTold]:
    told = (CommunityTold(**_told_of(row)) for row in rows if is_key(row["id"]))
    return sorted(told, key=lambda one: str(one.id))


def _told_of(row: Row) -> dict[str, Any]:
    return {
        "id": community_id(row["id"]),
        "level": row["level"],
        "title": text_of(row["title"]),
        "summary": text_of(row["summary"]),
    }


def _relation(row: Row) -> RelationOut:
    return RelationOut(
        direction="out" if row["is_outgoing"] else "in",
        entity_id=str(row["id"]),
        title=text_of(row["title"]),
        description=text_of(row["description"]),
        weight=row["weight"] if math.isfinite(row["weight"]) else 0.0,
    )


def _mention(row: Row) -> MentionOut:
    home = row["document"] or NO_DOCUMENT
    return MentionOut(
        **_where(row, home["chunks"]),
        document_name=document_name(home),
        beginning=text_of(row["beginning"]),
    )

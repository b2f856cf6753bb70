"""What the rows of a search's statements say, as values of drift.values.graph.

A graph from elsewhere may hold anything anywhere. A node without a usable key is left out; what is
meant to be text and is something else, counts as missing.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from drift.place import NOWHERE, Place, at_place
from drift.values.graph import (
    Candidate,
    Candidates,
    Chunk,
    Community,
    CommunityId,
    Entity,
    Mention,
    Placed,
    PrimerEvidence,
    Relationship,
)

_NO_DOCUMENT: Mapping[str, Any] = {"title": None, "id": None, "metadata": None, "chunks": None}


def primer_evidence(row: Mapping[str, Any]) -> PrimerEvidence:
    """Return what the primer's one row says."""
    communities = (_community(c) for c in row["communities"] if _is_key(c["id"]))
    return PrimerEvidence(tuple(communities), tuple(_chunks(row["chunks"])))


def odd_nodes(row: Mapping[str, Any]) -> dict[str, list[object]]:
    """Return the keys of the nodes that the primer left out, by their label."""
    shown = (*row["chunks"], *(sample for c in row["communities"] for sample in c["samples"]))
    keyless = [chunk["id"] for chunk in shown if not _is_key(chunk["id"])]
    unnamed = [c["id"] for c in row["communities"] if not _is_key(c["id"])]
    return {
        "__Chunk__": [*row["odd_chunks"], *keyless],
        "__Community__": [*row["odd_communities"], *unnamed],
    }


def _is_key(stored: object) -> bool:
    return isinstance(stored, str | int | float) and not isinstance(stored, bool)


def _text(stored: object) -> str:
    return stored if isinstance(stored, str) else ""


def _chunks(rows: Iterable[Mapping[str, Any]]) -> Iterable[Chunk]:
    return (_chunk(row) for row in rows if _is_key(row["id"]))


def _chunk(row: Mapping[str, Any]) -> Chunk:
    document = row["document"] or _NO_DOCUMENT
    place, places = _place(row["ordinal"], document["chunks"])
    return Chunk(
        id=str(row["id"]),
        text=_text(row["text"]),
        document_name=_document_name(document),
        score=row.get("score") or 0.0,
        heading=_text(row["heading"]),
        place=place,
        places=places,
    )


def _document_name(document: Mapping[str, Any]) -> str:
    """Return the title, else the name of the file in the metadata, else the id."""
    return (
        _text(document["title"])
        or _file_name(_text(document["metadata"]))
        or _text(document["id"])
        or "unknown"
    )


def _file_name(metadata: str) -> str:
    """Return what a document's metadata, as JSON, calls its file; empty where they do not."""
    try:
        read = json.loads(metadata) if metadata else None
    except (ValueError, RecursionError):
        return ""
    name = _text(read.get("file_name")) if isinstance(read, dict) else ""
    # JSON can write half of a surrogate pair, which is no character and cannot be sent.
    return name.encode(errors="ignore").decode().strip()


def _place(ordinal: object, chunks: object) -> tuple[int | None, int | None]:
    """Return the place, from 1, and how many there are; an ordinal of something else is no place.

    Some graphs number all chunks of all documents.
    """
    if type(ordinal) is int and type(chunks) is int and 0 <= ordinal < chunks:
        return ordinal + 1, chunks
    return None, None


def _community(row: Mapping[str, Any]) -> Community:
    samples = tuple(_chunks(row["samples"]))
    return Community(
        _community_id(row["id"]), row["level"], _text(row["summary"]), row["score"], samples
    )


def _community_id(stored: CommunityId | float) -> CommunityId:
    """Return the key in its type.

    Tables with gaps make floats of integers, which Cypher finds by the integer as well.
    """
    if isinstance(stored, float):
        return int(stored) if stored.is_integer() else str(stored)
    return stored


def candidates(row: Mapping[str, Any], asked: Place = NOWHERE) -> Candidates:
    """Return what the follow-up's one row says, and what of it stands at the place asked for."""
    mentions: defaultdict[int, list[Mention]] = defaultdict(list)
    for place, number, rarity, about in row["shared"]:
        mentions[place].append(Mention(number, rarity, about))

    chunks = {
        place: _candidate(c, mentions[place])
        for place, c in enumerate(row["candidates"])
        if _is_key(c["id"])
    }
    ids = {place: candidate.chunk.id for place, candidate in chunks.items()}
    return Candidates(
        chunks=tuple(chunks.values()),
        entities=tuple(_entity(e, ids) for e in row["entities"] if _is_key(e["id"])),
        relationships=tuple(dict.fromkeys(_relationship(r, ids) for r in row["relationships"])),
        communities=tuple(_community(c) for c in row["communities"] if _is_key(c["id"])),
        placed=at_place(asked, [_placed(p) for p in row["placed"] if _is_key(p["id"])]),
    )


def _placed(row: Mapping[str, Any]) -> Placed:
    return Placed(_chunk(row), row["why"], str(row["anchor"]), row["step"])


def _candidate(row: Mapping[str, Any], mentions: Iterable[Mention]) -> Candidate:
    return Candidate(
        _chunk(row), row["similarity"], row["bm25"], row["graph"], row["in_scope"], tuple(mentions)
    )


def _entity(row: Mapping[str, Any], ids: Mapping[int, str]) -> Entity:
    return Entity(
        str(row["id"]),
        _text(row["title"]),
        _text(row["description"]),
        row["mentions"],
        _at(row["places"], ids),
    )


def _at(places: Iterable[int], ids: Mapping[int, str]) -> tuple[str, ...]:
    """Return the ids of the candidates at these places."""
    return tuple(ids[place] for place in sorted(places) if place in ids)


def _relationship(row: Mapping[str, Any], ids: Mapping[int, str]) -> Relationship:
    weight = row["weight"] or 0.0
    return Relationship(
        _text(row["source"]),
        _text(row["target"]),
        _text(row["description"]),
        weight if math.isfinite(weight) else 0.0,
        _at(row["places"], ids),
    )

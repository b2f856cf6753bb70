"""What the rows of a search's statements say, as values of drift.model.graph.

A graph from elsewhere may hold anything anywhere. A node without a usable key is left out; what is
meant to be text and is something else, counts as missing.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from drift.core import source_uri
from drift.model.graph import (
    Candidate,
    Candidates,
    Chunk,
    Community,
    CommunityId,
    Entity,
    Mention,
    PrimerEvidence,
    Relationship,
)

_NO_DOCUMENT: Mapping[str, Any] = {
    "title": None,
    "id": None,
    "metadata": None,
    "chunks": None,
    "uris": (),
}
_MOST_CHARACTERS = 2**53
"""The largest number that every reader of JSON takes as it is."""


def primer_evidence(row: Mapping[str, Any]) -> PrimerEvidence:
    """Return what the primer's one row says."""
    communities = (_community(c) for c in row["communities"] if is_key(c["id"]))
    return PrimerEvidence(tuple(communities), tuple(chunks_of(row["chunks"])))


def odd_nodes(row: Mapping[str, Any]) -> dict[str, list[object]]:
    """Return the keys of the nodes that the primer left out, by their label."""
    shown = (*row["chunks"], *(sample for c in row["communities"] for sample in c["samples"]))
    keyless = [chunk["id"] for chunk in shown if not is_key(chunk["id"])]
    unnamed = [c["id"] for c in row["communities"] if not is_key(c["id"])]
    return {
        "__Chunk__": [*row["odd_chunks"], *keyless],
        "__Community__": [*row["odd_communities"], *unnamed],
    }


def is_key(stored: object) -> bool:
    """Tell whether a stored value can tell one node from another."""
    return isinstance(stored, str | int | float) and not isinstance(stored, bool)


def text_of(stored: object) -> str:
    """Return a stored text; empty for anything else."""
    return stored if isinstance(stored, str) else ""


def chunks_of(rows: Iterable[Mapping[str, Any]]) -> Iterable[Chunk]:
    """Return the chunks that a statement's rows tell of."""
    return (_chunk(row) for row in rows if is_key(row["id"]))


def _chunk(row: Mapping[str, Any]) -> Chunk:
    document = row["document"] or _NO_DOCUMENT
    place, places = place_of(row["ordinal"], document["chunks"])
    return Chunk(
        id=str(row["id"]),
        text=text_of(row["text"]),
        document_name=document_name(document),
        score=row.get("score") or 0.0,
        heading=text_of(row["heading"]),
        place=place,
        places=places,
        page=next((page for page in map(_page, row["pages"]) if page not in {None, ""}), None),
        start=next((start for start in row["starts"] if 0 <= start < _MOST_CHARACTERS), None),
        source_uri=source_uri.first_shown(document["uris"]),
        first_line=next((line for line in row["lines"] if 0 < line < _MOST_CHARACTERS), None),
        document_id=text_of(document["id"]),
    )


def document_name(document: Mapping[str, Any]) -> str:
    """Return the title, else the name of the file in the metadata, else the id."""
    return (
        text_of(document["title"])
        or _file_name(text_of(document["metadata"]))
        or text_of(document["id"])
        or "unknown"
    )


def _file_name(metadata: str) -> str:
    """Return what a document's metadata, as JSON, calls its file; empty where they do not."""
    try:
        read = json.loads(metadata) if metadata else None
    except (ValueError, RecursionError):
        return ""

    name = text_of(read.get("file_name")) if isinstance(read, dict) else ""
    # JSON can write half of a surrogate pair, which is no character and cannot be sent.
    return name.encode(errors="ignore").decode().strip()


def place_of(ordinal: object, chunks: object) -> tuple[int | None, int | None]:
    """Return the place, from 1, and how many there are; some graphs number across documents."""
    if type(ordinal) is int and type(chunks) is int and 0 <= ordinal < chunks:
        return ordinal + 1, chunks
    return None, None


def _page(stored: object) -> int | str | None:
    """Return a page's number, from 0, or its label on one line; None for anything else."""
    if isinstance(stored, str):
        return " ".join(stored.split())
    return stored if type(stored) is int and 0 <= stored < _MOST_CHARACTERS else None


def _community(row: Mapping[str, Any]) -> Community:
    samples = tuple(chunks_of(row["samples"]))
    return Community(
        community_id(row["id"]), row["level"], text_of(row["summary"]), row["score"], samples
    )


def community_id(stored: CommunityId | float) -> CommunityId:
    """Return the key in its type: tables with gaps make floats of integers."""
    if isinstance(stored, float):
        return int(stored) if stored.is_integer() else str(stored)
    return stored


def candidates(row: Mapping[str, Any]) -> Candidates:
    """Return what the follow-up's one row says."""
    mentions: defaultdict[int, list[Mention]] = defaultdict(list)
    for place, number, rarity, about in row["shared"]:
        mentions[place].append(Mention(number, rarity, about))

    chunks = {
        place: _candidate(c, mentions[place])
        for place, c in enumerate(row["candidates"])
        if is_key(c["id"])
    }
    ids = {place: candidate.chunk.id for place, candidate in chunks.items()}

    return Candidates(
        chunks=tuple(chunks.values()),
        entities=tuple(_entity(e, ids) for e in row["entities"] if is_key(e["id"])),
        relationships=tuple(dict.fromkeys(_relationship(r, ids) for r in row["relationships"])),
        communities=tuple(_community(c) for c in row["communities"] if is_key(c["id"])),
    )


def _candidate(row: Mapping[str, Any], mentions: Iterable[Mention]) -> Candidate:
    return Candidate(
        _chunk(row), row["similarity"], row["bm25"], row["graph"], row["in_scope"], tuple(mentions)
    )


def _entity(row: Mapping[str, Any], ids: Mapping[int, str]) -> Entity:
    return Entity(
        str(row["id"]),
        text_of(row["title"]),
        text_of(row["description"]),
        row["mentions"],
        _at(row["places"], ids),
    )


def _at(places: Iterable[int], ids: Mapping[int, str]) -> tuple[str, ...]:
    """Return the ids of the candidates at these places."""
    return tuple(ids[place] for place in sorted(places) if place in ids)


def _relationship(row: Mapping[str, Any], ids: Mapping[int, str]) -> Relationship:
    weight = row["weight"] or 0.0
    return Relationship(
        text_of(row["source"]),
        text_of(row["target"]),
        text_of(row["description"]),
        weight if math.isfinite(weight) else 0.0,
        _at(row["places"], ids),
    )

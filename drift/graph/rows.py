"""What the rows of a search's statements say, as values of drift.model.graph.

A graph from elsewhere may hold anything anywhere. A node without a usable key is left out; what is
meant to be text and is something else, counts as missing.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from drift.core import source_uri
from drift.evidence.found_names import stands_in
from drift.model.graph import (
    NAMELESS,
    Candidate,
    Candidates,
    Chunk,
    Community,
    CommunityId,
    FollowupQuery,
    Mention,
    Relationship,
    Via,
    document_of,
)

NO_DOCUMENT: Mapping[str, Any] = {
    **dict.fromkeys(("title", "id", "metadata", "chunks")),
    "uris": (),
}
_MOST_NAMED, _SHORTEST_TITLE = 2, 4
_MOST_CHARACTERS = 2**53
"""The largest number that every reader of JSON takes as it is."""


def communities(row: Mapping[str, Any]) -> tuple[Community, ...]:
    """Return the communities of a row."""
    return tuple(_community(c) for c in row["communities"] if is_key(c["id"]))


def choose_topics(rows: Sequence[Mapping[str, Any]], top_k: int) -> tuple[Community, ...]:
    """Return the topics of the statement's rows, with a group before them that tells them apart.

    That is one that holds at least half of their votes, and two of them or more. It says what they
    have in common, and stands beside `top_k` of them.
    """
    fewest_topics = 2  # beside which a group is one too many
    topics = tuple(map(_community, rows))
    inside: defaultdict[CommunityId, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["above"]:
            inside[row["above"]["id"]].append(row)

    half = sum(row["votes"] for row in rows) / 2
    for held in inside.values() if top_k > fewest_topics else ():
        if len(held) > 1 and sum(row["votes"] for row in held) >= half:
            members = [id_ for row in held for id_ in row["members"]]
            return (_community({**held[0]["above"], "members": members}), *topics)

    return topics


def is_key(stored: object) -> bool:
    """Tell whether a stored value can tell one node from another."""
    return isinstance(stored, str | int | float) and not isinstance(stored, bool)


def text_of(stored: object) -> str:
    """Return a stored text; empty for anything else."""
    return stored if isinstance(stored, str) else ""


def chunks_of(rows: Iterable[Mapping[str, Any]]) -> Iterable[Chunk]:
    """Return the chunks that a statement's rows tell of."""
    return (_chunk(row) for row in rows if is_key(row["id"]))


def _chunk(row: Mapping[str, Any], via: tuple[Via, ...] = ()) -> Chunk:
    document = row["document"] or NO_DOCUMENT
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
        superseded_by=text_of(document.get("superseded_by")),
        links=tuple((words, to) for to, _, words in map(_cut, row.get("links", ()))),
        via=via,
    )


def _cut(line: str) -> tuple[str, str, str]:
    return line.partition("\n")


def document_name(document: Mapping[str, Any]) -> str:
    """Return the title, else the name of the file in the metadata, else the id."""
    return (
        text_of(document["title"])
        or _file_name(text_of(document["metadata"]))
        or text_of(document["id"])
        or NAMELESS
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
    return Community(
        id=community_id(row["id"]),
        level=row["level"],
        summary=text_of(row["summary"]),
        title=text_of(row["title"]),
        members=frozenset(map(str, row["members"])),
        samples=tuple(chunks_of(row.get("samples", ()))),
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

    behind = {row["place"]: row["chunk"] for row in reversed(row["following"])}
    chunks = {
        place: _candidate(c, mentions[place], behind.get(place))
        for place, c in enumerate(row["candidates"])
        if is_key(c["id"])
    }
    ids = {place: candidate.chunk.id for place, candidate in chunks.items()}

    return Candidates(
        chunks=tuple(chunks.values()),
        relationships=tuple(dict.fromkeys(_relationship(r, ids) for r in row["relationships"])),
        rare=tuple(frozenset(str(id_) for id_ in ids if is_key(id_)) for ids in row["rare"]),
    )


def named(row: Mapping[str, Any], linked: Collection[str]) -> list[Candidate]:
    """Return the candidates that the row of named documents tells of, some of them `linked`."""
    found = []
    for told in row["named"]:
        if is_key(told["id"]):
            one = _candidate(told, (), None)
            via: Via = "link" if one.chunk.document_id in linked else "title"
            found.append(replace(one, chunk=replace(one.chunk, via=(via,))))
    return found


def anchors_of_named(query: FollowupQuery, found: Candidates) -> list[str]:
    """Return a chunk's id for each document found whose title stands in the question verbatim.

    Full text finds some of its chunks by the words of the title. At most two, of the longest ones.
    """
    anchors: dict[tuple[str, str], str] = {}
    for candidate in found.chunks:
        title = re.sub(r"\.\w{1,9}$", "", candidate.chunk.document_name)
        anchors.setdefault((title, document_of(candidate.chunk)), candidate.chunk.id)

    longest = sorted(anchors, key=lambda one: (-len(one[0]), one))
    asked = [query.question]
    stated = (one for one in longest if len(one[0]) >= _SHORTEST_TITLE and stands_in(one[0], asked))
    return [anchors[one] for one in stated][:_MOST_NAMED]


def with_named(found: Candidates, further: Sequence[Candidate]) -> Candidates:
    """Return what was found with the chunks of named documents, which are inside the scope."""
    ids = {candidate.chunk.id for candidate in further}
    known = {candidate.chunk.id for candidate in found.chunks}
    chunks = [
        replace(c, in_scope=True) if c.chunk.id in ids and not c.in_scope else c
        for c in found.chunks
    ]
    new = (candidate for candidate in further if candidate.chunk.id not in known)
    return replace(found, chunks=(*chunks, *new))


def _candidate(
    row: Mapping[str, Any], mentions: Iterable[Mention], behind: Mapping[str, Any] | None
) -> Candidate:
    legs: tuple[tuple[Via, object], ...] = (
        ("vector", row.get("is_near")),
        ("text", row["bm25"]),
        ("walk", row["graph"]),
    )
    return Candidate(
        _chunk(row, tuple(leg for leg, found in legs if found)),
        row["similarity"],
        row["bm25"],
        row["graph"],
        row["in_scope"],
        tuple(mentions),
        next(iter(chunks_of([behind] if behind else ())), None),
    )


def _relationship(row: Mapping[str, Any], ids: Mapping[int, str]) -> Relationship:
    said_in = text_of(row["chunk_id"])
    mention_both = (ids[place] for place in sorted(row["places"]) if place in ids)
    return Relationship(
        text_of(row["source"]),
        text_of(row["target"]),
        text_of(row["description"]),
        (said_in,) if said_in else tuple(mention_both),
    )

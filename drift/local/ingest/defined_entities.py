"""Pure: the entities that documents define or lead to: symbols, tools and addresses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from drift.graph.writing.records import ChunkDefinitions, EntityRecord, Member
from drift.indexing.links import URL
from drift.indexing.records import stable_id

SYMBOL = "Symbol"
MOST_OF_A_NAME = 5
"""Definitions that may share a name: one of more of them cannot be told from the others."""
MOST_OF_WORDS = 200
"""Characters of what links call an address."""


def defined_entities(
    members: Sequence[Member], facts: Sequence[ChunkDefinitions]
) -> list[EntityRecord]:
    """Return what these chunks define or lead to; an address is one for the whole project."""
    documents = {member.chunk_id: member.document_id for member in members}
    known = [one for one in facts if one.chunk_id in documents]
    namings = _namings(known)
    leading: dict[str, dict[str, str]] = defaultdict(dict)
    repeats: Counter[tuple[str, str]] = Counter()

    entities: list[EntityRecord] = []
    for one in known:
        path = documents[one.chunk_id]
        for d in one.defines:
            if d.label == URL:
                leading[d.title][one.chunk_id] = d.description
                continue
            repeats[path, d.title] += 1
            also = namings[own_name(d.title)] if d.label == SYMBOL else ()
            entities.append(
                EntityRecord(
                    stable_id(d.label.lower(), path, d.title, str(repeats[path, d.title])),
                    d.title,
                    d.description,
                    tuple(dict.fromkeys((one.chunk_id, *also))),
                    type=d.type,
                    label=d.label,
                    path=path,
                    first_line=d.first_line,
                    last_line=d.last_line,
                )
            )
    return entities + [_address(*one) for one in leading.items()]


def _namings(facts: Sequence[ChunkDefinitions]) -> dict[str, list[str]]:
    defined = Counter(own_name(d.title) for one in facts for d in one.defines if d.label == SYMBOL)
    named: dict[str, list[str]] = defaultdict(list)
    for one in facts:
        for name in one.names:
            if 0 < defined[name] <= MOST_OF_A_NAME:
                named[name].append(one.chunk_id)
    return named


def _address(address: str, words_by_chunk: dict[str, str]) -> EntityRecord:
    """Return an address, described by the words of the links that lead to it."""
    words = " · ".join(sorted({*words_by_chunk.values()} - {""}))
    return EntityRecord(
        stable_id("url", address),
        address,
        words[:MOST_OF_WORDS],
        tuple(words_by_chunk),
        type="page",
        label=URL,
    )


def own_name(title: str) -> str:
    """Return the name behind the last dot of a title."""
    return title.rsplit(".", 1)[-1]

"""What the rows of the statements in cypher.py say, as values of drift.model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from drift.model import Chunk, Community, CommunityId, Entity, Evidence, PrimerEvidence, Relationship
from drift.ranking import Candidate, Mention, fuse

MOST_CHUNKS = 30
"""Chunks that a follow-up is given."""


def primer_evidence(row: Mapping[str, Any]) -> PrimerEvidence:
    """Return what the primer's one row says."""
    return PrimerEvidence(tuple(_community(c) for c in row["communities"]), tuple(_chunk(c) for c in row["chunks"]))


def _chunk(row: Mapping[str, Any]) -> Chunk:
    return Chunk(str(row["id"]), row["text"] or "", str(row["document_name"]), row.get("score") or 0.0)


def _community(row: Mapping[str, Any]) -> Community:
    samples = tuple(_chunk(s) for s in row["samples"])
    return Community(_community_id(row["id"]), row["level"], row["summary"] or "", row["score"], samples)


def _community_id(stored: object) -> CommunityId:
    """Return the key in its type; tables with gaps make floats of integers, which Cypher finds by the integer as well."""
    if isinstance(stored, float) and stored.is_integer():
        return int(stored)
    return stored if isinstance(stored, int | str) else str(stored)


def evidence(row: Mapping[str, Any]) -> Evidence:
    """Return what the follow-up's one row says, its candidates fused by drift.ranking."""
    mentions: defaultdict[int, list[Mention]] = defaultdict(list)
    for place, number, rarity, about in row["shared"]:
        mentions[place].append(Mention(number, rarity, about))
    candidates = (_candidate(c, mentions[place]) for place, c in enumerate(row["candidates"]))
    chunks = fuse(candidates, MOST_CHUNKS)
    return Evidence(
        chunks=chunks,
        neighbors=tuple(_chunk(n) for n in row["neighbors"]),
        entities=tuple(
            Entity(str(e["id"]), e["title"] or "", e["description"] or "", e["mentions"]) for e in row["entities"]
        ),
        relationships=tuple(_relationships(row["relationships"])),
    )


def _candidate(row: Mapping[str, Any], mentions: Iterable[Mention]) -> Candidate:
    return Candidate(_chunk(row), row["similarity"], row["bm25"], row["graph"], row["in_scope"], tuple(mentions))


def _relationships(rows: Iterable[Mapping[str, Any]]) -> Iterable[Relationship]:
    for row in rows:
        yield Relationship(row["source"] or "", row["target"] or "", row["description"] or "", row["weight"] or 0.0)

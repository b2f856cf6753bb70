"""Pure: what became of each passage that a search found.

All of it is computed from what a search has anyway: candidates, their order, and what was read.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import compress

from drift.contracts.explain import MOST_PASSAGES, CallOut, Fate, FoundPassage, LookOut, WayOut
from drift.core.asked_words import search_terms, wanted_alone
from drift.core.names import name_parts
from drift.evidence.near_duplicates import near_duplicates
from drift.model.graph import Candidates, Evidence
from drift.model.limits import Limits
from drift.prompting.budget import leading


@dataclass(frozen=True, slots=True)
class Find:
    """One search: its question, what was found, a reranker's scores by id, and the order made."""

    question: str
    found: Candidates
    relevance: Mapping[str, float]
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Notes:
    """The searches of a request, and its calls to servers."""

    finds: list[Find] = field(default_factory=list)
    calls: list[CallOut] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PassagesRead:
    """The ids of passages that the answer cites, that follow-ups cite, and that prompts show.

    It `is_one_look` where no follow-up reads a part of its evidence.
    """

    cited: AbstractSet[str]
    noted: AbstractSet[str]
    shown: AbstractSet[str]
    limits: Limits
    is_one_look: bool

    def fate(self, id_: str, rank: int | None, fits: AbstractSet[str], *, repeats: bool) -> Fate:
        """Return what became of a passage at its rank; `fits` are those that a prompt can take."""
        known: tuple[tuple[bool, Fate], ...] = (
            (id_ in self.cited, "cited"),
            (id_ in self.noted, "noted"),
            (id_ in self.shown, "shown"),
            (repeats, "duplicate"),
            (rank is None, "pool"),
            ((rank or 0) > self.limits.max_chunks_for_prompt, "place"),
            (self.is_one_look or id_ not in fits, "budget"),
        )
        return next((fate for holds, fate in known if holds), "unread")


def look_of(find: Find, read: PassagesRead) -> LookOut:
    """Return what one search found, and what was read of it."""
    found = {one.chunk.id: one for one in find.found.chunks}
    ordered = {chunk.id: chunk for chunk in find.evidence.candidates}
    kept = len(ordered)
    ordered |= {id_: one.chunk for id_, one in found.items() if id_ not in ordered}
    ways = {
        "vector": {
            id_: 2 * s - 1 for id_, one in found.items() if (s := one.similarity) is not None
        },
        "text": {id_: one.text for id_, one in found.items() if one.text},
        "walk": {id_: one.graph for id_, one in found.items() if one.graph},
        "reranker": find.relevance,
    }
    ranks = [_ranked(way, scores) for way, scores in ways.items()]
    again = set(compress(ordered, near_duplicates(chunk.text for chunk in ordered.values())))
    fits = {chunk.id for chunk in leading(find.evidence.chunks, read.limits)}

    passages = []
    for place, (id_, chunk) in enumerate(list(ordered.items())[:MOST_PASSAGES], start=1):
        rank = place if place <= kept else None
        passages.append(
            FoundPassage(
                chunk_id=id_,
                document_name=chunk.document_name,
                rank=rank,
                fate=read.fate(id_, rank, fits, repeats=id_ in again),
                via=chunk.via,
                ways=tuple(of_way[id_] for of_way in ranks if id_ in of_way),
            )
        )

    texts = [chunk.text.casefold() for id_, chunk in ordered.items() if id_ in read.shown]
    is_drowned = any(ids and ids.isdisjoint(read.shown) for ids in find.found.rare)
    alone = wanted_alone(find.question) if is_drowned else ()
    return LookOut(
        question=find.question,
        words=search_terms(find.question),
        names=name_parts(find.question),
        unread_words=tuple(w for w in alone if not any(w.casefold() in t for t in texts)),
        passages=tuple(passages),
    )


def _ranked(way: str, scores: Mapping[str, float]) -> dict[str, WayOut]:
    best_first = sorted(scores, key=lambda id_: (-scores[id_], id_))
    # BM25 counts the words of every project.
    told = {} if way == "text" else {id_: round(score, 4) for id_, score in scores.items()}
    return {
        id_: WayOut.model_validate({"way": way, "rank": rank, "score": told.get(id_)})
        for rank, id_ in enumerate(best_first, start=1)
    }

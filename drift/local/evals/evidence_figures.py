"""Pure: what a ranking of chunks shows of the gold documents and passages, and the report of it.

A question counts once, whatever the number of its documents. Passages count for the questions of
which at least one statement was located.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from drift.local.evals.comparison import lead, mean
from drift.local.evals.gold_passages import GoldPassage, Words
from drift.local.evals.questions import DocumentQuestion

METHODS = {
    "vector": "cosine alone",
    "bm25": "the full-text index alone",
    "rrf": "reciprocal ranks of both",
    "mix": "half cosine, half BM25",
    "ours": "the follow-up as it is",
}
"""In the order they are shown; the last one is what the others are compared with."""
OURS, BASELINE = "ours", "rrf"

CEILINGS = {
    "candidates": "the follow-up's candidates in the best order",
    "legs": "the first 60 by vector and 40 by words too",
    "deep": "the first 300 by vector and by words too",
}
"""What the best order of the same chunks would show, so that each step's loss is seen. From the
narrowest; each holds the one before it."""
_LEG_VECTOR, _LEG_WORDS = 60, 40

TOPIC_WAYS = {
    "votes": "the five topics of the question's best chunks",
    "vector": "the five topics nearest by the stored vector",
}
"""How the topics are chosen whose evidence is counted."""

DOCUMENT_CUTS = (5, 10, 20)
SHOWN_CHUNKS = 10
SHOWN_CHARS = 10_000

AT_TEN_CHUNKS = {name: name for name in ("docs5", "docs10", "docs20", "top10", "passages10")}
AT_CHARS = {"top10": "top10_by_chars", "passages10": "passages10_by_chars"}
OF_TOPICS = {name: name for name in ("documents", "passages", "chunks")}

Figures = Mapping[str, float]
"""Shares of one question's evidence, 0..1, by name.

`docs5`, `docs10`, `docs20`: documents among the first distinct ones; `top10` and `passages10`:
documents and passages among the first ten chunks; the same `_by_chars`: among the first 10,000
characters. The figures of passages are absent where no statement was located.
"""


@dataclass(frozen=True, slots=True)
class RankedChunk:
    """A chunk as a ranking holds it: the document it is cut from, its words, its length."""

    document: str
    words: Words
    chars: int


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """One question: its type, the figures of each method, of an oracle, and of five topics."""

    type: str
    methods: Mapping[str, Figures]
    ceilings: Mapping[str, Figures] = field(default_factory=dict)
    topics: Mapping[str, Figures] = field(default_factory=dict)


def figures(
    ranking: Sequence[RankedChunk],
    question: DocumentQuestion,
    gold: Sequence[GoldPassage],
    at: int = SHOWN_CHUNKS,
) -> Figures:
    """Return the share of the question's evidence in the first chunks of a ranking, best first."""
    distinct = list(dict.fromkeys(chunk.document for chunk in ranking))
    shares = {f"docs{cut}": _share(question.documents, distinct[:cut]) for cut in DOCUMENT_CUTS}

    lists = {"": ranking[:at], "_by_chars": within_chars(ranking, SHOWN_CHARS)}
    for ending, chunks in lists.items():
        shares[f"top10{ending}"] = _share(question.documents, [c.document for c in chunks])
        if gold:
            held = [any(_shows(chunk, passage) for chunk in chunks) for passage in gold]
            shares[f"passages10{ending}"] = sum(held) / len(held)

    return shares


def within_chars(ranking: Sequence[RankedChunk], limit: int) -> Sequence[RankedChunk]:
    """Return the first chunks that fit into `limit` characters, at least one."""
    used = 0
    for place, chunk in enumerate(ranking):
        used += chunk.chars
        if used > limit:
            return ranking[: max(1, place)]
    return ranking


def _shows(chunk: RankedChunk, passage: GoldPassage) -> bool:
    return chunk.document in passage.documents and passage.is_in(chunk.words)


def _share(wanted: Collection[str], found: Iterable[str]) -> float:
    return len(set(wanted) & set(found)) / len(wanted)


# ---------------------------------------------------------------------------------------- ceilings
def ceilings(
    rankings: Mapping[str, Sequence[RankedChunk]],
    question: DocumentQuestion,
    gold: Sequence[GoldPassage],
) -> dict[str, Figures]:
    """Return the share that an oracle over all rankings would show for each of CEILINGS."""
    ours, vector, words = rankings["ours"], rankings["vector"], rankings["bm25"]
    wider = {
        "candidates": [*ours],
        "legs": [*ours, *vector[:_LEG_VECTOR], *words[:_LEG_WORDS]],
        "deep": [*ours, *vector, *words],
    }

    return {
        name: figures(best_order(list(dict.fromkeys(chunks)), question, gold), question, gold)
        for name, chunks in wider.items()
    }


def best_order(
    chunks: Sequence[RankedChunk], question: DocumentQuestion, gold: Sequence[GoldPassage]
) -> list[RankedChunk]:
    """Return the chunks with what shows evidence first: passages, then documents, then the rest."""
    of_gold = [chunk for chunk in chunks if chunk.document in question.documents]
    picked: dict[RankedChunk, None] = {}
    for passage in gold:
        holders = [chunk for chunk in of_gold if _shows(chunk, passage)]
        if holders and not any(chunk in picked for chunk in holders):
            picked[holders[0]] = None

    shown = {chunk.document for chunk in picked}
    for chunk in of_gold:
        if chunk.document not in shown:
            shown.add(chunk.document)
            picked[chunk] = None

    return list(dict.fromkeys([*picked, *chunks]))


# ------------------------------------------------------------------------------------------ report
def report(results: Sequence[QuestionResult]) -> dict[str, Any]:
    """Return the measurement as one document, in percent."""
    types = {
        name: [result for result in results if result.type == name]
        for name in sorted({result.type for result in results})
    }
    rivals = [method for method in METHODS if method != OURS]
    leading = {name: name for name in ("docs10", *AT_CHARS)}
    leads = {rival: _leads(results, rival, leading) for rival in rivals}
    oracles = [QuestionResult(result.type, result.ceilings) for result in results]
    found_by = [QuestionResult(result.type, result.topics) for result in results]

    return {
        "questions": len(results),
        "questions_with_passages": len(_values(results, OURS, "passages10")),
        "methods": _methods(results),
        "types": {name: _methods(own) for name, own in types.items()},
        "questions_of_type": {name: len(own) for name, own in types.items()},
        "ceilings": {name: _means(oracles, name, AT_TEN_CHUNKS) for name in CEILINGS},
        "topics": {way: _means(found_by, way, OF_TOPICS) for way in TOPIC_WAYS},
        "ours_minus_rrf": leads[BASELINE],
        "types_ours_minus_rrf": {
            name: _leads(own, BASELINE, leading) for name, own in types.items()
        },
        "ours_minus": leads,
        "at_10000_characters": {
            "methods": {method: _means(results, method, AT_CHARS) for method in METHODS},
            "ours_minus": {rival: _leads(results, rival, AT_CHARS) for rival in rivals},
        },
    }


def _methods(results: Sequence[QuestionResult]) -> dict[str, dict[str, float]]:
    return {method: _means(results, method, AT_TEN_CHUNKS) for method in METHODS}


def _means(
    results: Sequence[QuestionResult], method: str, names: Mapping[str, str]
) -> dict[str, float]:
    return {name: mean(_values(results, method, figure)) for name, figure in names.items()}


def _leads(
    results: Sequence[QuestionResult], rival: str, names: Mapping[str, str]
) -> dict[str, Any]:
    """Return by how much ours is ahead, with the paired interval over questions."""
    leads: dict[str, Any] = {}
    for name, figure in names.items():
        ours, theirs = _values(results, OURS, figure), _values(results, rival, figure)
        leads[name], leads[f"{name}_ci95"] = lead(ours, theirs)
    return leads


def _values(results: Iterable[QuestionResult], method: str, figure: str) -> list[float]:
    shown = (result.methods.get(method, {}) for result in results)
    return [figures[figure] for figures in shown if figure in figures]

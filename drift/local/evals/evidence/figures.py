"""Pure: what a ranking of chunks shows of the gold documents and passages, and the report of it.

A question counts once, whatever the number of its documents. Passages count for the questions of
which at least one statement was located.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from drift.local.evals.evidence.document_questions import DocumentQuestion
from drift.local.evals.evidence.gold_passages import GoldPassage, Words
from drift.local.evals.recall.interval import paired_interval

METHODS = {
    "vector": "cosine alone",
    "bm25": "the full-text index alone",
    "rrf": "reciprocal ranks of both",
    "mix": "half cosine, half BM25",
    "ours": "the follow-up as it is",
}
"""In the order they are shown; the last one is what the others are compared with."""
OURS, BASELINE = "ours", "rrf"

DOCUMENT_CUTS = (5, 10, 20)
SHOWN_CHUNKS = 10
SHOWN_CHARS = 10_000

AT_TEN_CHUNKS = ("docs5", "docs10", "docs20", "top10", "passages10")
AT_CHARS = {"top10": "top10_by_chars", "passages10": "passages10_by_chars"}

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
    """One question: its type, the figures of each method, and those of an oracle."""

    type: str
    methods: Mapping[str, Figures]
    ceilings: Mapping[str, Figures] = field(default_factory=dict)


def figures(
    ranking: Sequence[RankedChunk], question: DocumentQuestion, gold: Sequence[GoldPassage]
) -> Figures:
    """Return what a ranking, best first, shows of the question's evidence."""
    distinct = list(dict.fromkeys(chunk.document for chunk in ranking))
    shares = {f"docs{cut}": _share(question.documents, distinct[:cut]) for cut in DOCUMENT_CUTS}

    lists = {"": ranking[:SHOWN_CHUNKS], "_by_chars": within_chars(ranking, SHOWN_CHARS)}
    for ending, chunks in lists.items():
        shares[f"top10{ending}"] = _share(question.documents, [c.document for c in chunks])
        if gold:
            shares[f"passages10{ending}"] = passages_shown(gold, chunks)
    return shares


def within_chars(ranking: Sequence[RankedChunk], limit: int) -> Sequence[RankedChunk]:
    """Return the first chunks that fit into `limit` characters, at least one."""
    used = 0
    for place, chunk in enumerate(ranking):
        used += chunk.chars
        if used > limit:
            return ranking[: max(1, place)]
    return ranking


def passages_shown(gold: Sequence[GoldPassage], chunks: Sequence[RankedChunk]) -> float:
    """Return the share of the gold passages that chunks of their documents hold."""
    held = [
        any(chunk.document in passage.documents and passage.is_in(chunk.words) for chunk in chunks)
        for passage in gold
    ]
    return sum(held) / len(held)


def _share(wanted: Collection[str], found: Iterable[str]) -> float:
    return len(set(wanted) & set(found)) / len(wanted)


# ------------------------------------------------------------------------------------------ report
def report(results: Sequence[QuestionResult]) -> dict[str, Any]:
    """Return the measurement as one document, in percent."""
    types = {name: _of_type(results, name) for name in sorted({r.type for r in results})}
    rivals = [method for method in METHODS if method != OURS]
    return {
        "questions": len(results),
        "questions_with_passages": len(_values(results, OURS, "passages10")),
        "methods": _methods(results),
        "types": {name: _methods(of_type) for name, of_type in types.items()},
        "questions_of_type": {name: len(of_type) for name, of_type in types.items()},
        "ceilings": _ceilings(results),
        "ours_minus_rrf": _lead(results, BASELINE),
        "types_ours_minus_rrf": {name: _lead(own, BASELINE) for name, own in types.items()},
        "ours_minus": {method: _lead(results, method) for method in rivals},
        "at_10000_characters": {
            "methods": {method: _means_by_chars(results, method) for method in METHODS},
            "ours_minus": {method: _lead_by_chars(results, method) for method in rivals},
        },
    }


def _of_type(results: Iterable[QuestionResult], name: str) -> list[QuestionResult]:
    return [result for result in results if result.type == name]


def _methods(results: Sequence[QuestionResult]) -> dict[str, dict[str, float]]:
    return {method: _means(results, method) for method in METHODS}


def _means(results: Sequence[QuestionResult], method: str) -> dict[str, float]:
    return {figure: _mean(_values(results, method, figure)) for figure in AT_TEN_CHUNKS}


def _ceilings(results: Sequence[QuestionResult]) -> dict[str, dict[str, float]]:
    names = {name: None for result in results for name in result.ceilings}
    oracles = {name: [QuestionResult(r.type, r.ceilings) for r in results] for name in names}
    return {name: _means(own, name) for name, own in oracles.items()}


def _means_by_chars(results: Sequence[QuestionResult], method: str) -> dict[str, float]:
    return {name: _mean(_values(results, method, figure)) for name, figure in AT_CHARS.items()}


def _lead(results: Sequence[QuestionResult], rival: str) -> dict[str, Any]:
    names = {name: name for name in ("docs10", *AT_CHARS)}
    return _differences(results, rival, names)


def _lead_by_chars(results: Sequence[QuestionResult], rival: str) -> dict[str, Any]:
    return _differences(results, rival, AT_CHARS)


def _differences(
    results: Sequence[QuestionResult], rival: str, names: Mapping[str, str]
) -> dict[str, Any]:
    """Return by how much ours is ahead, with the paired interval over questions."""
    leads: dict[str, Any] = {}
    for name, figure in names.items():
        ours, theirs = _values(results, OURS, figure), _values(results, rival, figure)
        differences = [mine - other for mine, other in zip(ours, theirs, strict=True)]
        leads[name] = _mean(differences)
        leads[f"{name}_ci95"] = [_percent(end) for end in paired_interval(differences)]
    return leads


def _values(results: Iterable[QuestionResult], method: str, figure: str) -> list[float]:
    return [r.methods[method][figure] for r in results if figure in r.methods[method]]


def _mean(values: Sequence[float]) -> float:
    return _percent(sum(values) / len(values)) if values else 0.0


def _percent(share: float) -> float:
    return round(100 * share, 1)

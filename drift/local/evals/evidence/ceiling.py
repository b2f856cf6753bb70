"""Pure: what the best order of the same chunks would show, so that each step's loss is seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from drift.local.evals.evidence.document_questions import DocumentQuestion
from drift.local.evals.evidence.figures import Figures, RankedChunk, figures
from drift.local.evals.evidence.gold_passages import GoldPassage

CEILINGS = {
    "candidates": "the follow-up's candidates in the best order",
    "legs": "the first 60 by vector and 40 by words too",
    "deep": "the first 300 by vector and by words too",
}
"""From the narrowest; each holds the one before it."""
_LEG_VECTOR, _LEG_WORDS = 60, 40


def ceilings(
    rankings: Mapping[str, Sequence[RankedChunk]],
    question: DocumentQuestion,
    gold: Sequence[GoldPassage],
) -> dict[str, Figures]:
    """Return what an oracle would show of each of CEILINGS, given the rankings of all methods."""
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
        holders = [
            chunk
            for chunk in of_gold
            if chunk.document in passage.documents and passage.is_in(chunk.words)
        ]
        if holders and not any(chunk in picked for chunk in holders):
            picked[holders[0]] = None

    shown = {chunk.document for chunk in picked}
    for chunk in of_gold:
        if chunk.document not in shown:
            shown.add(chunk.document)
            picked[chunk] = None
    return list(dict.fromkeys([*picked, *chunks]))

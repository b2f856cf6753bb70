"""Pure: how vector, full-text and graph scores become one order.

A plain hybrid carries every ranking: half cosine, half BM25. The graph adds to it as much as the
question's names are worth: where they lead to few chunks, the walk and the hop count in full; where
they lead everywhere, next to nothing. docs/recall.md tells the gain of each weight.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from drift.evidence.near_duplicates import near_duplicates
from drift.model.graph import Candidate, Candidates, Chunk, Evidence, document_of
from drift.search.code_order import definitions_first
from drift.search.superseded import newest_first
from drift.search.title_links import led_by_titles

MIN_MASS = 1 / 4000
"""Mass below which a walk takes no further step; it is the unit when a logarithm is taken."""
USELESS_MASS, USEFUL_MASS = 0.03, 0.1
"""The mass of the best walked chunk at which a graph begins to count, and counts in full."""

HOP_SEEDS = 3  # the best chunks, whose entities lead one hop on
STRONG_LINK = 1.0  # from where one counts in full; what a fifth of all chunks mention makes 0.2

SHORT_HIT = 500
"""Characters under which a chunk brings the next one of its document."""

MAX_CHUNKS = 30  # chunks of a follow-up's evidence; how many of them a prompt shows is a setting
MAX_CANDIDATES = 40  # of which the primer chooses
MAX_PINNED = 3
RARE_PLACE, RARE_AMONG = 5, 20
"""Chunks among which a rare word has one of its own, and of which that is."""


def ranked(
    found: Candidates, question: str, relevance: Mapping[str, float] | None = None
) -> Evidence:
    """Return the evidence of a follow-up: its best chunks, and their neighbourhood.

    `relevance` has a reranker's scores by the chunks' ids. What titles lead to, what follows a
    short chunk, or was wished for, keeps its place.
    """
    fused = definitions_first(question, fuse(found.chunks, len(found.chunks), relevance))
    ordered = newest_first(question, led_by_titles(question, fused))
    best_first = followed(ordered[:MAX_CHUNKS], found.chunks)
    chunks = with_rare(pin(best_first, found.pinned), found)
    first = {chunk.id: chunk for chunk in chunks[:MAX_CHUNKS]}
    further = [chunk for chunk in ordered if chunk.id not in first]
    most = MAX_CANDIDATES - len(first)
    return Evidence(tuple(first.values()), found.relationships, tuple(further[:most]))


def followed(best_first: Sequence[Chunk], found: Iterable[Candidate]) -> tuple[Chunk, ...]:
    """Return the chunks, each short one followed by the next of its document, with its score."""
    behind = {c.chunk.id: c.following for c in found if c.following}
    via = {chunk.id: chunk.via for chunk in best_first}
    placed: dict[str, Chunk] = {}
    for chunk in best_first:
        placed.setdefault(chunk.id, chunk)
        if further := behind.get(chunk.id):
            led = (*via.get(further.id, ()), "next")
            placed.setdefault(further.id, replace(further, score=chunk.score, via=led))
    return tuple(placed.values())


def pin(best_first: Sequence[Chunk], pinned: Sequence[Chunk]) -> tuple[Chunk, ...]:
    """Return the chunks, the wished ones right behind the best and with its score."""
    if not best_first:
        return tuple(pinned[:MAX_PINNED])

    best, *others = best_first
    wished = {c.id: replace(c, score=best.score) for c in pinned if c.id != best.id}
    first = tuple(wished.values())[:MAX_PINNED]
    taken = {chunk.id for chunk in first}
    return (best, *first, *(chunk for chunk in others if chunk.id not in taken))


def with_rare(chunks: Sequence[Chunk], found: Candidates) -> tuple[Chunk, ...]:
    """Return the chunks, among the first five the best of two rare words that none of these has.

    They come from the first twenty: what stands behind has the word and little else. They stand
    behind the best three and what is pinned, with the score of the one before.
    """
    first = chunks[:RARE_PLACE]
    pinned = len({chunk.id for chunk in found.pinned} & {chunk.id for chunk in first})
    brought: list[Chunk] = []
    for ids in found.rare:
        is_held = any(chunk.id in ids for chunk in (*first, *brought))
        best = next((chunk for chunk in chunks[:RARE_AMONG] if chunk.id in ids), None)
        if best and not is_held and len(brought) < RARE_PLACE - max(3, pinned + 1):
            brought.append(best)

    if not brought:
        return tuple(chunks)
    kept = first[: -len(brought)]
    raised = [replace(chunk, score=kept[-1].score) for chunk in brought]
    behind = (chunk for chunk in chunks[len(kept) :] if chunk not in brought)
    return (*kept, *raised, *behind)


def fuse(
    candidates: Iterable[Candidate], most: int, relevance: Mapping[str, float] | None = None
) -> tuple[Chunk, ...]:
    """Return the `most` best chunks, best first, each with its fused score.

    The score is 0.5 vector + 0.5 text + walk + hop, and a tenth of that of the better neighbour in
    the document; where a reranker has scored the chunks, half of that and half its own. A
    document's further chunks keep 0.9 of it, near duplicates of a better one a tenth. Equal scores
    are ordered by id.
    """
    pool = list(candidates)
    vector = _between([_cosine(c) for c in pool])
    text = _by_greatest([c.text for c in pool])
    worth = graph_worth(pool)
    scores = [
        0.5 * cosine + 0.5 * bm25 + walk
        for cosine, bm25, walk in zip(vector, text, _walk(pool, worth), strict=True)
    ]
    if worth:
        hops = _one_hop(pool, scores)
        scores = [s + worth * 0.5 * hop for s, hop in zip(scores, hops, strict=True)]

    scores = _with_neighbours(pool, scores)
    if relevance:
        # Rerankers have scales of their own: logits, or shares of which the best is 0.02.
        told = _between([relevance.get(c.chunk.id) for c in pool])
        both = zip(_between(scores), told, strict=True)
        scores = [0.5 * own + 0.5 * relevant for own, relevant in both]

    scored = _spread([c.chunk for c in pool], scores, most)
    return tuple(sorted(scored, key=lambda chunk: (-chunk.score, chunk.id))[:most])


def graph_worth(candidates: Iterable[Candidate]) -> float:
    """Return how much the graph counts for a question, 0..1, by its best walked chunk.

    A walk divides a mass of 1 among all that a named entity leads to: a name that stands in few
    chunks leaves much of it there.
    """
    best = max((c.graph for c in candidates), default=0.0)
    if best <= USELESS_MASS:
        return 0.0
    return min(1.0, math.log(best / USELESS_MASS) / math.log(USEFUL_MASS / USELESS_MASS))


def _walk(pool: Sequence[Candidate], worth: float) -> list[float]:
    """Return the walk's share of each score: of the greatest mass by worth, else of the whole.

    Any of its names leads to a list of names, which keeps the less the more it has.
    """
    masses = [math.log1p(max(0.0, c.graph) / MIN_MASS) for c in pool]
    whole = math.log1p(1 / MIN_MASS)
    mentions = [len(c.mentions) for c in pool]
    usual = 3 * sum(mentions) / max(1, sum(map(bool, mentions)))  # a list of names has more
    # Where the question's names lead everywhere, the whole mass of a walk would count 0.2.
    return [
        (worth * 0.5 * relative + (1 - worth) * 0.2 * min(1.0, mass / whole))
        * (usual / max(usual, names) if names else 1.0)
        for mass, relative, names in zip(masses, _by_greatest(masses), mentions, strict=True)
    ]


def _with_neighbours(pool: Sequence[Candidate], scores: Sequence[float]) -> list[float]:
    """Return the scores, each with a tenth of the better one right before or behind it."""
    places = [(document_of(c.chunk), c.chunk.places, c.chunk.place) for c in pool]
    held = dict(zip(places, scores, strict=True))
    raised = []
    for (document, all_, at), score in zip(places, scores, strict=True):
        if not at:
            raised.append(score)
            continue

        before = held.get((document, all_, at - 1), 0.0)
        behind = held.get((document, all_, at + 1), 0.0)
        raised.append(score + 0.1 * max(before, behind))

    return raised


def _spread(chunks: Sequence[Chunk], scores: Sequence[float], most: int) -> list[Chunk]:
    """Return the chunks with their scores, in full for the best of a document and of duplicates.

    Those behind the `most` best are left out where that is known without reading them.
    """
    order = sorted(range(len(chunks)), key=lambda place: (-scores[place], chunks[place].id))
    seen: set[str] = set()
    spread: list[Chunk] = []
    duplicates = near_duplicates(chunks[place].text for place in order)
    for place, is_duplicate in zip(order, duplicates, strict=True):
        chunk, score = chunks[place], scores[place]
        # Scores only fall here, so that none further on reaches these.
        bound = max(0.0, round(score, 6))
        if len(spread) >= most and sum(one.score > bound for one in spread) >= most:
            break
        if is_duplicate:
            score *= 0.1
        elif document_of(chunk) in seen:
            score *= 0.9  # so that several documents get a place
        if not is_duplicate:
            seen.add(document_of(chunk))
        spread.append(replace(chunk, score=round(score, 6)))

    return spread


def _one_hop(pool: Sequence[Candidate], scores: Sequence[float]) -> list[float]:
    """Return how much each candidate is about an entity of the best ones, 0..1.

    Its strongest link counts, however many names it has, and rare entities most. The best ones
    themselves have 1, so that nothing overtakes them.
    """
    order = sorted(range(len(pool)), key=lambda place: (-scores[place], pool[place].chunk.id))
    seeds = frozenset(order[:HOP_SEEDS])
    mentioned = Counter(mention.entity for seed in seeds for mention in pool[seed].mentions)

    gains = [0.0] * len(pool)
    for place in order[HOP_SEEDS:]:
        for m in pool[place].mentions:
            # Mentioning a shared entity counts 0.05, beside being about it.
            gain = mentioned[m.entity] * max(0.0, m.rarity) ** 2 * (0.05 + m.about)
            gains[place] = max(gains[place], gain)

    if not any(gains):
        return gains
    strongest = max(STRONG_LINK, *gains)
    return [1.0 if place in seeds else gain / strongest for place, gain in enumerate(gains)]


def _cosine(candidate: Candidate) -> float | None:
    if candidate.similarity is None:
        return None
    # Added to the cosine of a chunk inside the target communities; more would hide the others.
    return 2 * candidate.similarity - 1 + (0.02 if candidate.in_scope else 0.0)


def _between(values: Sequence[float | None]) -> list[float]:
    known = [v for v in values if v is not None]
    if not known:
        return [0.0] * len(values)
    low, high = min(known), max(known)
    span = high - low
    return [0.0 if v is None else (v - low) / span if span else 1.0 for v in values]


def _by_greatest(values: Sequence[float]) -> list[float]:
    greatest = max(values, default=0.0)
    return [v / greatest if greatest > 0 else 0.0 for v in values]

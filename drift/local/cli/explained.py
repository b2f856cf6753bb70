"""An explanation in words: what made an answer worse or slower, and where a passage was lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from drift.contracts.explain import ExplainOut, Fate, FoundPassage
from drift.local.retrieval.held_passages import HeldPassage

SLOW_S = 5.0
"""Seconds from which it is told where they went."""
MOST_ALSO, MOST_SHOWN = 6, 10
_LOST = {
    "reranker_failed": "The reranker did not answer",
    "embedded_locally": "The embedding model did not answer, and a smaller local one searched",
    "deeper_failed": "The search behind the first look failed, and that look's answer stands",
}
_FATES: dict[Fate, str] = {
    "cited": "the answer cites it",
    "noted": "a follow-up cites it, and the answer does not",
    "shown": "the model was shown it, and did not cite it",
    "budget": "it did not fit into the prompt (MAX_PROMPT_TOKENS {max_prompt_tokens})",
    "place": "a prompt takes the first {max_chunks_for_prompt} (MAX_CHUNKS_FOR_PROMPT)",
    "unread": "no follow-up read so far down its evidence",
    "duplicate": "it repeats a better passage, which was taken in its place",
    "pool": "it was not among the candidates that were kept",
}


def causes(answered: dict[str, Any], told: ExplainOut) -> list[str]:
    """Return sentences on what made an answer worse or slower, what weighs most first."""
    is_answered = bool(answered["key_facts"])
    found = [*_failures(answered, told), *_of_evidence(told, is_answered), *_of_time(told)]
    less = "" if is_answered else " No passage that was read answers the question."
    return found or [f"Nothing failed, was cut or lost.{less}"]


def _failures(answered: dict[str, Any], told: ExplainOut) -> Iterator[str]:
    if told.held and not told.held.chunks:
        nothing = "This project holds no passage, or there is none of this name: `drift projects`."
        yield "The filter leaves no passage." if told.held.is_filtered else nothing
    errors = ", ".join(dict.fromkeys(one.error for one in told.calls if one.error))
    for event in told.lost:
        said = _LOST.get(event, f"A step failed, and the search went on without it: {event}")
        yield f"{said} ({errors})."
    states = Counter(one["state"] for one in answered["trace"]["followups"])
    for state, number in states.items():
        if state.startswith("failed"):
            yield f"{number} follow-up question(s) {state}."
    if limit := answered.get("ended_by"):
        yield f"The request's own limit {limit} ended the search."
    if number := answered["usage"].get("prompts_cut"):
        most = told.bounds["max_prompt_tokens"]
        yield f"The model's server cut {number} prompt(s): MAX_PROMPT_TOKENS ({most}) is too much."


def _of_evidence(told: ExplainOut, is_answered: bool) -> Iterator[str]:
    first, held = (told.looks[0].passages if told.looks else ()), told.held
    without = sum(bool(one.ways) and all(way.way != "vector" for way in one.ways) for one in first)
    if without:
        yield f"{without} of {len(first)} passages found have no vector (`drift prepare --embed`)."
    if held and held.chunks and held.is_filtered and not is_answered:
        left = f"{held.documents} document(s), {held.chunks} passage(s)"
        yield f"The filter leaves {left}, and none of these answers."
    for reason, number in Counter(one.reason for one in told.dropped).items():
        span = next(one.span for one in told.dropped if one.reason == reason)
        yield f"{number} citation(s) were dropped, as they do not hold ({reason}): “{span}”."
    if unfitting := sum(one.fate == "budget" for one in first):
        most = told.bounds["max_prompt_tokens"]
        yield f"{unfitting} of the best passages did not fit into prompts of {most} tokens."
    if words := ", ".join(told.looks[0].unread_words if told.looks else ()):
        yield f"No passage read has {words}: commoner words won."
    if held and held.behind:
        yield f"{held.behind} document(s) changed since topics were derived: these are stale."


def _of_time(told: ExplainOut) -> Iterator[str]:
    spent: Counter[str] = Counter()
    for one in told.calls:
        spent[one.kind] += int(1000 * one.seconds)
    for kind, ms in spent.most_common(1) if told.seconds >= SLOW_S else ():
        longest = max((o.seconds, o.name) for o in told.calls if o.kind == kind)
        whole = f"calls to {kind} took {ms / 1000:.1f} s, of {told.seconds:.1f} s in all"
        yield f"It is slow: {whole}; the longest was {longest[1]}, {longest[0]:.1f} s."


def lost(told: ExplainOut, held: Sequence[HeldPassage], project: str) -> str:
    """Return what became of a passage that the graph holds, by the first step that broke."""
    mine = {one.id: one for one in held if one.project == project}
    if not held:
        return "No passage of the graph says this: was its document ingested?"
    if not mine:
        others = ", ".join(sorted({one.project for one in held}))
        return f"It is not in project {project}, but in {others}."
    if all(one.is_off for one in mine.values()):
        return "Its document is switched off: `drift documents on`."
    found = [one for look in told.looks for one in look.passages if one.chunk_id in mine]
    if not found:
        return f"No way found it: {_why_unfound(told, [*mine.values()])}."
    best = min(found, key=lambda one: list(_FATES).index(one.fate))
    fate = _FATES[best.fate].format(**told.bounds)
    for one in told.dropped:
        if one.chunk_id in mine and best.fate == "shown":
            fate = f"the model cited it, and that was dropped ({one.reason}): “{one.span}”"
    text = mine[best.chunk_id].text.casefold()
    rare = ", ".join({w for look in told.looks for w in look.unread_words if w.casefold() in text})
    return f"It was found {_ranks(best)}: {fate}." + (f" Few passages have {rare}." if rare else "")


def _why_unfound(told: ExplainOut, mine: Sequence[HeldPassage]) -> str:
    if told.held and told.held.is_filtered:
        return f"the filter leaves {told.held.documents} document(s), and hides it most likely"
    if not any(one.has_vector for one in mine):
        return "it has no vector (`drift prepare --embed`)"
    words = told.looks[0].words if told.looks else ()
    has = [w for w in words if any(w in one.text.casefold() for one in mine)]
    return f"of the question's {len(words)} words it has {', '.join(has) or 'none'}"


def _ranks(one: FoundPassage) -> str:
    ways = ", ".join(f"{way.rank} by {way.way}" for way in one.ways)
    return f"at rank {one.rank or 'none'} ({ways or ', '.join(one.via)})"


def screen(told: ExplainOut, said: Sequence[str], passage: str) -> Iterator[str]:
    """Yield the lines of a first screen, which the cause leads, and a passage before it."""
    if passage:
        yield f"Passage: {passage}"
    yield from (f"{'Also' if at else 'Cause'}: {one}" for at, one in enumerate(said[:MOST_ALSO]))
    phases = ", ".join(f"{name} {seconds:.2f}" for name, seconds in told.phases.items())
    yield f"Seconds: {told.seconds:.2f} ({phases})"
    for kind in dict.fromkeys(one.kind for one in told.calls):
        some = [one for one in told.calls if one.kind == kind]
        seconds, name, model = max((one.seconds, one.name, one.model) for one in some)
        tokens = sum(one.prompt_tokens + one.completion_tokens for one in some)
        ends = f"{sum(o.retries for o in some)} retries, {sum(bool(o.error) for o in some)} failed"
        longest = f"longest {name} {seconds:.2f} s {model}".strip()
        yield f"  {kind} {len(some)}x, {longest}; {tokens} tokens, {ends}"
    for look in told.looks[:1]:
        yield f"Searched: {look.question}; words: {' '.join(look.words)}"
        yield f"Found: {len(look.passages)} passages, and {len(told.looks) - 1} further searches"
        for one in look.passages[:MOST_SHOWN]:
            yield f"  {one.fate}: {one.document_name}, {_ranks(one)}"

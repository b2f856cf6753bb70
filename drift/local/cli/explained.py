"""An explanation in words: what made an answer worse or slower, and where a passage was lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from drift.contracts.explain import CallOut, ExplainOut, Fate, FoundPassage
from drift.local.retrieval.held_passages import HeldPassage

SLOW_S = 5.0
"""Seconds from which it is told first where they went."""
_LOST = {
    "reranker_failed": "The reranker did not answer: passages stand in the search's own order",
    "embedded_locally": "The embedding model did not answer: a smaller local one searched",
    "rewriting_failed": "The question was searched for as asked, without its conversation",
    "deeper_failed": "The search behind the first look failed: that look's answer stands",
}
_FATES: dict[Fate, str] = {
    "cited": "the answer cites it",
    "noted": "a follow-up cites it, and the answer does not",
    "shown": "the model was shown it, and did not cite it",
    "budget": "it did not fit into the prompt (MAX_PROMPT_TOKENS {max_prompt_tokens:g})",
    "place": "a prompt takes the first {max_chunks_for_prompt:g} (MAX_CHUNKS_FOR_PROMPT)",
    "unread": "no follow-up read so far down its evidence",
    "duplicate": "it repeats a better passage, which was taken in its place",
    "pool": "it was not among the candidates that were kept",
}


def causes(told: ExplainOut, *, is_answered: bool) -> list[str]:
    """Return sentences on what made an answer worse or slower, what weighs most first."""
    found = [
        *_failures(told),
        *_of_evidence(told, is_answered),
        *_of_time(told.calls, told.seconds),
    ]
    if found:
        return found
    less = "" if is_answered else " No passage that was read answers the question."
    return [f"Nothing failed, was cut or lost.{less}"]


def _failures(told: ExplainOut) -> Iterator[str]:
    held = told.held
    if held and not held.chunks:
        nothing = "This project holds no passage, or there is none of this name: `drift projects`."
        yield "The filter leaves no passage of the project." if held.is_filtered else nothing
    errors = Counter(one.error for one in told.calls if one.error)
    codes = "; ".join(f"{code}, {n} call(s)" for code, n in errors.items())
    for event in told.lost:
        said = _LOST.get(event, f"A step failed, and the search went on without it: {event}")
        yield f"{said} ({codes})." if codes else f"{said}."
    for code, number in told.failed.items():
        yield f"{number} follow-up question(s) failed: {code}."
    if told.ended_by:
        bound = told.bounds[told.ended_by]
        yield f"The request's own limit {told.ended_by} ({bound:g}) ended the search."
    if told.prompts_cut:
        most = f"{told.bounds['max_prompt_tokens']:g} tokens of MAX_PROMPT_TOKENS"
        yield f"The model's server cut {told.prompts_cut} prompt(s): its context is under {most}."


def _of_evidence(told: ExplainOut, is_answered: bool) -> Iterator[str]:
    first, held = next(iter(told.looks), None), told.held
    if first and first.without_vector:
        share = f"{first.without_vector} of {first.found} passages found"
        yield f"{share} have no vector of this model: only words find them (`drift prepare`)."
    if held and held.chunks and held.is_filtered and not is_answered:
        left = f"{held.documents} document(s), {held.chunks} passage(s)"
        yield f"The filter leaves {left}, and none of these answers."
    for reason, number in Counter(one.reason for one in told.dropped).items():
        span = next(one.span for one in told.dropped if one.reason == reason)
        yield f"{number} citation(s) were dropped, as they do not hold ({reason}): “{span}”."
    fates = Counter(one.fate for one in first.passages) if first else Counter[str]()
    if fates["budget"]:
        most = told.bounds["max_prompt_tokens"]
        yield f"{fates['budget']} of the best passages did not fit into prompts of {most:g} tokens."
    if first and first.unread_words:
        yield f"No passage read has {', '.join(first.unread_words)}: commoner words won."
    if held and held.behind:
        yield f"{held.behind} document(s) changed since topics were derived: these are stale."


def _of_time(calls: Sequence[CallOut], seconds: float) -> Iterator[str]:
    spent: dict[str, float] = {}
    for one in calls:
        spent[one.kind] = spent.get(one.kind, 0.0) + one.seconds
    if calls and seconds >= SLOW_S:
        kind = max(spent, key=lambda one: spent[one])
        longest = max((one for one in calls if one.kind == kind), key=lambda one: one.seconds)
        yield (
            f"It is slow: calls to {kind} took {spent[kind]:.1f} s, of {seconds:.1f} s in all; "
            f"the longest was {longest.name}, {longest.seconds:.1f} s."
        )


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
        return f"No way found it{_why_unfound(told, [*mine.values()])}."
    best = min(found, key=lambda one: list(_FATES).index(one.fate))
    dropped = next((one for one in told.dropped if one.chunk_id in mine), None)
    fate = _FATES[best.fate].format(**told.bounds)
    if dropped and best.fate == "shown":
        fate = f"the model cited it, and that was dropped ({dropped.reason}): “{dropped.span}”"
    text = mine[best.chunk_id].text.casefold()
    words = [w for look in told.looks for w in look.unread_words if w.casefold() in text]
    rare = f" It has {', '.join(dict.fromkeys(words))}, which few passages have." if words else ""
    return f"It was found {_ranks(best)}: {fate}.{rare}"


def _why_unfound(told: ExplainOut, mine: Sequence[HeldPassage]) -> str:
    if told.held and told.held.is_filtered:
        return f": the filter leaves {told.held.documents} document(s), and hides it most likely"
    if not any(one.has_vector for one in mine):
        return ": it has no vector (`drift prepare --embed`)"
    words = [w for look in told.looks[:1] for w in look.words]
    has = [w for w in words if any(w in one.text.casefold() for one in mine)]
    return f": of the question's {len(words)} words it has {', '.join(has) or 'none'}"


def _ranks(one: FoundPassage) -> str:
    ways = ", ".join(f"{way.rank} by {way.way}" for way in one.ways)
    return f"at rank {one.rank or 'none'} ({ways or ', '.join(one.via)})"


def screen(told: ExplainOut, said: Sequence[str], passage: str) -> list[str]:
    """Return the lines of a first screen, which the cause leads."""
    lines = [f"Passage: {passage}"] if passage else []
    lines += [f"Cause: {said[0]}", *(f"Also: {one}" for one in said[1:5])]
    phases = ", ".join(f"{name} {seconds:.2f}" for name, seconds in told.phases.items())
    lines.append(f"Seconds: {told.seconds:.2f} ({phases})")
    for kind in dict.fromkeys(one.kind for one in told.calls):
        some = [one for one in told.calls if one.kind == kind]
        longest = max(some, key=lambda one: one.seconds)
        tokens = sum(one.prompt_tokens + one.completion_tokens for one in some)
        failed = sum(bool(one.error) for one in some)
        told_of = (
            f"{sum(one.seconds for one in some):.2f} s, longest {longest.name} {longest.model}"
        )
        counts = f"{tokens} tokens, {sum(one.retries for one in some)} retries, {failed} failed"
        lines.append(f"  {kind}: {len(some)} calls, {told_of}, {counts}")
    for look in told.looks[:1]:
        lines.append(f"Searched: {look.question}; words: {' '.join(look.words)}")
        lines.append(f"Found: {look.found} passages, {len(told.looks) - 1} further searches")
        lines += [
            f"  {one.rank or '-'} {one.fate}: {one.document_name} ({_ranks(one)})"
            for one in look.passages[:10]
        ]
    return lines

"""Pure: the three prompts that carry what was found, each within its bound of tokens.

Instructions and questions come first. What does not fit is left out from the end, and chunks last
of all: one is always shown, cut at a sentence if it must be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from drift import context, prompts
from drift.context import Handles
from drift.grouping import Group, in_turns
from drift.plan import Limits
from drift.response import checked_citations
from drift.tokens import cut_to, most_tokens
from drift.values.calls import Prompt
from drift.values.graph import Chunk, Community, CommunityId, PrimerEvidence
from drift.values.tree import Node

_OF_A_QUESTION = 6
"""A question takes at most this part of a prompt."""
_OF_SUMMARIES = 2
"""Summaries leave this part of the primer's room to its samples."""
_OF_ANSWERS = 4
"""The initial answer takes at most this part of the aggregator's room, and so do the words of the
only answer that fits."""
_SHORTEST_SUMMARY = 100
_COST_OF_LABELS = 40
"""Tokens of the labels and fences of what is settled and of the communities."""
_OF_CHUNKS = 7 / 8
"""Chunks take at most this share of an executor's prompt, so that the rest of it has room."""
_A_HANDLE = 12
"""Tokens of a chunk's handle in the list of valid ids, or of a sample's community."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A prompt for one or several follow-ups, the chunks in it, best first, and their handles."""

    prompt: Prompt
    shown: tuple[Chunk, ...]
    handles: Handles[str]


def fits(chunks: Sequence[Chunk], limits: Limits) -> bool:
    """Tell whether the chunks leave a prompt room for what stands beside them."""
    most = limits.max_prompt_tokens * _OF_CHUNKS
    return (
        len(chunks) <= limits.max_chunks_for_prompt
        and sum(_cost_of_chunk(chunk) for chunk in chunks) <= most
    )


def leading(chunks: Sequence[Chunk], limits: Limits) -> tuple[Chunk, ...]:
    """Return the leading chunks that one prompt shows, the first in any case."""
    taken: list[Chunk] = []
    room = limits.max_prompt_tokens * _OF_CHUNKS
    for chunk in chunks[: limits.max_chunks_for_prompt]:
        room -= _cost_of_chunk(chunk)
        if room < 0 and taken:
            break
        taken.append(chunk)
    return tuple(taken)


def executor(
    question: str,
    group: Group,
    communities: Handles[CommunityId],
    settled: Sequence[Node],
    limits: Limits,
) -> Reading:
    """Return what the follow-ups of a group are read with: one prompt within its bound.

    Chunks go before what is settled, and that before communities and the neighbourhood.
    """
    part = limits.max_prompt_tokens // _OF_A_QUESTION
    question = _cut(question, part)
    followups = [_cut(found.question.text, part // len(group)) for found in group]
    nothing = prompts.local(question, followups, prompts.Context())
    room = limits.max_prompt_tokens - _cost(nothing) - _COST_OF_LABELS

    shown, room = _leading(in_turns(group)[: limits.max_chunks_for_prompt], room)
    in_order = context.in_reading_order(shown)
    cited = [citation.chunk_id for citation in checked_citations(settled)]
    handles = Handles.of("K", [*(chunk.id for chunk in in_order), *cited])

    known, room = _fitting(context.settled_rows(settled, handles), room - _A_HANDLE * len(cited))
    evidence = [found.evidence for found in group]
    lower = context.communities_of(evidence)
    rows = context.community_rows(lower, communities, context.MAX_LOWER_SUMMARY_CHARACTERS)
    summaries, room = _fitting(rows, room)

    beside = context.neighbourhood(evidence)
    for kind in ("relationships", "entities"):
        beside[kind], room = _fitting(beside[kind], room)

    chunks = context.chunk_rows(in_order, handles)
    valid = handles.all_short()[: len(in_order)] + [
        c["chunk_id"] for row in known for c in row["citations"]
    ]
    given = prompts.Context(known, summaries, chunks, beside, list(dict.fromkeys(valid)))
    return Reading(prompts.local(question, followups, given), shown, handles)


def primer(
    question: str, found: PrimerEvidence, handles: Handles[CommunityId], most: int
) -> Prompt:
    """Return the prompt of the first look: communities, the more of them the shorter, and samples.

    Samples are taken in turns from the communities.
    """
    question = _cut(question, most // _OF_A_QUESTION)
    room = most - _cost(prompts.primer(question, [], []))

    samples = context.samples(found.communities, found.chunks, handles)
    for_summaries = room // _OF_SUMMARIES if samples else room
    summaries, left = _summaries(found.communities, handles, for_summaries)
    room -= for_summaries - left

    shown, _ = _leading(tuple(chunk for chunk, _ in samples.values()), room)
    return prompts.primer(question, summaries, context.sample_rows(shown, samples))


def aggregator(
    question: str, initial_answer: str, nodes: Sequence[Node], handles: Handles[str], most: int
) -> Prompt:
    """Return the prompt of the last call: what was answered, best confidence first."""
    question = _cut(question, most // _OF_A_QUESTION)
    room = most - _cost(prompts.aggregate(question, context.tree("", (), handles), []))
    initial_answer = _cut(initial_answer, max(1, room // _OF_ANSWERS))
    room -= most_tokens(prompts.data(initial_answer))

    tree = context.tree(initial_answer, nodes, handles)
    answered = tree["followups"]
    shown, _ = _fitting(answered, room - _A_HANDLE * len(handles.keys))
    shown = shown or _shortened(answered[:1], room)
    tree["followups"] = shown

    cited = {citation["chunk_id"] for row in shown for citation in row["citations"]}
    valid = [short for short in handles.all_short() if short in cited]
    return prompts.aggregate(question, tree, valid)


def _summaries(
    communities: Sequence[Community], handles: Handles[CommunityId], room: int
) -> tuple[list[dict[str, Any]], int]:
    """Return all communities with summaries as long as they fit, and the room that they leave.

    The last communities are left out when the shortest summaries do not fit either.
    """
    characters = context.MAX_SUMMARY_CHARACTERS
    fitting, left = _fitting(context.community_rows(communities, handles), room)
    while len(fitting) < len(communities) and characters > _SHORTEST_SUMMARY:
        characters //= 2
        fitting, left = _fitting(context.community_rows(communities, handles, characters), room)
    return fitting, left


def _shortened(answered: list[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    """Return one answer, as much of it and of its citations as fits."""
    part = room // _OF_ANSWERS
    return [
        row
        | {
            "question": _cut(row["question"], part),
            "answer": _cut(row["answer"], part),
            "citations": _fitting(row["citations"], part - _A_HANDLE * len(row["citations"]))[0],
        }
        for row in answered
    ]


def _leading(chunks: Sequence[Chunk], room: int) -> tuple[tuple[Chunk, ...], int]:
    """Return the leading chunks that fit, the first in any case, and the room that they leave."""
    shown: list[Chunk] = []
    for chunk in chunks:
        cost = _cost_of_chunk(chunk)
        if cost > room and shown:
            break
        if cost > room:
            first = _cut_chunk(chunk, room)
            return (first,), room - _cost_of_chunk(first)
        room -= cost
        shown.append(chunk)
    return tuple(shown), room


def _cut_chunk(chunk: Chunk, room: int) -> Chunk:
    """Return a chunk with as much of its text as fits, and the beginning of it in any case."""
    besides = _cost_of_chunk(replace(chunk, text=""))
    return replace(chunk, text=_cut(chunk.text, room - besides))


def _cut(text: str, tokens: int) -> str:
    return cut_to(text, tokens, lambda text: most_tokens(prompts.data(text)))


def _fitting(rows: Sequence[dict[str, Any]], room: int) -> tuple[list[dict[str, Any]], int]:
    """Return the leading rows that fit, and the room that they leave."""
    fitting: list[dict[str, Any]] = []
    for row in rows:
        cost = most_tokens(prompts.data(row))
        if cost > room:
            break
        room -= cost
        fitting.append(row)
    return fitting, room


def _cost(prompt: Prompt) -> int:
    return most_tokens(prompt.system) + most_tokens(prompt.user)


def _cost_of_chunk(chunk: Chunk) -> int:
    """Return what a chunk's row costs, whether of a sample or not, with its handle beside it."""
    [row] = context.chunk_rows([chunk], Handles.of("K", [chunk.id]))
    return most_tokens(prompts.data(row)) + _A_HANDLE

"""Pure: the prompts with the evidence, each within its bound of tokens.

Prompts lose their ends first and chunks last of all: one is always shown, cut at a sentence if it
must be.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from drift.model.calls import Prompt
from drift.model.graph import Chunk, Community, CommunityId, PrimerEvidence
from drift.model.limits import Limits
from drift.model.tree import Citation, Fact, Node, cited_by
from drift.prompting import elements, findings, prompts
from drift.prompting.batching import Group, in_turns
from drift.prompting.elements import Handles, RequestHandles, SearchHistory
from drift.prompting.graph_lines import graph_lines
from drift.prompting.markup import on_line, plain
from drift.prompting.tokens import cut_to, most_tokens

_OF_A_QUESTION = 6  # a question takes at most this part of a prompt
_SHORTEST_SUMMARY = 100
_OF_A_PROBLEM = 60  # tokens of why a reply could not be used
_RESERVED = 40 + 2 * _OF_A_PROBLEM  # tokens of tags, and of a second try without the reply
_OF_CHUNKS = 7 / 8  # of an executor's prompt, so that the rest of it has room
_cost_of_system = lru_cache(maxsize=16)(most_tokens)
_A_HANDLE = 12  # tokens of a number, a place, or the tags of one item


@dataclass(frozen=True, slots=True)
class Reading:
    """A prompt, and the chunks in it, best first."""

    prompt: Prompt
    shown: tuple[Chunk, ...]


def cut_question(question: str, most: int) -> str:
    """Return as much of a question as a prompt of so many tokens leaves to it."""
    return _cut(question, most // _OF_A_QUESTION)


def cost_of(prompt: Prompt) -> int:
    """Return the tokens of a prompt, by an upper bound."""
    return _cost_of_system(prompt.system) + most_tokens(prompt.user)


def fits(chunks: Sequence[Chunk], limits: Limits) -> bool:
    """Tell whether the chunks leave a prompt room for its other elements."""
    most = limits.max_prompt_tokens * _OF_CHUNKS
    is_few = len(chunks) <= limits.max_chunks_for_prompt
    return is_few and sum(map(_cost_of_chunk, chunks)) <= most


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
    question: str, group: Group, handles: RequestHandles, memory: SearchHistory, limits: Limits
) -> Reading:
    """Return one prompt for the follow-ups of a group, within its bound."""
    question = cut_question(question, limits.max_prompt_tokens)
    part = limits.max_prompt_tokens // _OF_A_QUESTION
    followups = [_cut(found.question.text, part // len(group)) for found in group]
    # The rules about each element, as if all of them were there.
    empty = elements.Context(asked=[""], names=["-"], graph=[""])
    nothing = prompts.local(question, followups, empty, last=memory.is_last)
    room = limits.max_prompt_tokens - cost_of(nothing) - _RESERVED

    shown, written, room = _leading(in_turns(group)[: limits.max_chunks_for_prompt], room, handles)
    in_order = [written[chunk.id] for chunk in elements.in_reading_order(shown)]

    asked, room = _fitting(elements.asked_elements(memory, written.keys(), handles.chunks), room)
    found, room = _fitting([on_line(name) for name in memory.names], room)
    evidence = [one.evidence for one in group]
    known = (question, *followups, *memory.names)
    # A line leads to a new question, which nobody asks any more in the last pass.
    lines = () if memory.is_last else graph_lines(evidence, shown, known)
    graph, _ = _fitting(lines, room)

    given = elements.Context(asked, found, graph, in_order)
    prompt = prompts.local(question, followups, given, last=memory.is_last)
    return Reading(prompt, shown)


def quick(question: str, chunks: Sequence[Chunk], handles: RequestHandles, most: int) -> Reading:
    """Return the prompt of one look at the user's question: its chunks, best first."""
    question = cut_question(question, most)
    room = most - cost_of(prompts.quick(question, [])) - _RESERVED
    shown, written, _ = _leading(chunks, room, handles)
    in_order = [written[chunk.id] for chunk in elements.in_reading_order(shown)]
    return Reading(prompts.quick(question, in_order), shown)


def whole(
    question: str,
    topics: Sequence[Community],
    chunks: Sequence[Chunk],
    handles: RequestHandles,
    most: int,
) -> Reading:
    """Return the prompt of one look at topics: their summaries, and chunks, best first."""
    question = cut_question(question, most)
    room = most - cost_of(prompts.whole(question, [], [])) - _RESERVED
    told, left = _shortened_to_fit(partial(elements.topic_elements, topics), len(topics), room // 4)
    shown, written, _ = _leading(chunks, room - room // 4 + left, handles)
    in_order = [written[chunk.id] for chunk in elements.in_reading_order(shown)]
    return Reading(prompts.whole(question, told, in_order), shown)


def primer(
    question: str, found: PrimerEvidence, handles: Handles[CommunityId], most: int
) -> Reading:
    """Return the prompt of the first look: communities, samples, and a line of each candidate.

    What it shows are the candidates; samples are the first of them, whole. The more communities
    there are, the shorter they are.
    """
    asked = cut_question(question, most)
    room = most - cost_of(prompts.primer(asked, [], [])) - _RESERVED

    # Summaries leave half of the room to samples and lines, and samples half of that to lines.
    half = room // 2 if found.candidates else room
    told_of = partial(elements.community_elements, found.communities, handles)
    summaries, left = _shortened_to_fit(told_of, len(found.communities), half)
    room -= half - left

    told = replace(found, candidates=elements.told_apart(found.candidates))
    rows = elements.sample_elements(told.samples, told.communities, handles)
    samples, left = _fitting(rows, room // 2)
    room -= room // 2 - left

    lines = elements.candidate_lines(question, told.candidates)[len(samples) :]
    candidates, _ = _fitting(lines, room)
    prompt = prompts.primer(asked, summaries, samples, candidates)
    return Reading(prompt, found.candidates[: len(samples) + len(candidates)])


def aggregator(
    question: str, nodes: Sequence[Node], retrieved: Mapping[str, Chunk], most: int
) -> tuple[Prompt, tuple[Fact, ...]]:
    """Return the prompt of the last call, and the facts in it.

    The surest answers go first into the room that there is; they stand in the order of the tree.
    """
    question = cut_question(question, most)
    room = most - cost_of(prompts.aggregate(question, [], [])) - _RESERVED
    unanswered, room = _fitting(findings.unanswered_lines(nodes), room)

    chosen: list[Node] = []
    surest = findings.surest_first(nodes)
    names = elements.document_names(cited_by(surest))
    for node in surest:
        rows = findings.finding_elements([node], findings.numbered_facts([node], retrieved), names)
        cost = sum(map(most_tokens, rows))
        if cost > room:
            break
        room -= cost
        chosen.append(node)

    if not chosen:
        chosen = [_shortened(node, room) for node in surest[:1]]

    chosen.sort(key=lambda node: node.question.id)
    facts = findings.numbered_facts(chosen, retrieved)
    rows = findings.finding_elements(chosen, facts, names)
    return prompts.aggregate(question, rows, unanswered), facts


def hypothesis(question: str, most: int) -> Prompt:
    """Return the prompt that asks for a hypothesis."""
    return prompts.hypothesis(_cut(question, most - cost_of(prompts.hypothesis(""))))


def second_try(prompt: Prompt, reply: str, problem: str, most: int) -> Prompt:
    """Return the prompt again with the fault of its reply, and the part of that reply that fits."""
    problem = _cut(problem, _OF_A_PROBLEM)
    room = most - cost_of(prompts.corrected(prompt, "", problem))
    shown = _cut(reply[:2000], room) if room > 0 else ""
    return prompts.corrected(prompt, shown, problem)


def _shortened_to_fit(
    rows_of: Callable[[int], list[str]], count: int, room: int
) -> tuple[list[str], int]:
    """Return all `count` summaries, of as many characters as fit, and the room that they leave."""
    characters = elements.MAX_SUMMARY_CHARACTERS
    fitting, left = _fitting(rows_of(characters), room)
    while len(fitting) < count and characters > _SHORTEST_SUMMARY:
        characters //= 2
        fitting, left = _fitting(rows_of(characters), room)

    return fitting, left


def _shortened(node: Node, room: int) -> Node:
    """Return one answer, as much of it and of its citations as fits."""
    if node.answer is None:
        return node

    # Of the only answer that fits, its words take at most this part of the room, and so on.
    part = room // 4
    kept: list[Citation] = []
    left = part
    for citation in node.answer.citations:
        name = elements.short_name(citation.document_name)
        besides = most_tokens(plain(name)) + _A_HANDLE
        cost = most_tokens(plain(citation.span)) + besides
        if cost > left:
            if not kept:
                kept.append(replace(citation, span=_cut(citation.span, left - besides)))
            break
        left -= cost
        kept.append(citation)

    answer = replace(node.answer, text=_cut(node.answer.text, part), citations=tuple(kept))
    question = replace(node.question, text=_cut(node.question.text, part))
    return replace(node, question=question, answer=answer)


def _leading(
    chunks: Sequence[Chunk], room: int, handles: RequestHandles
) -> tuple[tuple[Chunk, ...], dict[str, str], int]:
    """Return the leading chunks that fit, the first in any case, their elements, the room left."""
    shown: list[Chunk] = []
    by_id: dict[str, str] = {}
    for chunk, told in zip(chunks, elements.told_apart(chunks), strict=True):
        handle = handles.chunks.short(chunk.id)
        written = elements.chunk_element(told, handle)
        cost = most_tokens(written)
        if cost > room and shown:
            break
        if cost > room:
            written = _first_sentences(told, handle, room)
            cost = max(room, most_tokens(written))

        room -= cost
        shown.append(chunk)
        by_id[chunk.id] = written

    return tuple(shown), by_id, room


def _first_sentences(chunk: Chunk, handle: str, room: int) -> str:
    """Return a chunk's element with as many of its sentences as fit, and one in any case."""

    def cost(most: int) -> int:
        return most_tokens(elements.chunk_element(chunk, handle, most))

    # A chunk has no more sentences than characters, and each one more costs more.
    fitting = bisect_right(range(1, len(chunk.text) + 1), room, key=cost)
    written = elements.chunk_element(chunk, handle, max(1, fitting))
    if most_tokens(written) > room:
        besides = most_tokens(elements.chunk_element(chunk, handle, 0)) + _A_HANDLE
        shorter = replace(chunk, text=_cut(chunk.text, max(1, room - besides)))
        written = elements.chunk_element(shorter, handle, 1)

    return written


def _cut(text: str, tokens: int) -> str:
    return cut_to(text, tokens, lambda text: most_tokens(plain(text)))


def _fitting(rows: Sequence[str], room: int) -> tuple[list[str], int]:
    """Return the leading rows that fit, and the room that they leave."""
    fitting: list[str] = []
    for row in rows:
        cost = most_tokens(row)
        if cost > room:
            break
        room -= cost
        fitting.append(row)

    return fitting, room


@lru_cache(maxsize=512)
def _cost_of_chunk(chunk: Chunk) -> int:
    """Return a bound of a chunk's cost; follow-ups of a wave are compared again and again."""
    return most_tokens(elements.chunk_element(chunk, "K00"))

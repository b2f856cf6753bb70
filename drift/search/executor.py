"""The local executor: one call that answers a group of follow-ups, and the check of each answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from drift.contracts.replies import CitationReply, JointReply, LocalReply
from drift.core.errors import UnusableReplyError
from drift.core.logs import log
from drift.evidence.citations import check
from drift.evidence.handles import without_handles
from drift.model.graph import Beside, Chunk, Direction, texts_of
from drift.model.tree import CitationCounts, LocalAnswer, Proposal, cited_by
from drift.prompting import budget
from drift.prompting.batching import Found, Group
from drift.prompting.budget import Reading
from drift.prompting.elements import Handles, RequestHandles, SearchHistory
from drift.search.scope import Scope


@dataclass(slots=True)
class Answers:
    """The answers of one call by follow-up, and the chunks that it showed, best first."""

    shown: tuple[Chunk, ...]
    by_question: dict[int, LocalAnswer] = field(default_factory=dict)
    counts: CitationCounts = field(default_factory=CitationCounts)


async def answer(
    scope: Scope,
    group: Group,
    memory: SearchHistory,
    handles: RequestHandles,
    retrieved: Mapping[str, Chunk],
) -> Answers:
    """Return the checked answers of a group; a follow-up that a joint reply leaves out has none.

    Raises:
        UnusableReplyError: the reply to a single follow-up cannot be used; else the model's errors.
    """
    reading = budget.executor(scope.question, group, handles, memory, scope.limits)
    # The group's own evidence may be cited, and the evidence of settled answers.
    citable = {chunk.id: chunk for one in group for chunk in one.evidence.chunks}
    cited = {citation.chunk_id for citation in cited_by(memory.settled)}
    citable |= {chunk_id: retrieved[chunk_id] for chunk_id in cited if chunk_id in retrieved}

    answers = Answers(reading.shown)
    for found, reply in await _replies(scope, group, reading):
        checked, counts = _checked(reply, handles, citable)
        answers.counts += counts
        answers.by_question[found.question.id] = checked

    return answers


async def _replies(
    scope: Scope, group: Group, reading: Reading
) -> Sequence[tuple[Found, LocalReply]]:
    if len(group) == 1:
        return [(group[0], await scope.ask(reading.prompt, LocalReply))]

    try:
        joint = await scope.ask(reading.prompt, JointReply)
    except UnusableReplyError as error:
        log.warning("joint_reply_unusable", extra={"reason": error.detail})
        return []

    return list(_matched(group, joint))


def _checked(
    reply: LocalReply, handles: RequestHandles, citable: Mapping[str, Chunk]
) -> tuple[LocalAnswer, CitationCounts]:
    """Return a reply as an answer over the evidence that holds; without any, nothing was found."""
    meant = [one for citation in reply.citations for one in _meant(citation, handles.chunks)]
    ids = [chunk_id for _, chunk_id in meant]
    citations, counts = check([citation for citation, _ in meant], reply.answer, ids, citable)

    in_prose = handles.in_prose(citable)
    said_by = list(texts_of(citable.values()))
    proposed = tuple(
        Proposal(
            without_handles(followup.question, in_prose, said_by),
            beside=_wished(followup.beside, handles.chunks),
        )
        for followup in reply.new_followups
    )

    return LocalAnswer(
        without_handles(reply.answer, in_prose, said_by),
        citations,
        # The most that an answer without evidence that holds can be trusted.
        reply.confidence if citations else min(reply.confidence, 0.1),
        proposed,
        reply.verdict if citations else "not_found",
    ), counts


def _meant(
    citation: CitationReply, handles: Handles[str]
) -> list[tuple[CitationReply, str | None]]:
    """Return a citation for each chunk that one names: `K3`, `(K1)`, `K1, K2` or `K3.4`."""
    if chunk_id := handles.resolve(citation.chunk_id):
        return [(citation, chunk_id)]

    named: list[tuple[CitationReply, str | None]] = []
    # A chunk's handle, and the numbers of sentences behind it.
    for handle, sentences in re.findall(
        r"(?<![A-Za-z])([A-Za-z]++\d+)(?:\.(\d+(?:-\d+)?))?", citation.chunk_id
    ):
        if chunk_id := handles.resolve(handle):
            numbers = citation.sentences or sentences
            named.append((citation.model_copy(update={"sentences": numbers}), chunk_id))

    return named or [(citation, None)]


def _wished(beside: str, handles: Handles[str]) -> tuple[Beside, ...]:
    """Return the wish that `after K3` or `before K3` names; nothing for other words."""
    if not (wish := re.search(r"(before|after)\s+(\S+)", beside, re.IGNORECASE)):
        return ()
    direction: Direction = "before" if wish[1].lower() == "before" else "after"
    chunk_id = handles.resolve(wish[2].strip(".,;"))
    return (Beside(chunk_id, direction),) if chunk_id else ()


def _matched(group: Group, joint: JointReply) -> Iterator[tuple[Found, LocalReply]]:
    """Yield each follow-up with the first answer that names it, or its own where none is named."""
    names = Handles.of("Q", (found.question.id for found in group))
    named = {name: answer for answer in reversed(joint.answers) if (name := answer.followup)}
    if not named and len(joint.answers) == len(group):
        yield from zip(group, joint.answers, strict=True)
        return

    by_question = {names.resolve(name): answer for name, answer in named.items()}
    for found in group:
        if answer := by_question.get(found.question.id):
            yield found, answer

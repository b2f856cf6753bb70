"""A question read from given chunks alone: one executor call, then the last call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drift import bounded
from drift.answering import conclusion
from drift.answering.conclusion import Conclusion
from drift.calls import ChatCalls
from drift.context import Handles, Memory
from drift.contracts.replies import AggregateReply
from drift.executor import Executor
from drift.grouping import Found
from drift.plan import Limits
from drift.replies import ask
from drift.values.graph import Chunk, Evidence
from drift.values.tree import ANSWERED, Node, Question


async def read_chunks(row: Mapping[str, Any], chat: ChatCalls, limits: Limits) -> Conclusion:
    """Return the conclusion on a recorded question, as a search of one follow-up would."""
    chunks = tuple(_chunk(one) for one in row["chunks"])
    asked = Question(0, row["question"])
    group = (Found(asked, Evidence(chunks), chunks),)
    retrieved = {chunk.id: chunk for chunk in chunks}
    handles = bounded.RequestHandles(Handles.of("C", []), Handles.of("K", retrieved))

    executor = Executor(chat, row["question"], limits)
    answers = await executor.answer(group, Memory(is_last=True), handles, retrieved)
    nodes = [Node(asked, ANSWERED, answers.by_question[0])]
    prompt, facts = bounded.aggregator(row["question"], nodes, retrieved, limits.max_prompt_tokens)
    if not facts:
        return Conclusion()

    reply = await ask(chat, prompt, AggregateReply)
    shown = [f"{c.document_name} {c.heading} {c.text}" for c in chunks]
    return conclusion.concluded(row["question"], reply, facts, nodes, shown)


def _chunk(row: Mapping[str, Any]) -> Chunk:
    place, _, places = row["place"].partition(" of ")
    return Chunk(
        row["id"],
        row["text"],
        row["document"],
        heading=row["heading"],
        place=int(place) if place else None,
        places=int(places) if places else None,
    )

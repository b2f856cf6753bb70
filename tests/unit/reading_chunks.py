"""A question read from given chunks alone: one executor call, then the last call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drift.answer import conclusion
from drift.answer.conclusion import Conclusion
from drift.answer.streaming import GrowingAnswer, Telling
from drift.contracts.final_replies import AggregateReply
from drift.core.deadline import Deadline
from drift.model.graph import Chunk, Evidence
from drift.model.limits import Limits
from drift.model.tree import ANSWERED, Node, Question
from drift.prompting import budget
from drift.prompting.batching import Found
from drift.prompting.elements import SearchHistory
from drift.search import executor
from drift.search.scope import Scope
from tests.fakes import ScriptedChat, ports, request


async def read_chunks(
    row: Mapping[str, Any], chat: ScriptedChat, telling: Telling | None = None
) -> Conclusion:
    """Return the conclusion on a recorded question, as a search of one follow-up would.

    Who follows is told of the answer while the last reply grows.
    """
    telling = telling or Telling()
    chunks = tuple(_chunk(one) for one in row["chunks"])
    asked = Question(0, row["question"])
    group = (Found(asked, Evidence(chunks), chunks),)
    retrieved = {chunk.id: chunk for chunk in chunks}
    handles = budget.RequestHandles().including(retrieved)
    scope = Scope(ports(None, chat), Limits(), request(row["question"]), Deadline.after(30))

    memory = SearchHistory(is_last=True)
    answers = await executor.answer(scope, group, memory, handles, retrieved)
    nodes = [Node(asked, ANSWERED, answers.by_question[0])]
    prompt, facts = budget.aggregator(row["question"], nodes, retrieved, 16_000)
    if not facts:
        return Conclusion()

    hear = telling.hear(GrowingAnswer(lambda _: facts).deliverable)
    reply = await scope.ask(prompt, AggregateReply, hear)
    shown = [f"{c.document_name} {c.heading} {c.text}" for c in chunks]
    concluded = conclusion.conclude(row["question"], reply, facts, nodes, shown)
    telling.ended(concluded.text)
    return concluded


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

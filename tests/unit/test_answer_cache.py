"""Answers that are kept: by what they are found again, and what is never taken for one."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from drift.auth.caller import EVERYBODY
from drift.contracts.answer import CitationOut, KeyFact, RetrieveResponse
from drift.contracts.rag import RagRequest, RagResponse
from drift.contracts.request import RetrieveRequest
from drift.core.deadline import Deadline
from drift.core.errors import GraphUnavailableError
from drift.redis.answer_cache import MOST_BYTES, CachedAnswer
from drift.redis.entries import CacheEntries
from tests.fakes_reading import FakeReader, Held
from tests.unit.test_cache_entries import DictEntries

ANSWER = RetrieveResponse(
    final_answer="Left to right.",
    key_facts=[
        KeyFact(
            fact="Left to right.",
            citations=[CitationOut(chunk_id="k", span="l", document_name="d")],
        )
    ],
    residual_uncertainty="",
)


class World:
    """Projects p and q, and what all processes share."""

    def __init__(self) -> None:
        self.reader = FakeReader({"p": Held(writes=1), "q": Held(writes=1)})
        self.shared = DictEntries()

    def slot(
        self, of: BaseModel | None = None, project: str = "p", settings: str = "one"
    ) -> CachedAnswer:
        """Where an answer is kept, for a process that remembers nothing itself."""
        entries = CacheEntries(self.shared)
        of = of or asked(project=project)
        return CachedAnswer(self.reader, settings, entries, EVERYBODY.project(project), of)

    async def recalled(self, *of: Any, **named: Any) -> RetrieveResponse | None:
        return await self.slot(*of, **named).recall(RetrieveResponse, Deadline.after(5))

    async def keep(self, answer: BaseModel = ANSWER) -> None:
        slot = self.slot()
        assert await slot.recall(type(answer), Deadline.after(5)) is None
        slot.keep(answer)


def asked(question: str = "Why?", project: str = "p", **fields: Any) -> RetrieveRequest:
    return RetrieveRequest(query=question, **fields).within(project)


async def test_an_answer_is_found_again_and_each_time_as_an_object_of_its_own() -> None:
    world = World()
    await world.keep()
    first = await world.recalled()
    assert first == ANSWER
    first.final_answer = "Changed."
    assert await world.recalled() == ANSWER


@pytest.mark.parametrize(
    ("of", "project", "settings"),
    [
        (asked("Why not?"), "p", "one"),
        (asked(depth="quick"), "p", "one"),
        (asked(project="q"), "q", "one"),
        (RagRequest(question="Why?"), "p", "one"),
        (asked(), "p", "two"),
    ],
    ids=["question", "depth", "project", "kind", "settings"],
)
async def test_what_is_asked_otherwise_has_another_answer(
    of: BaseModel, project: str, settings: str
) -> None:
    world = World()
    await world.keep()
    assert await world.recalled(of, project, settings) is None


async def test_a_project_that_was_written_has_no_answers_from_before() -> None:
    world = World()
    await world.keep()
    begun = world.slot(asked("Who?"))
    assert await begun.recall(RetrieveResponse, Deadline.after(5)) is None
    world.reader.held["p"].writes += 1
    # The answer of a search that began before belongs to the project as it was then.
    begun.keep(ANSWER)
    assert len(world.shared.entries) == 2
    assert await world.recalled() is None
    assert await world.recalled(asked("Who?")) is None


@pytest.mark.parametrize("trouble", ["written", "away"])
async def test_nothing_is_kept_or_taken_while_the_project_has_no_version(trouble: str) -> None:
    world = World()
    await world.keep()
    if trouble == "written":
        world.reader.busy = {"p"}
    else:
        world.reader.failure = GraphUnavailableError("The graph is away.")
    await world.keep()
    assert len(world.shared.entries) == 1
    world.reader.busy, world.reader.failure = (), None
    assert await world.recalled() == ANSWER


async def test_another_shape_is_no_answer_and_a_very_long_one_is_not_kept() -> None:
    world = World()
    await world.keep(ANSWER.model_copy(update={"final_answer": "x" * MOST_BYTES}))
    assert not world.shared.entries
    await world.keep(RagResponse(answer="a", sources=[]))
    assert await world.recalled() is None

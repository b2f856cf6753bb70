"""Answers that are kept: by what they are found again, and what is never taken for one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import BaseModel

from drift.auth.caller import EVERYBODY
from drift.contracts.answer import CitationOut, KeyFact, RetrieveResponse
from drift.contracts.rag import RagRequest, RagResponse
from drift.contracts.request import RetrieveRequest
from drift.core.deadline import Deadline
from drift.core.errors import GraphUnavailableError
from drift.redis.answer_cache import MOST_BYTES, AnswerCache, CachedAnswer
from drift.redis.entries import KEPT_S, CacheEntries
from tests.fakes_reading import FakeReader, Held
from tests.unit.test_embedding_cache import DictEntries

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


@dataclass
class World:
    """Projects p and q, what all processes share, and the time."""

    reader: FakeReader = field(
        default_factory=lambda: FakeReader({"p": Held(writes=1), "q": Held(writes=1)})
    )
    shared: DictEntries = field(default_factory=DictEntries)
    now: float = 1000.0

    def process(self, settings: str = "one") -> AnswerCache:
        """A process that has remembered nothing yet."""
        entries = CacheEntries(self.shared, now=lambda: self.now)
        return AnswerCache(self.reader, settings, entries)


def asked(question: str = "Why?", project: str = "p", **fields: Any) -> RetrieveRequest:
    return RetrieveRequest(query=question, **fields).within(project)


def slot(cache: AnswerCache, of: BaseModel | None = None, project: str = "p") -> CachedAnswer:
    return cache.slot(EVERYBODY.project(project), of or asked(project=project))


async def recalled(
    cache: AnswerCache, of: BaseModel | None = None, project: str = "p"
) -> RetrieveResponse | None:
    return await slot(cache, of, project).recall(RetrieveResponse, Deadline.after(5))


async def kept(cache: AnswerCache, answer: BaseModel = ANSWER) -> None:
    here = slot(cache)
    assert await here.recall(type(answer), Deadline.after(5)) is None
    here.keep(answer)


async def test_an_answer_is_found_again_in_the_process_and_in_others() -> None:
    world = World()
    cache = world.process()
    await kept(cache)
    world_without = World(world.reader, DictEntries())
    for known in (cache, world.process()):
        assert await recalled(known) == ANSWER
    assert await recalled(world_without.process()) is None


async def test_each_recalled_answer_is_an_object_of_its_own() -> None:
    cache = World().process()
    await kept(cache)
    first = await recalled(cache)
    first.final_answer = "Changed."
    assert await recalled(cache) == ANSWER


@pytest.mark.parametrize(
    ("of", "project"),
    [
        (asked("Why not?"), "p"),
        (asked(depth="quick"), "p"),
        (asked(project="q"), "q"),
        (RagRequest(question="Why?"), "p"),
    ],
    ids=["question", "depth", "project", "kind"],
)
async def test_what_is_asked_otherwise_has_another_answer(of: BaseModel, project: str) -> None:
    cache = World().process()
    await kept(cache)
    assert await recalled(cache, of, project) is None


async def test_other_settings_have_other_answers() -> None:
    world = World()
    await kept(world.process())
    assert await recalled(world.process("two")) is None


async def test_a_project_that_was_written_has_no_answers_from_before() -> None:
    world = World()
    cache = world.process()
    await kept(cache)
    world.reader.held["p"].writes += 1
    assert await recalled(cache) is None


async def test_an_answer_belongs_to_the_project_as_it_was_when_the_search_began() -> None:
    world = World()
    cache = world.process()
    here = slot(cache)
    assert await here.recall(RetrieveResponse, Deadline.after(5)) is None
    world.reader.held["p"].writes += 1
    here.keep(ANSWER)
    assert await recalled(cache) is None


async def test_nothing_is_kept_or_taken_while_somebody_writes_the_project() -> None:
    world = World()
    cache = world.process()
    await kept(cache)
    world.reader.busy = {"p"}
    here = slot(cache)
    assert await here.recall(RetrieveResponse, Deadline.after(5)) is None
    here.keep(ANSWER)
    assert len(world.shared.entries) == 1
    world.reader.busy = ()
    assert await recalled(cache) == ANSWER


async def test_a_graph_that_does_not_answer_costs_no_answer() -> None:
    world = World()
    world.reader.failure = GraphUnavailableError("The graph is away.")
    here = slot(world.process())
    assert await here.recall(RetrieveResponse, Deadline.after(5)) is None
    here.keep(ANSWER)
    assert not world.shared.entries


async def test_an_answer_counts_for_a_day() -> None:
    world = World()
    cache = world.process()
    await kept(cache)
    world.now += KEPT_S - 1
    assert await recalled(cache) == ANSWER
    world.now += 2
    assert await recalled(cache) is None


async def test_what_is_kept_in_another_shape_is_no_answer() -> None:
    world = World()
    here = slot(world.process())
    assert await here.recall(RagResponse, Deadline.after(5)) is None
    here.keep(RagResponse(answer="a", sources=[]))
    assert await recalled(world.process()) is None


async def test_a_very_long_answer_is_not_kept() -> None:
    world = World()
    await kept(world.process(), ANSWER.model_copy(update={"final_answer": "x" * MOST_BYTES}))
    assert not world.shared.entries

"""A project's threshold is measured once, beside the first questions."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from drift.contracts.rag import RagResponse
from drift.core.deadline import Deadline
from drift.core.errors import (
    DeadlineError,
    GraphTimeoutError,
    GraphUnavailableError,
    ModelUnavailableError,
)
from drift.model.found_nodes import FoundNodes, NodesQuery, Sampled
from drift.nodes.measuring import AGAIN_S, AT_ONCE, KEPT_S, Measuring
from drift.nodes.threshold import UNRELATED
from tests.fakes import HashingEmbedder
from tests.unit.test_rag import DIMENSIONS, Failing, Finder, Slot, rag, says


async def test_what_a_process_has_measured_holds_for_an_hour() -> None:
    now = [0.0]
    finder = Finder(sampled=Sampled(500, (0.5,) * 9))
    measuring = Measuring(finder, HashingEmbedder(), lambda: now[0])
    now[0] = 1.0
    for seconds, samples in ((1.0, 1), (KEPT_S, 1), (KEPT_S + 2, 2)):
        now[0] = seconds
        assert (await measuring.score("p", DIMENSIONS, Deadline.after(5))).score == 0.5
        assert finder.samples == samples


@pytest.mark.parametrize(
    ("failure", "is_the_models", "again_s"),
    [
        (ModelUnavailableError("down"), True, AGAIN_S),
        (DeadlineError("slow"), True, KEPT_S),
        (GraphUnavailableError("down"), False, AGAIN_S),
        (GraphTimeoutError("slow"), False, KEPT_S),
    ],
)
async def test_a_threshold_that_cannot_be_measured_costs_no_question(
    failure: Exception, again_s: float, *, is_the_models: bool
) -> None:
    now = [0.0]
    finder = Finder(sampled=Sampled(500, (0.5,) * 9) if is_the_models else failure)
    embedder = Failing(failure) if is_the_models else HashingEmbedder()
    measuring = Measuring(finder, embedder, lambda: now[0])
    for seconds, samples in ((1.0, 1), (again_s, 1), (again_s + 2, 2)):
        now[0] = seconds
        measured = await measuring.score("p", DIMENSIONS, Deadline.after(5))
        assert (measured.score, measured.is_known) == (None, False)
        assert finder.samples == samples
    over = Deadline.after(0)
    with pytest.raises(DeadlineError):
        await Measuring(finder, embedder).score("p", DIMENSIONS, over)


@dataclass
class SlowFinder(Finder):
    """NodeFinder whose searches for a threshold wait, and are counted while they do."""

    open: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: int = 0
    most: int = 0

    async def nearest_nodes(self, query: NodesQuery, deadline: Deadline) -> FoundNodes:
        if query.limit == 1:
            self.waiting += 1
            self.most = max(self.most, self.waiting)
            await self.open.wait()
            self.waiting -= 1
        return await Finder.nearest_nodes(self, query, deadline)


async def test_a_first_question_does_not_wait_for_the_threshold_and_many_have_it_measured_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("drift.nodes.measuring.PATIENCE_S", 0.05)
    finder, slot = SlowFinder(sampled=Sampled(500, (0.5,) * 9)), Slot()
    search = rag(finder, says("So [Node 1]."))

    async def asked() -> RagResponse:
        return await search.answer("What?", "p", "r", Deadline.after(30), None, slot)

    first = await asyncio.gather(*(asked() for _ in range(32)))
    assert {len(one.sources) for one in first} == {3}, "without a threshold all are near"
    assert slot.kept == [], "found with a threshold that nobody knew"
    assert finder.samples == 1
    assert 1 < finder.most <= AT_ONCE

    finder.open.set()
    second = await asked()
    assert [one.score for one in second.sources] == [0.8]
    assert slot.kept == [second]
    assert finder.samples == 1
    assert len([query for query in finder.queries if query.limit == 1]) == len(UNRELATED)


async def test_one_project_is_measured_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drift.nodes.measuring.PATIENCE_S", 0.05)
    finder = SlowFinder(sampled=Sampled(500, (0.5,) * 9))
    monkeypatch.setattr(SlowFinder, "sample", lambda *_: _sampled(finder))
    measuring = Measuring(finder, HashingEmbedder())
    names = [f"p{n}" for n in range(5)]
    for _ in range(2):
        found = await asyncio.gather(
            *(measuring.score(name, DIMENSIONS, Deadline.after(5)) for name in names)
        )
        if finder.open.is_set():
            assert {one.score for one in found} == {0.5}
        finder.open.set()
    assert finder.most <= AT_ONCE


async def _sampled(finder: Finder) -> Sampled:
    assert isinstance(finder.sampled, Sampled)
    return finder.sampled

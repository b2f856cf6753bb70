"""Evaluations beside a server that fails: asked again, left out, and still figures at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

import pytest

from drift.core.deadline import Deadline
from drift.core.errors import DeadlineError, DriftError, GraphTimeoutError, GraphUnavailableError
from drift.local.evals.measured_search import MeasuredSearch
from drift.local.evals.patience import MOST_IN_A_ROW, Patience
from drift.local.evals.questions import QuestionSet
from drift.local.evals.recall import SetResult, measure_sets, report
from drift.model.graph import Community, PrimerQuery
from tests.evals.test_recall import MILL, FixedBaselines, by_letters, labelled
from tests.fakes_graph import FakeGraph

MANY = QuestionSet(
    "mill",
    MILL.passages,
    tuple(labelled(f"q{n}", f"What hoots, {n}?", {"p3"}) for n in range(9)),
)


class FailingGraph(FakeGraph):
    """Fails searches by their number, and counts them."""

    def __init__(self, failing: Collection[int], error: DriftError) -> None:
        super().__init__()
        self.failing, self.error, self.asked = failing, error, 0

    async def primer(self, query: PrimerQuery, deadline: Deadline) -> tuple[Community, ...]:
        self.asked += 1
        if self.asked in self.failing:
            raise self.error
        return await super().primer(query, deadline)


@pytest.fixture(autouse=True)
def _no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    real = asyncio.sleep
    monkeypatch.setattr("asyncio.sleep", lambda _: real(0))
    monkeypatch.setattr("drift.local.machine._MEASURED_S", 0.001)


async def evaluated(
    failing: Collection[int], error: DriftError, *sets: QuestionSet
) -> tuple[list[SetResult], Patience, list[str], int]:
    told: list[str] = []
    graph, patience = FailingGraph(failing, error), Patience(told.append)
    search = MeasuredSearch(graph, graph, graph, FixedBaselines(), by_letters())
    results = await measure_sets(sets or [MANY], search, patience, told.append)
    return results, patience, told, graph.asked


@pytest.mark.parametrize(
    "error",
    [GraphTimeoutError("slow"), GraphUnavailableError("gone"), DeadlineError("late")],
    ids=lambda error: type(error).__name__,
)
async def test_a_question_that_failed_is_asked_again(error: DriftError) -> None:
    (result,), patience, told, _ = await evaluated({2, 3, 6}, error)
    assert (result.questions, patience.unmeasured) == (9, {})
    assert sum("is asked again" in line for line in told) == 3


async def test_what_fails_every_time_is_named_and_in_no_figure() -> None:
    (result,), patience, told, _ = await evaluated({2, 3, 4, 5}, GraphTimeoutError("slow"))
    assert patience.unmeasured == {"mill": ["q1"]}
    assert (result.questions, len(result.recalls["ours"])) == (8, 8)
    assert told[-1] == "mill: 1 questions are in no figure: q1."
    assert report([result])["sets"][0]["methods"]["ours"]["r5"] == 100.0


async def test_a_server_that_is_gone_is_not_asked_for_every_question() -> None:
    (result,), patience, _, asked = await evaluated(range(4, 99), GraphUnavailableError("gone"))
    assert result.questions == 3
    assert patience.unmeasured == {"mill": [f"q{n}" for n in range(3, 9)]}
    assert asked == 3 + 4 * MOST_IN_A_ROW


async def test_a_set_that_cannot_be_measured_costs_the_others_nothing() -> None:
    owl = QuestionSet("owl", MILL.passages, MANY.questions[:2])
    results, patience, _, _ = await evaluated(range(10, 99), GraphTimeoutError("slow"), MANY, owl)
    assert [result.name for result in results] == ["mill"]
    assert patience.unmeasured == {"owl": ["q0", "q1"]}


async def test_an_evaluation_without_any_figure_fails() -> None:
    with pytest.raises(GraphUnavailableError, match="gone"):
        await evaluated(range(99), GraphUnavailableError("gone"))

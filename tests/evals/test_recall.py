"""Recall, from the loaded set to the report; the graph is the fake."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from drift.core.deadline import Deadline
from drift.local.evals.comparison import paired_interval, reciprocal_ranks
from drift.local.evals.embedders import TextEmbedder
from drift.local.evals.measured_search import MeasuredSearch
from drift.local.evals.patience import Patience
from drift.local.evals.question_graph import load_set, project_of
from drift.local.evals.questions import LabelledPassage, LabelledQuestion, QuestionSet
from drift.local.evals.recall import (
    METHODS,
    SetResult,
    in_turns,
    measure_sets,
    recall_at_cuts,
    report,
)
from drift.model.calls import Embeddings
from drift.model.graph import Candidates, Community, FollowupQuery, PrimerQuery
from tests.fakes import community
from tests.fakes_graph import FakeGraph

DIMENSIONS = 8


class LetterEmbedder:
    """A vector from which letters a text has; counts texts."""

    def __init__(self) -> None:
        self.embedded = 0

    async def embed(self, texts: Sequence[str], _deadline: Deadline) -> Embeddings:
        self.embedded += len(texts)
        vectors = (
            tuple(1.0 + sum(ord(c) % DIMENSIONS == i for c in text) for i in range(DIMENSIONS))
            for text in texts
        )
        return Embeddings(tuple(vectors))


def by_letters(model: LetterEmbedder | None = None) -> TextEmbedder:
    model = model or LetterEmbedder()
    return TextEmbedder("letters", DIMENSIONS, model, model)


def labelled(id_: str, question: str, supporting: Iterable[str], *steps: str) -> LabelledQuestion:
    asked = [{"question": step, "answer": ""} for step in steps]
    given = {
        "id": id_,
        "question": question,
        "supporting_ids": set(supporting),
        "decomposition": asked,
    }
    return LabelledQuestion.model_validate(given)


def passage(id_: str, title: str, text: str, *triple: str) -> LabelledPassage:
    return LabelledPassage(id_, title, text, (triple[0], triple[2]), (triple,))


PASSAGES = (
    passage("p1", "Old Mill", "The old mill belongs to Ada.", "Old Mill", "belongs to", "Ada"),
    passage("p2", "Ada", "Ada was born in Ulm.", "Ada", "born in", "Ulm"),
    passage("p3", "Owl", "An owl hoots.", "Owl", "does", "hoot"),
)
BORN = "Where was the owner of the old mill born?"
QUESTIONS = (
    labelled("q1", BORN, {"p1", "p2"}, "who?", "where?"),
    labelled("q2", "What does the owl do?", {"p3"}, "what?"),
)
MILL = QuestionSet("mill", PASSAGES, QUESTIONS)


class FixedBaselines:
    """The vectors always find the first passage, the words the last one."""

    async def nearest(self, project_id: str, *_: Any) -> list[str]:
        assert project_id == project_of(MILL)
        return ["p1"]

    async def worded(self, *_: Any) -> dict[str, float]:
        return {"p3": 1.0}


def no_one(_: str) -> None:
    """Hear a line."""


async def measured(own: QuestionSet) -> SetResult:
    graph = FakeGraph()
    search = MeasuredSearch(graph, graph, graph, FixedBaselines(), by_letters())
    (result,) = await measure_sets([own], search, Patience(no_one), no_one)
    return result


async def test_a_set_is_loaded_once_and_again_when_it_changes() -> None:
    graph, model = FakeGraph(), LetterEmbedder()
    embedder = by_letters(model)
    assert await load_set(MILL, graph, embedder)
    before = model.embedded
    assert not await load_set(MILL, graph, embedder)
    assert model.embedded == before
    fewer = QuestionSet(MILL.name, MILL.passages[:2], MILL.questions)
    assert await load_set(fewer, graph, embedder)
    assert set(graph.projects[project_of(MILL)].seen()) == {"p1", "p2"}


async def test_what_passages_state_becomes_entities_and_relations_beside_topics() -> None:
    graph = FakeGraph()
    await load_set(MILL, graph, by_letters())
    held = graph.projects[project_of(MILL)]
    known = held.knowledge
    titles = {e.id: e.title for e in known.entities}
    related = {(titles[r.source_id], titles[r.target_id]) for r in known.relations}
    assert related == {("Old Mill", "Ada"), ("Ada", "Ulm"), ("Owl", "hoot")}
    assert {e.title: set(e.chunk_ids) for e in known.entities}["Ada"] == {"p1", "p2"}
    assert {k for c in known.communities for k in c.chunk_ids} == {"p1", "p2", "p3"}


async def test_every_method_answers_every_question() -> None:
    result = await measured(MILL)
    assert set(result.recalls) == set(METHODS)
    assert result.recalls["vector"] == [(0.5, 0.5, 0.5), (0.0, 0.0, 0.0)]
    assert result.recalls["hybrid"] == [(0.5, 0.5, 0.5), (1.0, 1.0, 1.0)]
    assert result.recalls["ours"][0][1] == 1.0


class NotingGraph(FakeGraph):
    """Keeps what was asked, as hard or soft scope, and whether within the primer's communities."""

    hard = False
    asked: list[tuple[bool, bool]]

    async def primer(self, query: PrimerQuery, deadline: Deadline) -> tuple[Community, ...]:
        await super().primer(query, deadline)
        return (community(7),)

    async def followup(self, query: FollowupQuery, deadline: Deadline) -> Candidates:
        self.asked.append((self.hard, bool(query.communities)))
        return await super().followup(query, deadline)


async def test_ours_alone_is_asked_of_the_whole_project() -> None:
    soft = NotingGraph()
    hard = NotingGraph()
    hard.hard, hard.projects = True, soft.projects
    soft.asked = hard.asked = []
    search = MeasuredSearch(soft, hard, soft, FixedBaselines(), by_letters())
    own = QuestionSet("mill", MILL.passages, MILL.questions[1:])
    await measure_sets([own], search, Patience(no_one), no_one)
    of_one = [(True, True), (False, True), (False, False)]
    assert soft.asked == of_one * 2, "once for the question and once for its sub-question"


async def test_without_sub_questions_there_is_no_ideal_row() -> None:
    owl = labelled("q2", "owl?", {"p3"})
    result = await measured(QuestionSet("mill", MILL.passages, (MILL.questions[0], owl)))
    assert not [name for name in result.recalls if name.startswith("ideal")]


# --------------------------------------------------------------------------------------------- pure
def test_recall_is_the_share_of_supporting_passages_among_the_first() -> None:
    question = labelled("q", "?", "abcd")
    assert recall_at_cuts(["a", "x", "b", "y", "z", "c"], question) == (0.25, 0.5, 0.75)
    assert recall_at_cuts([], labelled("q", "?", "")) == (1.0, 1.0, 1.0)


def test_rankings_are_joined_by_rank_or_in_turns() -> None:
    assert reciprocal_ranks(["a", "b"], ["c", "b"]) == ["b", "a", "c"]
    assert in_turns([["a", "b", "c"], ["b"], []]) == ["a", "b", "c"]


def test_the_report_is_in_percent_and_pools_over_questions() -> None:
    def result(name: str, **methods: list[float]) -> SetResult:
        recalls = {m: [(v, v, v) for v in values] for m, values in methods.items()}
        return SetResult(name, len(methods["ours"]), recalls)

    one = result("a", ours=[1.0, 1.0, 1.0], hybrid=[0.0, 0.5, 1.0], ideal_ours=[1.0] * 3)
    document = report([one, result("b", ours=[0.0], hybrid=[0.5])])
    assert document["sets"][0]["methods"]["hybrid"] == {"r2": 50.0, "r5": 50.0, "r10": 50.0}
    assert (document["sets"][1]["name"], document["sets"][1]["questions"]) == ("b", 1)

    pooled = document["pooled"]
    assert set(pooled["methods"]) == {"ours", "hybrid"}, "a method that one set lacks is not pooled"
    assert pooled["methods"]["ours"]["r5"] == 75.0
    assert pooled["ours_minus_hybrid"]["r5"] == 25.0


def test_the_interval_is_about_two_standard_errors_wide() -> None:
    low, high = paired_interval([0.0, 1.0] * 50)
    assert low == pytest.approx(0.4, abs=0.02)
    assert high == pytest.approx(0.6, abs=0.02)
    assert paired_interval([]) == (0.0, 0.0)

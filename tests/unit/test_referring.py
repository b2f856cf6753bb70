"""References of a whole search: when asked for, one round trip, and never at the answer's cost."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from drift.answer.reference_lookup import NO_GRAPH, NO_TIME, NO_VECTOR, PATIENCE_S, ReferenceLookup
from drift.answer.signals import NO_REFERENCE, NOTHING_THERE
from drift.contracts.answer import RetrieveResponse
from drift.contracts.request import Depth
from drift.core.deadline import Deadline
from drift.core.errors import GraphUnavailableError, ModelUnavailableError
from drift.model.found_nodes import ScoreThreshold
from drift.model.graph import PrimerEvidence
from drift.model.limits import Limits
from drift.model.passages import Passage, Passages, PassagesQuery
from drift.ports import Ports
from drift.search.drift import DriftSearch
from drift.search.progress import Progress
from drift.telemetry import parts
from tests.fakes import (
    HashingEmbedder,
    Heard,
    ListSink,
    ScriptedChat,
    StubGraph,
    request,
    vector_of,
)
from tests.unit.searching import FOUND, aggregated, local, own_chunk, script

NOW = datetime(2026, 11, 24, tzinfo=UTC)
QUESTION = "What is asked?"
DEPTHS: tuple[Depth, ...] = ("drift", "quick", "auto")
QUICK = {
    "evidence": [{"chunk_id": "K1", "sentences": "1", "words": ""}],
    "answer": "It is so [1].",
    "verdict": "answered",
    "confidence": 0.9,
    "residual_uncertainty": "",
}


class StubPassages:
    """PassageReader that knows the same of every chunk, or fails."""

    def __init__(self, failure: Exception | None = None, model: str = "m") -> None:
        self.failure = failure
        self.threshold = ScoreThreshold(0.6, 500, 4, model, 0.1)
        self.queries: list[PassagesQuery] = []

    async def passages(self, query: PassagesQuery, deadline: Deadline) -> Passages:
        assert 0 < deadline.require() <= PATIENCE_S
        self.queries.append(query)
        with parts.round_trip():
            if self.failure:
                raise self.failure
        near = 0.8 if query.vector else None
        found = tuple(Passage(k, near, 1_700_000_000_000, ("d2",)) for k in query.chunk_ids)
        return Passages(found, self.threshold)


class World:
    """A search over scripted servers with a reader of passages."""

    def __init__(
        self,
        passages: StubPassages | None = None,
        embedder: HashingEmbedder | None = None,
        **replies: Any,
    ) -> None:
        self.passages = passages or StubPassages()
        self.embedder = embedder or HashingEmbedder()
        replies = {"quick_reply": QUICK, **replies}
        self.graph = StubGraph(FOUND, own_chunk)
        chat = ScriptedChat(script(**replies))
        self.ports = Ports(self.graph, chat, self.embedder, self.passages)
        self.heard = Heard()

    async def ask(self, *include: str, depth: Depth = "drift") -> RetrieveResponse:
        asked = request(QUESTION, depth=depth, include=include)
        search = DriftSearch(self.ports, Limits(), None, "m", lambda: NOW)
        async with Progress("p", "r", ListSink()) as progress:
            return await search.retrieve(asked, progress, Deadline.after(30), self.heard)


def told(response: RetrieveResponse) -> dict[str, Any]:
    """Return the response as a caller reads it."""
    read: dict[str, Any] = json.loads(response.to_json())
    return read


@pytest.mark.parametrize("depth", DEPTHS)
async def test_each_depth_has_references_for_who_asks(depth: Depth) -> None:
    world = World()
    response = told(await world.ask("references", depth=depth))
    references = response["references"]

    assert references["items"]
    assert references["answer"].startswith(response["final_answer"].split(".")[0] + "[1].")
    assert [fact["references"] for fact in response["key_facts"]] == [[1]]
    (item,) = references["items"]
    cited = response["key_facts"][0]["citations"][0]
    assert {name: item[name] for name in cited} == cited
    assert item["signals"]["similarity"] == item["match"] == 0.95
    assert item["signals"]["citations"] == 0.5
    (query,) = world.passages.queries
    assert (query.project_id, query.vector) == ("p", vector_of(QUESTION))
    assert query.chunk_ids == (item["chunk_id"],)


@pytest.mark.parametrize("depth", DEPTHS)
async def test_who_does_not_ask_pays_nothing_and_gets_nothing(depth: Depth) -> None:
    world = World()
    response = told(await world.ask(depth=depth))
    assert list(response) == ["final_answer", "key_facts", "residual_uncertainty"]
    assert all(list(fact) == ["fact", "citations"] for fact in response["key_facts"])
    assert not world.passages.queries


@pytest.mark.parametrize("depth", DEPTHS)
async def test_the_rest_of_the_answer_is_the_same(depth: Depth) -> None:
    plain = told(await World().ask("locations", "verdict", depth=depth))
    referring = told(await World().ask("locations", "verdict", "references", depth=depth))
    del referring["references"]
    for fact in referring["key_facts"]:
        del fact["references"]
    assert referring == plain
    only = told(await World().ask("references", depth=depth))
    cited = [one for fact in only["key_facts"] for one in fact["citations"]]
    assert {tuple(one) for one in cited} == {("chunk_id", "span", "document_name")}


async def test_a_quick_look_embeds_its_question_once_and_the_search_once_more() -> None:
    quick, whole = World(), World()
    await quick.ask("references", depth="quick")
    response = await whole.ask("references", "usage")
    assert [texts.count(QUESTION) for texts in quick.embedder.calls] == [1]
    assert sum(texts == (QUESTION,) for texts in whole.embedder.calls) == 1
    plain = await World().ask("usage")
    assert response.usage.graph_round_trips == plain.usage.graph_round_trips + 1
    assert response.usage.embedding_calls == plain.usage.embedding_calls + 1
    phases = response.usage.phases.values()
    assert sum(phase.embedding_calls for phase in phases) == response.usage.embedding_calls


async def test_a_listener_is_told_the_words_first_then_facts_with_their_numbers() -> None:
    world = World(aggregate_reply=aggregated(1, 2))

    class Reading(StubPassages):
        async def passages(self, query: PassagesQuery, deadline: Deadline) -> Passages:
            assert world.heard.text == "The answer 0. The answer 1."
            assert not world.heard.facts
            return await super().passages(query, deadline)

    world.ports = Ports(world.graph, world.ports.chat, world.embedder, Reading())
    response = await world.ask("references")
    assert [fact.references for fact in world.heard.facts] == [[1], [2]]
    assert world.heard.facts == response.key_facts
    assert world.heard.text == response.final_answer


@pytest.mark.parametrize("depth", DEPTHS)
async def test_a_graph_that_fails_costs_the_signals_and_is_said(depth: Depth) -> None:
    world = World(StubPassages(GraphUnavailableError("The graph is gone.")))
    response = told(await world.ask("references", depth=depth))
    (item,) = response["references"]["items"]
    assert list(item["signals"]) == ["model"]
    assert "match" not in item
    assert response["references"]["limits"][-1] == NO_GRAPH
    assert response["final_answer"]


async def test_an_embedding_that_fails_costs_the_match_alone() -> None:
    def fails(texts: Any) -> Exception | None:
        return ModelUnavailableError("Busy.") if tuple(texts) == (QUESTION,) else None

    response = told(await World(embedder=HashingEmbedder(fails)).ask("references"))
    (item,) = response["references"]["items"]
    assert list(item["signals"]) == ["freshness", "citations", "model"]
    assert response["references"]["limits"][-1] == NO_VECTOR


async def test_a_threshold_of_another_model_is_not_held_to() -> None:
    response = told(await World(StubPassages(model="other")).ask("references"))
    assert response["references"]["items"][0]["match"] == 0.8


async def test_a_request_without_time_is_not_held_up() -> None:
    def late() -> float:
        return 29.5

    deadline = Deadline(30, late, 0)
    ports = World().ports
    known = await ReferenceLookup(ports).known(request(QUESTION), ("k",), (), deadline)
    assert known.unread == (NO_TIME,)


async def test_nothing_found_and_no_answer_have_no_items_and_say_so() -> None:
    world = World()
    world.graph = StubGraph(PrimerEvidence())
    world.ports = replace(world.ports, graph=world.graph)
    empty = told(await world.ask("references"))
    assert empty["no_data_found"]
    assert empty["references"]["limits"] == [NOTHING_THERE]

    world = World(local_reply={**local("", cited=()), "verdict": "not_found"})
    response = told(await world.ask("references"))
    assert response["key_facts"] == response["references"]["items"] == []
    assert response["references"]["limits"] == [NO_REFERENCE]
    assert not world.passages.queries

"""Evidence without an answer: one search, told to callers of /retrieve and to other programs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from drift.contracts.evidence import (
    CommunityFound,
    EntityFound,
    EvidenceResponse,
    PassageOut,
    Surroundings,
)
from drift.contracts.request import HistoryMessage
from drift.contracts.vector_stores import VectorStoreSearch
from drift.core.deadline import Deadline
from drift.core.errors import DriftError, GraphUnavailableError, InvalidRequestError, NotFoundError
from drift.graph.rows import candidates, named, with_named
from drift.http.http import parse
from drift.integrations import vector_stores
from drift.model.graph import Candidate, Chunk, Evidence, PrimerEvidence
from drift.model.passages import PassagesQuery
from drift.ports import Ports
from drift.search.ranking import followed
from drift.search.title_links import led_by_titles
from tests.fake_service import fake_service
from tests.fakes import HashingEmbedder, ListSink, ScriptedChat, StubGraph, allowed, chunk, request
from tests.unit.test_referring import StubPassages
from tests.unit.test_title_links import ADA, MILL, NOISE, QUESTION

LOCATED = Chunk(
    "k1",
    "In fog\fit sounds.",
    "Lighthouse",
    heading="Fog",
    page=3,
    start=40,
    source_uri="https://docs.example.com/l",
    document_id="l.md",
    first_line=8,
    via=("vector", "text"),
)


class Around(StubPassages):
    """PassageReader that knows a chunk's surroundings, or fails to tell them."""

    def __init__(self, around: Exception | None = None) -> None:
        super().__init__()
        self.around_failure = around

    async def around(self, query: PassagesQuery, deadline: Deadline) -> Surroundings:
        deadline.require()
        if self.around_failure:
            raise self.around_failure
        return Surroundings(
            entities=[EntityFound(id="e1", title="FOG", chunk_ids=list(query.chunk_ids))],
            communities=[CommunityFound(id=7, title="Signals", level=0)],
        )


async def found(
    passages: Around | None = None,
    evidence: Evidence | Exception | None = None,
    script: dict[str, Any] | None = None,
    **asked: Any,
) -> tuple[dict[str, Any], ListSink]:
    """Return the answer of a service without a chat model, and what it reported."""
    graph = StubGraph(PrimerEvidence(), evidence or Evidence((LOCATED, chunk("k2"))))  # type: ignore[arg-type]
    servers = Ports(graph, ScriptedChat(script or {}), HashingEmbedder(), passages)
    sink = ListSink()
    service = fake_service(servers, sink)
    answering = service.start(allowed(), request(answer=False, **asked), "r")
    read: dict[str, Any] = json.loads((await (await answering)).to_json())
    return read, sink


async def test_evidence_alone_is_told_without_places_that_nobody_asked_for() -> None:
    told, sink = await found(Around())
    assert told["evidence"][0] == {
        "chunk_id": "k1",
        "document_id": "l.md",
        "document_name": "Lighthouse",
        "text": "In fog\nit sounds.",
        "score": 0.8,
        "via": ["vector", "text"],
    }
    assert told["entities"] == [{"id": "e1", "title": "FOG", "chunk_ids": ["k1", "k2"]}]
    assert told["communities"] == [{"id": 7, "title": "Signals", "level": 0}]
    assert set(told) == {"evidence", "entities", "communities"}
    assert sink.phases == ["initializing", "completed"]


async def test_places_and_usage_are_told_to_who_asks() -> None:
    told, _ = await found(Around(), include=("locations", "usage"))
    first, second = told["evidence"]
    assert {name: first[name] for name in ("label", "page", "heading", "start", "source_uri")} == {
        "label": "l.md:8",
        "page": "3",
        "heading": "Fog",
        "start": 40,
        "source_uri": "https://docs.example.com/l",
    }
    assert second.keys() - {"label"} == set(PassageOut.model_fields) & second.keys() - {"label"}
    assert "page" not in second
    assert told["usage"]["chat_calls"] == 0
    assert told["usage"]["embedding_calls"] == 1
    assert told["usage"]["prompt_tokens"] == 1


async def test_a_question_of_a_conversation_is_searched_for_as_it_stands_alone() -> None:
    said = HistoryMessage(role="user", content="Who keeps the Lighthouse?")
    alone = "Does the Lighthouse sound in fog?"
    script = {"standalone_reply": {"stands_alone": False, "question": alone}}
    about = {"query": "Does it sound in fog?", "history": (said,), "include": ("query",)}
    told, _ = await found(Around(), script=script, **about)
    assert told["query"] == {"asked": about["query"], "searched": alone, "rewritten": True}


@pytest.mark.parametrize("depth", ["quick", "auto", "drift"])
async def test_each_depth_finds_the_same(depth: str) -> None:
    told, _ = await found(Around(), depth=depth)
    assert told == (await found(Around()))[0]


async def test_a_project_that_holds_nothing_near_has_no_evidence() -> None:
    told, _ = await found(Around(), Evidence())
    assert told == {"evidence": [], "entities": [], "communities": [], "no_data_found": True}


async def test_top_k_is_the_number_of_passages() -> None:
    told, _ = await found(Around(), top_k=1)
    assert [one["chunk_id"] for one in told["evidence"]] == ["k1"]


async def test_what_is_around_is_lost_where_it_cannot_be_read_and_the_evidence_is_not() -> None:
    told, _ = await found(Around(GraphUnavailableError("gone")))
    assert len(told["evidence"]) == 2
    assert told["entities"] == told["communities"] == []


async def test_a_graph_that_fails_is_reported_and_raised() -> None:
    sink = ListSink()
    graph = StubGraph(PrimerEvidence(), GraphUnavailableError("gone"))  # type: ignore[arg-type]
    service = fake_service(Ports(graph, ScriptedChat({}), HashingEmbedder(), Around()), sink)
    answering = await service.start(allowed(), request(answer=False), "r")
    with pytest.raises(GraphUnavailableError):
        await answering
    assert sink.phases == ["initializing", "error"]


# --------------------------------------------------------------------------------------------- via
ROW: dict[str, Any] = {
    "id": "c",
    "text": "t",
    "heading": None,
    "ordinal": None,
    "pages": [],
    "starts": [],
    "lines": [],
    "document": None,
    "similarity": 0.9,
    "bm25": 0.0,
    "graph": 0.0,
    "in_scope": False,
}


@pytest.mark.parametrize(
    ("legs", "via"),
    [
        ({"is_near": True}, ("vector",)),
        ({"is_near": True, "bm25": 2.0, "graph": 0.1}, ("vector", "text", "walk")),
        ({"is_near": False, "bm25": 2.0}, ("text",)),
        ({"is_near": False, "graph": 0.1}, ("walk",)),
    ],
)
def test_a_candidate_says_which_legs_found_it(legs: dict[str, Any], via: tuple[str, ...]) -> None:
    row = {"candidates": [ROW | legs], "shared": [], "following": []}
    [candidate] = candidates({**row, "relationships": [], "rare": []}).chunks
    assert candidate.chunk.via == via


def test_a_chunk_of_a_document_named_says_so_unless_a_leg_found_it() -> None:
    document = {"title": "T", "id": "d", "metadata": None, "chunks": None, "uris": []}
    rows = {"named": [{**ROW, "id": id_, "document": document} for id_ in ("c", "new")]}
    before = candidates(
        {
            "candidates": [ROW | {"is_near": True}],
            **{name: [] for name in ("shared", "following", "relationships", "rare")},
        }
    )
    for linked, via in ((["d"], "link"), ([], "title")):
        told = with_named(before, named(rows, linked))
        assert [c.chunk.via for c in told.chunks] == [("vector",), (via,)]


def test_what_titles_and_short_chunks_lead_to_says_so_beside_its_legs() -> None:
    best_first = (*NOISE, replace(MILL, via=("text",)), ADA)
    assert [one.via for one in led_by_titles(QUESTION, best_first)][:3] == [
        ("text", "title"),
        ("link",),
        (),
    ]
    short, behind = Chunk("a", "", ""), Chunk("b", "", "", via=("text",))
    pool = [Candidate(short, 0.9, following=replace(behind, via=()))]
    assert [one.via for one in followed([short], pool)] == [(), ("next",)]
    assert [one.via for one in followed([short, behind], pool)] == [(), ("text", "next")]


# ------------------------------------------------------------------------------------ vector store
def asked(**fields: Any) -> VectorStoreSearch:
    return parse(json.dumps({"query": "q", **fields}).encode(), VectorStoreSearch)


def searched(**fields: Any) -> dict[str, Any]:
    passages = [
        PassageOut(
            chunk_id=f"k{n}",
            text=f"t{n}",
            score=score,
            document_id="d",
            document_name="D",
            label="D, page 1" if n else "x" * 600,
            page="1",
            via=["vector", "text"],
        )
        for n, score in enumerate((0.9, 0.5, 0.2))
    ]
    response = vector_stores.page(asked(**fields), EvidenceResponse(passages=passages))
    read: dict[str, Any] = json.loads(bytes(response.body))
    return read


def test_a_vector_store_tells_an_entry_a_passage_in_the_shape_of_openai() -> None:
    told = searched(query=["one", "two"], rewrite_query=True)
    assert {name: told[name] for name in told if name != "data"} == {
        "object": "vector_store.search_results.page",
        "search_query": ["one\ntwo"],
        "has_more": False,
        "next_page": None,
    }
    assert [one["file_id"] for one in told["data"]] == ["d", "d", "d"]
    assert told["data"][1] == {
        "file_id": "d",
        "filename": "D",
        "score": 0.5,
        "attributes": {
            "chunk_id": "k1",
            "label": "D, page 1",
            "page": "1",
            "via": "vector, text",
        },
        "content": [{"type": "text", "text": "t1"}],
    }
    assert "label" not in told["data"][0]["attributes"]  # longer than the contract lets one be


@pytest.mark.parametrize(("least", "count"), [(None, 3), (0, 3), (0.5, 2), (1, 0)])
def test_a_threshold_of_a_vector_store_is_obeyed(least: float | None, count: int) -> None:
    assert len(searched(ranking_options={"score_threshold": least})["data"]) == count


def test_a_vector_store_is_asked_with_openai_s_bounds() -> None:
    assert vector_stores.question_of(asked(), "p").top_k == 10
    question = vector_stores.question_of(asked(max_num_results=50, filters=None), "p")
    assert (question.top_k, question.project_id, question.query) == (50, "p", "q")
    for ranker, reranks in (("none", False), ("auto", True), ("default-2024-11-15", True)):
        assert vector_stores.reranks(asked(ranking_options={"ranker": ranker})) == reranks


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"query": " "}, "query"),
        ({"query": []}, "query"),
        ({"query": ["a"] * 11}, "query"),
        ({"query": ["a", 1]}, "query"),
        ({"query": ["a" * 3000, "b" * 3000]}, "query"),
        ({"max_num_results": 0}, "max_num_results"),
        ({"max_num_results": 51}, "max_num_results"),
        ({"max_num_results": "9"}, "max_num_results"),
        ({"ranking_options": {"score_threshold": 1.1}}, "ranking_options"),
        ({"ranking_options": {"ranker": "best"}}, "ranking_options"),
        ({"rewrite_query": "yes"}, "rewrite_query"),
        ({"filters": {"type": "eq", "key": "color", "value": "red"}}, "filters"),
    ],
)
def test_a_vector_store_names_the_field_that_is_wrong(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        vector_stores.question_of(asked(**fields), "p")
    assert refused(caught.value)["param"] == param


def test_errors_of_a_vector_store_speak_of_it() -> None:
    with pytest.raises(InvalidRequestError) as caught:
        vector_stores.question_of(asked(), "p" * 129)
    assert refused(caught.value)["param"] == "vector_store_id"
    assert refused(NotFoundError("Nothing."))["code"] == "not_found"


def refused(error: DriftError) -> dict[str, Any]:
    """Return what OpenAI's clients read of an error."""
    response = vector_stores.problem(error, "r")
    assert response.status_code == error.status
    told: dict[str, Any] = json.loads(bytes(response.body))["error"]
    return told

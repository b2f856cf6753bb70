"""Faults planted behind an answer: the first screen of `drift explain` names each of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from drift.contracts.explain import ExplainOut
from drift.graph.connection import Connection
from drift.http import wiring
from drift.http.settings import load
from drift.indexing.documents import SourceDocument
from drift.local.cli.explained import causes, lost, screen
from drift.local.hosts.local_host import serving
from drift.local.ingest.sources import Source
from drift.local.retrieval.held_passages import saying
from tests.function.access_keys import entry, use_keys
from tests.function.calling import Caller, calling
from tests.function.conftest import Environment
from tests.function.corpus import PROJECT, QUESTION, Corpus, fill_from
from tests.model_server_fixture import ModelServerControl

PIERS, HALF, STALE = "explained-piers", "explained-half", "explained-stale"
ASKED = "Which ship does the harbour master give a berth at the pier, and when?"
ANSWER = "The Harbour Office refuses a berth when the Tide Table shows less than four metres of"
GATE = "The gate behind it is shut at dusk."
KESTREL = "A kestrel nests above the crane. Nobody may climb there in spring."


def pier(number: int) -> str:
    return (
        f"The harbour master of pier {number} gives a ship a berth when {number} metres of water "
        f"are there. The ship waits {number} hours, and pays {number * 7} crowns for the berth at "
        f"the pier. " + f"A rule of {number * 31} words is read to each mate. " * 20
    )


TEXTS = {
    **{f"Pier {number}": pier(number) for number in range(1, 31)},
    "Pier 3 again": f"{pier(3)} {GATE}",
    "Crane": KESTREL,
}


@pytest.fixture(scope="module")
def piers(base_settings: Environment) -> Environment:
    """Three projects: one with thirty piers, and two small ones that a fault is planted in."""
    settings = load(base_settings)

    async def fill() -> None:
        for project, names in ((PIERS, list(TEXTS)), (HALF, list(TEXTS)[:6]), (STALE, ["Pier 1"])):
            documents = tuple(SourceDocument(f"{n}.md", n, TEXTS[n], "markdown") for n in names)
            await fill_from(Source("tests", documents), project, settings)
        async with Connection(*wiring.database(settings)) as connection:
            half = """MATCH (ch:__Chunk__ {project_id: $project}) WITH ch ORDER BY ch.id LIMIT 3
              REMOVE ch.embedding RETURN count(ch) AS n"""
            await connection.write(half, {"project": HALF})
            stale = "MATCH (p:__Project__ {id: $project}) SET p.behind = 2 RETURN p.id"
            await connection.write(stale, {"project": STALE})

    asyncio.run(fill())
    return base_settings


@pytest.fixture
async def function(
    environment: pytest.MonkeyPatch,
    corpus: Corpus,  # noqa: ARG001 - the graph is filled
    piers: Environment,  # noqa: ARG001 - so are the projects
    model_server: ModelServerControl,
    request: pytest.FixtureRequest,
) -> AsyncIterator[Caller]:
    """A client of the function under the settings that a test names."""
    reranker = {"RERANK_URL": model_server.url, "RERANK_MODEL": "m", "RERANK_KEY": "canary-key"}
    few = {"HYDE": "never", "RETRY_MAX_ATTEMPTS": "1"}
    for name, value in {**few, **reranker, **getattr(request, "param", {})}.items():
        environment.setenv(name, value)
    async with serving() as url, calling(url) as caller:
        yield caller


async def first_screen(
    function: Caller, question: str, project: str, passage: str = "", **fields: Any
) -> str:
    """Return what `drift explain` shows of a question."""
    answered = await function.answer(
        question, project, include=["explain", "trace", "usage"], **fields
    )
    told = ExplainOut.model_validate(answered["explain"])
    async with Connection(*wiring.database(load())) as connection:
        names = wiring.index_names(load())
        held = await saying(passage, project, connection, names.fulltext) if passage else []
    where = lost(told, held, project) if passage else ""
    lines = list(screen(told, causes(answered, told), where))
    assert len(lines) <= 30
    assert "canary" not in str(answered)
    return "\n".join(lines)


async def test_the_wrong_project(function: Caller) -> None:
    shown = await first_screen(function, QUESTION, "nobody's", ANSWER)
    assert shown.startswith("Passage: It is not in project nobody's, but in harbour")
    assert "Cause: This project holds no passage, or there is none of this name" in shown


async def test_a_filter_that_is_too_narrow(function: Caller) -> None:
    only = {"type": "eq", "key": "document_id", "value": "Lighthouse.md"}
    shown = await first_screen(function, "What is a ferryman paid?", PROJECT, ANSWER, filter=only)
    assert shown.startswith("Passage: No way found it: the filter leaves 1 document(s)")
    assert "Cause: The filter leaves 1 document(s)" in shown


async def test_a_reranker_that_is_gone(function: Caller, model_server: ModelServerControl) -> None:
    model_server.fail({"fault": "status", "status": 503, "kind": "rerank", "times": None})
    shown = await first_screen(function, QUESTION, PROJECT, depth="quick")
    assert shown.startswith("Cause: The reranker did not answer")


async def test_a_slow_model(function: Caller, model_server: ModelServerControl) -> None:
    model_server.fail({"fault": "latency", "seconds": 6, "kind": "quick_reply"})
    shown = await first_screen(function, QUESTION, PROJECT, depth="quick")
    assert "Cause: It is slow: calls to chat took 6" in shown


@pytest.mark.parametrize("function", [{"MAX_FOLLOWUPS_PER_PROMPT": "1"}], indirect=True)
async def test_a_followup_that_failed(function: Caller, model_server: ModelServerControl) -> None:
    model_server.fail({"fault": "status", "status": 429, "kind": "local_reply", "times": 1})
    shown = await first_screen(function, QUESTION, PROJECT)
    assert "1 follow-up question(s) failed: model_" in shown


@pytest.mark.parametrize("function", [{"MAX_FOLLOWUPS_PER_PROMPT": "1"}], indirect=True)
async def test_citations_that_do_not_hold(
    function: Caller, model_server: ModelServerControl
) -> None:
    model_server.fail({"fault": "invented_spans", "kind": "local_reply", "times": None})
    shown = await first_screen(function, QUESTION, PROJECT, ANSWER)
    assert "citation(s) were dropped, as they do not hold (span_mismatch): “" in shown


async def test_topics_that_are_stale(function: Caller) -> None:
    shown = await first_screen(function, ASKED, STALE, depth="quick")
    assert "2 document(s) changed since topics were derived" in shown.splitlines()[0]


async def test_passages_without_a_vector(function: Caller) -> None:
    shown = await first_screen(function, ASKED, HALF, depth="quick")
    assert "passages found have no vector" in shown.splitlines()[0]


async def test_a_limit_of_the_caller(function: Caller) -> None:
    shown = await first_screen(function, QUESTION, PROJECT, limits={"max_followups": 1})
    assert "Cause: The request's own limit max_followups ended the search." in shown


@pytest.mark.parametrize("function", [{"MAX_PROMPT_TOKENS": "4000"}], indirect=True)
async def test_a_passage_that_the_prompt_has_no_room_for(function: Caller) -> None:
    shown = await first_screen(function, ASKED, PIERS, depth="quick")
    assert "did not fit into prompts of 4000 tokens" in shown.splitlines()[0]


async def test_a_copy_that_hides_a_passage(function: Caller) -> None:
    shown = await first_screen(function, f"{ASKED} At pier 3?", PIERS, GATE, depth="quick")
    assert "it repeats a better passage" in shown


async def test_a_rare_word_that_others_drown(function: Caller) -> None:
    question = f"{ASKED} What does the ship wait for, what does it pay, and what of the kestrel?"
    shown = await first_screen(function, question, PIERS, KESTREL, depth="quick")
    assert "Cause: No passage read has kestrel: commoner words won." in shown
    assert "Few passages have kestrel." in shown.splitlines()[0]


async def test_a_caller_sees_nothing_of_what_is_hidden_from_it(
    environment: pytest.MonkeyPatch,
    corpus: Corpus,  # noqa: ARG001 - the graph is filled
    model_server: ModelServerControl,  # noqa: ARG001 - without faults
) -> None:
    only = {"type": "eq", "key": "document_id", "value": "Lighthouse.md"}
    key, known = entry("some", [PROJECT], filter=only)
    use_keys(environment, known)
    async with serving() as url, calling(url) as caller:
        caller.client.headers["x-api-key"] = key
        for answer in (True, False):
            got = await caller.answer("The Tide Table", include=["explain"], answer=answer)
            [name] = {
                p["document_name"] for look in got["explain"]["looks"] for p in look["passages"]
            }
            held = got["explain"]["held"]
            assert (name, held["documents"], held["is_filtered"]) == ("Lighthouse", 1, True)

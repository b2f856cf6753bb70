"""Each row of the fault table happens for real.

What the caller gets, what is logged, how often servers are asked.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from drift.http.dispatcher import Dispatcher
from drift.local.hosts.local_host import build_dispatcher, serving
from drift.local.stack.valkey_server import ValkeyServer
from drift.prompting.markup import element, plain
from tests.function.calling import Caller, assert_is_problem, calling, citations
from tests.function.conftest import Environment
from tests.function.corpus import Corpus
from tests.function.faults.document import document
from tests.function.faults.making import Got, Stage, ask
from tests.function.faults.of_model import KINDS
from tests.function.faults.row import FOLLOWUPS, MODEL_DOWN, MODEL_WRONG, Row
from tests.function.faults.said import SAID, Said
from tests.function.faults.table import ROWS
from tests.model_server.faults import INVENTED_ID, INVENTED_SPAN
from tests.model_server_fixture import ModelServerControl

ONE_PASS = {
    "MAX_PASSES": "1",
    "MAX_FOLLOWUPS": str(FOLLOWUPS),
    "MAX_FOLLOWUPS_PER_PROMPT": "1",
    "CACHE": "off",
}
_victims: list[str] = []
"""The last follow-up of the question as one prompt alone asks it, looked for once."""


def in_one_loop(test: Callable[..., Any]) -> Callable[..., Any]:
    """Run a test in the loop of the shared service."""
    return pytest.mark.slow(pytest.mark.asyncio(loop_scope="module")(test))


@pytest.fixture(scope="module")
def dispatcher() -> Dispatcher:
    """What answers the calls of all rows."""
    return build_dispatcher()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def caller(corpus: Corpus, dispatcher: Dispatcher) -> AsyncIterator[Caller]:
    """A client of the function, which keeps its clients from row to row as a warm worker does."""
    assert corpus
    async with serving(dispatcher=dispatcher) as url, calling(url) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def stage(  # noqa: PLR0917 - fixtures
    dispatcher: Dispatcher,
    caller: Caller,
    environment: pytest.MonkeyPatch,
    base_settings: Environment,
    model_server: ModelServerControl,
    valkey: ValkeyServer,
) -> Stage:
    """A service that asks two follow-ups in one pass, and the one that a fault strikes."""
    for name, value in ONE_PASS.items():
        environment.setenv(name, value)
    for name in ("IDENTITY_ENDPOINT", "IDENTITY_HEADER"):
        environment.delenv(name, raising=False)
    if not _victims:
        _victims.append(await last_followup(caller, model_server))
        model_server.reset()
    settings = {**base_settings, "REDIS_URL": valkey.url}
    return Stage(dispatcher, caller, environment, settings, model_server, _victims[0])


async def last_followup(caller: Caller, model_server: ModelServerControl) -> str:
    """Return the last follow-up, as it stands in the one request of the model that asks it."""
    followups = (await caller.answer(include=["trace"]))["trace"]["followups"]
    asked = element("followup", plain(followups[-1]["question"]))
    holding = [
        r for r in model_server.requests() if r["kind"] == "local_reply" and asked in json.dumps(r)
    ]
    assert (len(holding), len(followups)) == (1, FOLLOWUPS)
    return asked


def problems(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """Return the log lines of warnings and errors, those about citations apart.

    They tell of the model's habits.
    """
    every = [
        json.loads(r.getMessage())
        for r in caplog.records
        if r.name == "drift" and r.levelno >= logging.WARNING
    ]
    return [line for line in every if not line["event"].startswith("citation_")]


def arrived(stage: Stage, row: Row) -> int:
    """Count the requests of the row's call that its server has seen."""
    if stage.traps:
        return sum(trap.requests for trap in stage.traps)
    kind = "embedding" if row.part == "embeddings" else KINDS[row.call]
    requests = [request for request in stage.model.requests() if request["kind"] == kind]
    return len(
        [
            r
            for r in requests
            if row.call != "one follow-up" or stage.victim in json.dumps(r["body"])
        ]
    )


def check_answer(row: Row, got: Got, corpus: Corpus) -> None:
    """Check what the caller got."""
    if row.code or not row.status:
        assert got.status == row.status
        assert got.document.get("code", "") == row.code
        assert row.detail in got.document.get("detail", "")
        if got.response is not None:
            assert_is_problem(got.response, row.status, row.code)
        return
    assert got.status == row.status, got.document
    assert got.document["final_answer"]
    assert row.says in got.document["residual_uncertainty"]
    if not row.says:
        assert "failure" not in got.document["residual_uncertainty"]
        assert "time limit" not in got.document["residual_uncertainty"]
    assert bool(citations(got.document)) is row.cited
    assert all(corpus.holds(c["span"]) for c in citations(got.document))
    text = json.dumps(citations(got.document))
    assert INVENTED_ID not in text
    assert INVENTED_SPAN not in text


def is_of_the_machine(row: Row, line: dict[str, Any]) -> bool:
    """Tell whether Redis was late in a row about something else: the machine stood still."""
    late = line["event"] == "progress_publish_failed" and line["cause"].startswith("TimeoutError")
    return late and line["event"] not in row.logged


def loses_an_embedding(row: Row) -> bool:
    """Tell whether texts are left without a vector, each of which has a line in the log.

    Zeros are a vector, which no search can be made with.
    """
    lost = row.code in {MODEL_DOWN, MODEL_WRONG} or "followup_failed" in row.logged
    return row.part == "embeddings" and lost and row.fault != "a vector of zeros"


async def check_log(row: Row, caplog: pytest.LogCaptureFixture) -> None:
    """Check the events, their causes, and the outcome on the last line."""
    if row.outcome:
        async with asyncio.timeout(60):
            while not (  # noqa: ASYNC110 - the log has no event
                last := [r for r in caplog.records if getattr(r, "event", "") == "retrieval_ended"]
            ):
                await asyncio.sleep(0.01)
        assert json.loads(last[-1].getMessage())["outcome"] == row.outcome
    lines = [line for line in problems(caplog) if not is_of_the_machine(row, line)]
    unembedded = [line for line in lines if line["event"] == "embedding_failed"]
    lines = [line for line in lines if line not in unembedded]
    assert bool(unembedded) == loses_an_embedding(row), unembedded
    assert Counter(line["event"] for line in lines) == row.logged, lines
    causes = [line["cause"] for line in lines if "cause" in line]
    assert not row.cause or causes
    assert all(row.cause in cause for cause in causes), causes


async def the_place_is_free(stage: Stage) -> None:
    """Wait until a caller who has gone has left nothing behind.

    The test's time limit ends an endless wait.
    """
    while (response := await stage.caller.ask()).status_code == 429:  # noqa: ASYNC110 - only asking shows it
        await asyncio.sleep(0.01)
    assert citations(response.json())


@in_one_loop
@pytest.mark.timeout(180)
@pytest.mark.parametrize("row", ROWS, ids=str)
async def test_a_fault_comes_to_what_the_table_says(
    stage: Stage, row: Row, corpus: Corpus, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "drift")
    async with stage.set_up(row):
        caplog.clear()
        got = await ask(stage, row)
        check_answer(row, got, corpus)
        await check_log(row, caplog)
        if row.sent is not None:
            assert arrived(stage, row) == row.sent
        if not row.status or row.code == "busy":
            await the_place_is_free(stage)


def test_the_document_shows_this_table() -> None:
    path = Path(__file__).resolve().parents[2] / "docs" / "faults.md"
    assert path.read_text() == document(ROWS), "run `make faults`"


@pytest.mark.parametrize("said", SAID, ids=str)
def test_an_error_of_a_server_gets_its_code_and_its_sentence(said: Said) -> None:
    error = said.made()
    assert error.code == said.code
    assert said.words in error.detail
    assert "canary" not in error.detail


def test_no_fault_of_one_follow_up_loses_the_request() -> None:
    ones = [row for row in ROWS if row.call in {"one follow-up", "follow-ups of the second pass"}]
    assert len(ones) > 12
    assert {row.code for row in ones} == {""}


def test_rows_are_told_apart_by_their_names() -> None:
    assert len({str(row) for row in ROWS}) == len(ROWS) >= 50

"""A reranker over sockets: what is sent, what comes of it, and what is spared while it fails."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from drift.core.deadline import Deadline
from drift.core.errors import DriftError, ModelMisconfiguredError, ModelUnavailableError
from drift.model.calls import Spending
from drift.model.health import Level
from drift.telemetry import parts
from tests.model_server_fixture import ModelServerControl
from tests.wire.rerankers import (
    KEY,
    MOST_OF_TEI,
    QUESTION,
    TEXTS,
    Clock,
    answering,
    of_cohere,
    reranker_of,
    tei,
)

pytestmark = pytest.mark.slow


def soon(seconds: float = 20.0) -> Deadline:
    return Deadline.after(seconds)


async def test_a_score_a_text_comes_back_in_the_order_of_the_texts(
    model_server: ModelServerControl,
) -> None:
    async with reranker_of(model_server.url) as reranker:
        with parts.retrieval("r", "p") as whole:
            found = await reranker.rerank(QUESTION, TEXTS, soon())
    assert max(range(3), key=found.scores.__getitem__) == 1
    (sent,) = model_server.requests()
    assert sent["path"] == "/v2/rerank"
    assert sent["headers"]["authorization"] == f"Bearer {KEY}"
    asked = {"model": "a-model", "query": QUESTION, "documents": list(TEXTS), "top_n": 3}
    assert sent["body"] == asked
    usage = whole.usage()
    assert (usage.rerank_calls, usage.search_units, usage.chat_calls) == (1, 0, 0)
    assert usage.prompt_tokens == found.tokens.prompt > 0
    assert whole.client_s.keys() == {"rerank_s"}


async def test_searches_that_are_billed_are_counted_and_have_no_price() -> None:
    billed = {"meta": {"billed_units": {"search_units": 1}}}
    with answering(of_cohere(**billed)) as (url, _):
        async with reranker_of(url) as reranker:
            with parts.retrieval("r", "p") as whole:
                found = await reranker.rerank(QUESTION, TEXTS, soon())
    assert found.scores == (0.0, 0.1, 0.2)
    assert whole.usage().search_units == 1
    assert whole.spending == Spending(uncounted=1)


async def test_a_server_that_calls_texts_otherwise_and_takes_few_is_learned_once() -> None:
    texts = [f"{'x' * n}" for n in range(1, 49)]
    with answering(tei) as (url, bodies):
        async with reranker_of(url) as reranker:
            for _ in range(2):
                found = await reranker.rerank(QUESTION, texts, soon())
                assert found.scores == tuple(n / 1000 for n in range(1, 49))
    sizes = [len(body.get("texts", ())) for body in bodies]
    assert sizes == [0, 48, 24, 24, 24, 24]
    assert max(sizes[2:]) <= MOST_OF_TEI
    assert all(body["truncate"] for body in bodies[1:])


def rows(*pairs: tuple[Any, Any]) -> str:
    return json.dumps({"results": [{"index": at, "relevance_score": to} for at, to in pairs]})


@pytest.mark.parametrize(
    "text",
    [
        rows((0, 0.1), (1, 0.2)),
        rows((0, 0.1), (1, 0.2), (1, 0.3)),
        rows((0, 0.1), (1, 0.2), (3, 0.3)),
        rows((0, 0.1), (1, 0.2), (2, 0.3), (2, 0.4)),
        rows((0, 0.1), (1, 0.2), (-1, 0.3)),
        rows((0, 0.1), (1, 0.2), (2, float("nan"))),
        rows((0, 0.1), (1, 0.2), (2, float("inf"))),
        rows((0, 0.1), (1, 0.2), (2, 10**400)),
        rows((0, 0.1), (1, 0.2), (2, None)),
        rows((0, 0.1), (1, 0.2), ([2], 0.3)),
        rows((0, 0.1), (1, 0.2), (2, "0.3")),
        '{"results": {"0": 1}}',
        '{"results": null}',
        '{"data": []}',
        '{"results": [1, 2, 3]}',
        "[" * 5000,
        "null",
        "",
        "<html>",
        '{"results": [{"index": 0,',
    ],
)
async def test_what_is_no_order_of_the_texts_is_an_error_of_ours(text: str) -> None:
    with answering(lambda _: (200, text)) as (url, bodies):
        async with reranker_of(url, attempts=3) as reranker:
            with pytest.raises(ModelMisconfiguredError, match="RERANK_URL"):
                await reranker.rerank(QUESTION, TEXTS, soon())
    assert len(bodies) == 1


async def test_numbers_that_are_not_to_be_counted_harm_nothing() -> None:
    for odd in ("many", None, [], -3, float("inf"), {"search_units": None}):
        meta = {"billed_units": {"search_units": odd}} if odd else {"billed_units": odd}
        with answering(of_cohere(meta=meta)) as (url, _):
            async with reranker_of(url) as reranker:
                assert (await reranker.rerank(QUESTION, TEXTS, soon())).units == 0


@pytest.mark.parametrize(
    ("fault", "error", "says", "requests"),
    [
        ({"fault": "status", "status": 401}, ModelMisconfiguredError, "RERANK_KEY", 1),
        (
            {"fault": "status", "status": 404},
            ModelMisconfiguredError,
            "RERANK_MODEL, RERANK_URL",
            1,
        ),
        ({"fault": "status", "status": 400}, ModelMisconfiguredError, "refused to rank texts", 1),
        ({"fault": "status", "status": 422}, ModelMisconfiguredError, "refused to rank texts", 1),
        ({"fault": "status", "status": 503}, ModelUnavailableError, "503", 2),
        ({"fault": "status", "status": 429}, ModelUnavailableError, "429", 2),
        ({"fault": "drop"}, ModelUnavailableError, "broke off", 2),
        ({"fault": "body", "text": '{"error": "none"}'}, ModelUnavailableError, "fails", 2),
        ({"fault": "body", "text": "x" * 3_000_000}, ModelMisconfiguredError, "longer than", 1),
    ],
    ids=str,
)
async def test_a_fault_ends_in_the_error_of_the_table(
    model_server: ModelServerControl,
    fault: dict[str, Any],
    error: type[DriftError],
    says: str,
    requests: int,
) -> None:
    model_server.fail(fault | {"kind": "rerank", "times": None})
    async with reranker_of(model_server.url, attempts=2) as reranker:
        with pytest.raises(error) as caught:
            await reranker.rerank(QUESTION, TEXTS, soon())
    assert says in caught.value.detail
    assert model_server.counts() == {"rerank": requests}


async def test_a_server_that_is_silent_is_asked_seldom_and_is_told_of_once(
    model_server: ModelServerControl, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "drift")
    model_server.fail({"fault": "hang", "kind": "rerank", "times": 1})
    clock = Clock()
    async with reranker_of(model_server.url, timeout_s=0.2, clock=clock) as reranker:
        for _ in range(3):
            with pytest.raises(ModelUnavailableError, match="in time"):
                await reranker.rerank(QUESTION, TEXTS, soon())
        assert model_server.counts() == {"rerank": 1}
        assert (await reranker.health()).level is Level.FAILING

        clock.now += 60
        assert (await reranker.health()).is_ok
        assert len((await reranker.rerank(QUESTION, TEXTS, soon())).scores) == 3
    events = [record.event for record in caplog.records if record.event.startswith("reranker")]
    assert events == ["reranker_failed", "reranker_restored"]


async def test_a_request_without_time_says_nothing_of_the_server(
    model_server: ModelServerControl,
) -> None:
    model_server.fail({"fault": "latency", "kind": "rerank", "seconds": 0.5, "times": 1})
    async with reranker_of(model_server.url) as reranker:
        with pytest.raises(ModelUnavailableError):
            await reranker.rerank(QUESTION, TEXTS, soon(0.1))
        assert len((await reranker.rerank(QUESTION, TEXTS, soon())).scores) == 3


async def test_a_search_that_goes_away_ends_the_request(model_server: ModelServerControl) -> None:
    model_server.fail({"fault": "hang", "kind": "rerank", "times": 1})
    async with reranker_of(model_server.url) as reranker:
        asking = asyncio.create_task(reranker.rerank(QUESTION, TEXTS, soon()))
        await model_server.until(lambda told: told["in_flight"] == 1)
        asking.cancel()
        await model_server.until(lambda told: told["abandoned"] == 1)
        assert not reranker.breaker.problem


async def test_health_asks_seldom_and_believes_what_searches_saw(
    model_server: ModelServerControl,
) -> None:
    async with reranker_of(model_server.url) as reranker:
        await reranker.rerank(QUESTION, TEXTS, soon())
        assert str(await reranker.health()).startswith("ok: a-model answered 0 s ago")
        assert model_server.counts() == {"rerank": 1}

"""Quotas of keys, over the function's own routes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from drift.local.hosts.local_host import serving
from tests.function.access_keys import entry, use_keys
from tests.function.calling import PATIENCE_S, PROBLEM_FIELDS, Caller, calling
from tests.function.corpus import PROJECT, Corpus
from tests.model_server_fixture import ModelServerControl

Opening = Callable[..., AbstractAsyncContextManager[Caller]]


@pytest.fixture
def with_key(
    environment: pytest.MonkeyPatch,
    corpus: Corpus,  # noqa: ARG001 - the graph is filled
    model_server: ModelServerControl,  # noqa: ARG001 - without faults
) -> Opening:
    """Open the function with one key of these fields, for a caller who sends it."""

    @asynccontextmanager
    async def opened(**fields: Any) -> AsyncIterator[Caller]:
        key, one = entry(f"team {uuid4()}", [PROJECT], **fields)
        use_keys(environment, one)
        async with serving() as url, calling(url) as caller:
            caller.client.headers["x-api-key"] = key
            yield caller

    return opened


def assert_over(reply: httpx2.Response, limit: str, most_s: int) -> None:
    """Check a refusal: which limit it was, and when there is room."""
    assert reply.status_code == 429, reply.text
    problem = reply.json()
    assert set(problem) == PROBLEM_FIELDS | {"limit"}
    assert (problem["code"], problem["limit"]) == ("quota_exceeded", limit)
    assert 1 <= int(reply.headers["retry-after"]) <= most_s
    assert f'"{limit}";r=0;t={reply.headers["retry-after"]}' in reply.headers["ratelimit"]


async def usage(caller: Caller) -> Mapping[str, Any]:
    reply = await caller.client.get("/usage")
    assert reply.status_code == 200, reply.text
    read: Mapping[str, Any] = reply.json()
    return read


async def test_every_route_that_reads_counts_and_the_others_do_not(with_key: Opening) -> None:
    async with with_key(requests_per_minute=3) as caller:
        counted = ["/projects", f"/projects/{PROJECT}", "/documents/absent"]
        for _ in range(2):
            for path in ["/usage", "/health/ready", "/openapi.yaml"]:
                assert (await caller.client.get(path)).status_code == 200
        for path in counted:
            assert (await caller.client.get(path)).status_code in {200, 404}
        for path in counted:
            assert_over(await caller.client.get(path), "requests_per_minute", 60)
        assert_over(await caller.ask(), "requests_per_minute", 60)
        read = await usage(caller)
        assert (read["counted"], read["requests_per_minute"]["used"]) == ("together", 3)


async def test_what_is_refused_anyway_does_not_count(
    with_key: Opening, environment: pytest.MonkeyPatch, model_server: ModelServerControl
) -> None:
    environment.setenv("MAX_INFLIGHT", "1")
    async with with_key(requests_per_minute=2) as caller:
        assert (await caller.ask(top_k=99)).status_code == 400
        assert (await caller.ask(project_id="another")).status_code == 403
        assert (await caller.client.get("/documents/x?limit=0")).status_code == 400

        model_server.fail({"fault": "hang", "kind": "hypothesis", "times": 1})
        waiting = asyncio.create_task(caller.ask())
        async with asyncio.timeout(PATIENCE_S):
            while not (await usage(caller))["requests_per_minute"]["used"]:  # noqa: ASYNC110 - only asking shows it
                await asyncio.sleep(0.05)
        busy = await caller.ask()
        assert (busy.status_code, busy.json()["code"]) == (429, "busy")
        assert (await usage(caller))["requests_per_minute"]["used"] == 1
        waiting.cancel()


async def test_tokens_of_answers_and_of_failures_are_counted(
    with_key: Opening, model_server: ModelServerControl
) -> None:
    async with with_key(tokens_per_day=1_000_000) as caller:
        spent = (await caller.answer(include=["usage"]))["usage"]
        tokens = spent["prompt_tokens"] + spent["completion_tokens"]
        assert await tokens_used(caller, above=0) == tokens > 0

        model_server.fail({"fault": "status", "status": 401, "kind": "primer_reply", "times": None})
        failed = await caller.ask()
        assert failed.status_code == 500
        assert await tokens_used(caller, above=tokens) > tokens


async def tokens_used(caller: Caller, above: int) -> int:
    """Return the tokens of today, once they are more than before."""
    async with asyncio.timeout(PATIENCE_S):
        while (used := (await usage(caller))["tokens_per_day"]["used"]) <= above:  # noqa: ASYNC110 - only asking shows it
            await asyncio.sleep(0.05)
    return int(used)


async def test_a_day_whose_tokens_are_used_is_over_until_midnight(with_key: Opening) -> None:
    async with with_key(tokens_per_day=1) as caller:
        await caller.answer()
        await tokens_used(caller, above=0)
        read = await usage(caller)
        day = read["tokens_per_day"]
        assert (day["left"], read["requests_per_minute"]) == (0, None)
        free_at = datetime.fromisoformat(day["free_at"])
        assert (free_at.hour, free_at.minute, free_at.second) == (0, 0, 0)
        assert timedelta(0) < free_at - datetime.now(UTC) <= timedelta(days=1)

        assert_over(await caller.ask(), "tokens_per_day", 86_400)
        async with caller.streaming() as reader:  # which is refused before it begins
            await reader.response.aread()
            assert_over(reader.response, "tokens_per_day", 86_400)

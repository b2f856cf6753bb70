"""With access on, a retrieval is heard on its own channel and nowhere else."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from drift.local.hosts.local_host import serving
from drift.local.stack.valkey_server import ValkeyServer
from tests.function.access_keys import entry, use_keys
from tests.function.calling import PATIENCE_S, calling
from tests.function.corpus import PROJECT

pytestmark = pytest.mark.timeout(120)

CALLERS = 8
Heard = dict[str, list[dict[str, str]]]


@asynccontextmanager
async def listening(url: str, heard: Heard, ends: int) -> AsyncIterator[None]:
    """Keep every message of every channel, until so many retrievals have ended."""
    ended = asyncio.Semaphore(0)
    async with Redis.from_url(url, protocol=2) as client, client.pubsub() as everything:
        await everything.psubscribe("*")

        async def read() -> None:
            async for item in everything.listen():
                if item["type"] != "pmessage":
                    continue
                message = json.loads(item["data"])
                heard[item["channel"].decode()].append(message)
                if message["phase"] == "completed":
                    ended.release()

        reading = asyncio.create_task(read())
        try:
            yield
            async with asyncio.timeout(PATIENCE_S):
                for _ in range(ends):
                    await ended.acquire()
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)


@pytest.mark.usefixtures("corpus", "model_server")
@pytest.mark.parametrize("named", [None, "team:{retrieval_id}:progress"])
async def test_messages_go_to_the_channel_of_the_retrieval_unless_another_is_named(
    environment: pytest.MonkeyPatch, valkey: ValkeyServer, named: str | None
) -> None:
    key, entries = entry("reader", [PROJECT, "empty"])
    use_keys(environment, entries)
    if named:
        environment.setenv("PROGRESS_CHANNEL", named)
    ids = [str(uuid4()) for _ in range(CALLERS)]
    heard: Heard = defaultdict(list)

    async with listening(valkey.url, heard, CALLERS), serving() as url, calling(url) as caller:
        caller.client.headers["x-api-key"] = key
        await asyncio.gather(
            *(
                caller.answer(
                    project_id="empty" if number % 4 else PROJECT,
                    # However a caller writes its id, the channel has it in one way.
                    retrieval_id=one.upper() if number % 2 else one,
                )
                for number, one in enumerate(ids)
            )
        )

    template = named or "ui:retrieval_progress:{retrieval_id}"
    assert set(heard) == {template.replace("{retrieval_id}", one) for one in ids}
    for channel, messages in heard.items():
        for message in messages:
            assert channel == template.replace("{retrieval_id}", message["retrieval_id"])
    ends = [m["retrieval_id"] for ms in heard.values() for m in ms if m["phase"] == "completed"]
    assert sorted(ends) == sorted(ids)


@pytest.mark.usefixtures("corpus", "model_server")
async def test_an_id_that_another_caller_uses_is_refused_and_its_owner_may_join_it(
    environment: pytest.MonkeyPatch, valkey: ValkeyServer
) -> None:
    (mine, my_entries), (other, other_entries) = (entry(n, ["empty"]) for n in ("ada", "ben"))
    use_keys(environment, my_entries, other_entries)
    one, heard = str(uuid4()), defaultdict[str, list[dict[str, str]]](list)
    body = {"query": "What?", "project_id": "empty", "retrieval_id": one}

    async with listening(valkey.url, heard, 1), serving() as url, calling(url) as caller:
        for key, id_, status in ((mine, one, 200), (other, one.upper(), 409), (mine, one, 200)):
            answered = await caller.client.post(
                "/retrieve",
                json={**body, "retrieval_id": id_},
                headers={"x-api-key": key, "accept": "text/event-stream"},
            )
            assert answered.status_code == status
            if status == 409:
                assert answered.json()["code"] == "conflict"
                assert "ada" not in answered.text
    [messages] = heard.values()
    assert [m["phase"] for m in messages].count("completed") == 1
    assert "error" not in {m["phase"] for m in messages}

"""One request as server-sent events."""

import asyncio
import json

import pytest

from drift.contracts.answer import RetrieveResponse
from drift.core.errors import GraphUnavailableError
from drift.http import http
from drift.http.streaming import EventStream

ANSWER = RetrieveResponse(final_answer="A", key_facts=[], residual_uncertainty="")


async def answered(stream: EventStream, error: BaseException | None = None) -> RetrieveResponse:
    stream.progress('{"phase":"initializing"}')
    await asyncio.sleep(0)
    stream.progress('{"phase":"completed"}')
    if error:
        raise error
    return ANSWER


async def collected(stream: EventStream) -> list[bytes]:
    return [item async for item in stream.read()]


def names(items: list[bytes]) -> list[str]:
    return [item.split(b"\n")[0].decode() for item in items]


async def test_progress_comes_as_it_happens_and_the_result_last() -> None:
    stream = EventStream("id")
    stream.follow(asyncio.create_task(answered(stream)))
    items = await collected(stream)
    assert items[0] == b": open\n\n"
    assert names(items) == [": open", "event: progress", "event: progress", "event: result"]
    assert items[-1] == http.event("result", ANSWER.to_json(), f"{stream.token}-3")


@pytest.mark.parametrize(
    ("error", "code", "logged"),
    [
        (GraphUnavailableError("The graph is gone."), "graph_unavailable", ["request_failed"]),
        (RuntimeError("bolt://user:canary@host"), "internal", ["request_crashed"]),
        (asyncio.CancelledError("canary"), "internal", []),
    ],
    ids=["known", "unforeseen", "cancelled by someone else"],
)
async def test_a_failure_is_the_last_event_and_gives_nothing_away(
    error: BaseException, code: str, logged: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    stream = EventStream("id")
    stream.follow(asyncio.create_task(answered(stream, error)))
    items = await collected(stream)
    assert names(items)[-1] == "event: error"
    assert names(items).count("event: error") == 1
    body = json.loads(items[-1].split(b"data: ")[1])
    assert (body["code"], body["retrieval_id"]) == (code, "id")
    assert b"canary" not in b"".join(items)
    assert [json.loads(record.getMessage())["event"] for record in caplog.records] == logged


async def test_a_silent_request_beats_until_it_speaks() -> None:
    stream = EventStream("id", beat_s=0.01)
    go_on = asyncio.Event()

    async def slow() -> RetrieveResponse:
        await go_on.wait()
        return ANSWER

    stream.follow(asyncio.create_task(slow()))
    events = stream.read()
    assert [await anext(events) for _ in range(3)] == [b": open\n\n", b": beat\n\n", b": beat\n\n"]
    go_on.set()
    rest = [item async for item in events]
    assert names([item for item in rest if item != b": beat\n\n"]) == ["event: result"]


async def test_a_stream_that_was_never_read_can_be_cancelled() -> None:
    stream = EventStream("id")
    stream.cancel()
    task = asyncio.create_task(asyncio.Event().wait())
    stream.follow(task)
    stream.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

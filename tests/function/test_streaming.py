"""The answer as a stream: the same messages and document as elsewhere; a client may leave."""

from __future__ import annotations

from uuid import uuid4

import pytest

from drift.local.stack.valkey_server import ValkeyServer
from tests.function.calling import Caller, Subscriber
from tests.function.corpus import Corpus

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


async def test_a_stream_opens_with_a_comment_and_ends_with_one_result(
    function: Caller, corpus: Corpus
) -> None:
    retrieval_id = str(uuid4())
    async with function.streaming(retrieval_id=retrieval_id) as events:
        headers = events.response.headers
        received = await events.all()
    assert events.response.status_code == 200
    assert headers["content-type"].startswith("text/event-stream")
    assert (headers["cache-control"], headers["x-retrieval-id"]) == ("no-store", retrieval_id)
    assert events.comments[0] == ": open"
    assert {name for name, _ in received[:-1]} == {"progress", "answer_delta", "citations"}
    assert received[-1][0] == "result"
    document = received[-1][1]
    assert set(document) == {"final_answer", "key_facts", "residual_uncertainty"}
    assert document["key_facts"]
    assert all(corpus.holds(c["span"]) for fact in document["key_facts"] for c in fact["citations"])


async def test_a_stream_carries_the_messages_that_redis_carries(
    function: Caller, valkey: ValkeyServer
) -> None:
    retrieval_id = str(uuid4())
    async with (
        Subscriber(valkey.url, retrieval_id) as subscriber,
        function.streaming(retrieval_id=retrieval_id) as events,
    ):
        received = await events.all()
        assert await subscriber.until_the_end() == [
            data for name, data in received if name == "progress"
        ]


async def test_a_stream_needs_no_redis(function: Caller, environment: pytest.MonkeyPatch) -> None:
    environment.delenv("REDIS_URL")
    async with function.streaming() as events:
        received = await events.all()
    assert received[-1][0] == "result"
    assert received[-2][1]["phase"] == "completed"

"""A reply that is heard while the model writes it, over a real socket, well and broken."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from drift.core.errors import ModelMisconfiguredError, ModelUnavailableError, UnusableReplyError
from drift.llm.growing import MAX_CHARACTERS
from tests.model_server_fixture import ModelServerControl
from tests.wire.openai_clients import ATTEMPTS, LOCAL, PROMPT, caller, chat_of, soon

CHAT = {"kind": "chat", "times": None}
BREAKING_OFF = ["stream_cut", "stream_dropped", "stream_error", "stream_garbage"]


async def test_a_reply_is_heard_as_it_grows_and_is_what_it_is_unheard(
    model_server: ModelServerControl,
) -> None:
    heard: list[str] = []
    async with chat_of(model_server) as chat:
        unheard = await chat.complete(LOCAL, soon())
        reply = await chat.complete(LOCAL, soon(), heard.append)

    assert reply.text == unheard.text
    assert heard[-1] == reply.text
    assert len(set(heard)) == -(-len(reply.text) // 4)
    assert all(later.startswith(sooner) for sooner, later in pairwise(heard))
    assert reply.tokens.prompt == unheard.tokens.prompt
    assert reply.tokens.completion == unheard.tokens.completion
    unasked, asked = (request["body"] for request in model_server.requests())
    assert "stream" not in unasked
    assert asked["stream"] is True
    assert asked["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("fault", BREAKING_OFF)
async def test_a_stream_that_breaks_off_is_asked_for_again_and_heard_anew(
    model_server: ModelServerControl, fault: str
) -> None:
    heard: list[str] = []
    model_server.fail({"fault": fault, "kind": "chat"})
    async with chat_of(model_server) as chat:
        reply = await chat.complete(LOCAL, soon(), heard.append)

    assert reply.retries == 1
    assert heard[-1] == reply.text
    begun_anew = [one for one, following in pairwise(heard) if len(following) < len(one)]
    assert begun_anew == [reply.text[: len(reply.text) // 2]]


@pytest.mark.parametrize("fault", BREAKING_OFF)
async def test_a_stream_that_always_breaks_off_is_an_error_of_ours(
    model_server: ModelServerControl, fault: str
) -> None:
    model_server.fail({"fault": fault, **CHAT})
    async with chat_of(model_server) as chat:
        with pytest.raises(ModelUnavailableError) as raised:
            await chat.complete(LOCAL, soon(), lambda _: None)

    assert "The server had an error" not in raised.value.detail
    assert len(model_server.requests()) == ATTEMPTS


async def test_a_stream_without_end_is_left(model_server: ModelServerControl) -> None:
    heard: list[str] = []
    async with chat_of(model_server) as chat:
        await chat.complete(PROMPT, soon())  # plain text is told once one was seen whole
        model_server.fail({"fault": "stream_endless", "kind": "chat"})
        with pytest.raises(UnusableReplyError) as raised:
            await chat.complete(PROMPT, soon(), heard.append)

    assert raised.value.detail == "length"
    assert 1_000 < max(map(len, heard)) <= MAX_CHARACTERS
    await until_abandoned(model_server)


async def test_a_stream_is_left_where_it_passes_the_limit_of_bytes(
    model_server: ModelServerControl,
) -> None:
    model_server.fail({"fault": "stream_endless", "kind": "chat"})
    async with chat_of(model_server, max_reply_bytes=1000) as chat:
        with pytest.raises(ModelMisconfiguredError, match="MAX_REPLY_BYTES"):
            await chat.complete(PROMPT, soon(), lambda _: None)

    await until_abandoned(model_server)


async def test_who_stops_listening_ends_the_models_call(model_server: ModelServerControl) -> None:
    begun = asyncio.Event()
    async with chat_of(model_server) as chat:
        await chat.complete(PROMPT, soon())
        model_server.fail({"fault": "stream_endless", "kind": "chat"})
        call = asyncio.create_task(chat.complete(PROMPT, soon(), lambda _: begun.set()))
        await begun.wait()
        call.cancel()
        await asyncio.wait({call})

    assert call.cancelled()
    await until_abandoned(model_server)


async def test_a_stream_takes_no_longer_than_a_call_may(model_server: ModelServerControl) -> None:
    model_server.fail({"fault": "stream_endless", **CHAT})
    async with chat_of(model_server, caller(timeout_s=0.0, max_attempts=1)) as chat:
        with pytest.raises(ModelUnavailableError, match="in time"):
            await chat.complete(PROMPT, soon(), lambda _: None)


@pytest.mark.parametrize("fault", ["refuses_stream", "refuses_stream_options"])
async def test_a_server_that_refuses_streams_is_asked_without_and_remembered(
    model_server: ModelServerControl, fault: str
) -> None:
    heard: list[str] = []
    model_server.fail({"fault": fault, **CHAT})
    async with chat_of(model_server) as chat:
        first = await chat.complete(LOCAL, soon(), heard.append)
        again = await chat.complete(LOCAL, soon(), heard.append)

    assert heard[-1] == first.text == again.text
    _, second, third = (request["body"] for request in model_server.requests())
    assert second == third
    assert ("stream" in second) == (fault == "refuses_stream_options")
    assert "stream_options" not in second


async def until_abandoned(server: ModelServerControl) -> None:
    """Wait until the server has noticed that its client is gone."""
    await server.until(lambda told: told["abandoned"] > 0 and not told["in_flight"])

"""Claude's replies and errors, over the real SDK."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from anthropic import AsyncAnthropic, AsyncAnthropicFoundry
from pydantic import BaseModel

from drift.contracts.final_replies import AggregateReply, QuickReply
from drift.contracts.replies import JointReply, LastJointReply, LastReply, LocalReply, PrimerReply
from drift.contracts.strict_schema import strict_schema
from drift.core.deadline import Deadline
from drift.core.errors import DriftError, UnusableReplyError
from drift.llm.anthropic.chat import AnthropicChat, build_client, provider_name
from drift.llm.caller import ModelCaller
from drift.llm.chat import Chat
from drift.llm.options import ChatOptions
from drift.llm.retry import RetryPolicy
from drift.local.ingest.by_model.facts import FactsReply
from drift.local.ingest.by_model.reports import ReportReply
from drift.local.model_server import extractive
from drift.model.calls import Tokens
from drift.prompting import prompts
from drift.search.scope import parse
from tests.model_server import anthropic_api

Json = dict[str, Any]
REPLY = json.dumps({"verdict": "answered", "sentences": [["It is so.", 1]]})
PROMPT = prompts.aggregate("Is it so?", [], [])
HALF = len(REPLY) // 2


def message(*texts: str, stop: str = "end_turn", **usage: int) -> Json:
    thought = {"type": "thinking", "thinking": "THOUGHT {}", "signature": "s"}
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [thought, *({"type": "text", "text": text} for text in texts)],
        "stop_reason": stop,
        "usage": {"input_tokens": 5, "output_tokens": 3, **usage},
    }


def error(kind: str, words: str = "m") -> Json:
    return {"type": "error", "error": {"type": kind, "message": words}}


class Server:
    """Answers with what it is given in turn; the last answer counts from then on."""

    def __init__(self, *answers: Json | tuple[int, Json] | bytes) -> None:
        self.answers = list(answers)
        self.bodies: list[Json] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.bodies.append(json.loads(request.content))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, bytes):
            headers = {"content-type": "text/event-stream"}
            return httpx2.Response(200, headers=headers, content=answer)
        status, body = answer if isinstance(answer, tuple) else (200, answer)
        return httpx2.Response(status, json=body)


@asynccontextmanager
async def chat_of(server: Server, options: ChatOptions | None = None) -> AsyncIterator[Chat]:
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(server)) as http:
        client = AsyncAnthropic(api_key="k", max_retries=0, http_client=http)
        calls = ModelCaller(5.0, RetryPolicy(max_attempts=2, base_s=0.0))
        yield Chat(AnthropicChat(client, calls), "claude", options or ChatOptions())


async def reply_of(server: Server, hear: Callable[[str], None] | None = None) -> Any:
    async with chat_of(server) as chat:
        return await chat.complete(PROMPT, Deadline.after(20), hear)


def stream(whole: Json, cut: int = 99) -> bytes:
    text = "".join(block.get("text", "") for block in whole["content"])
    alone = {**whole, "content": [{"type": "text", "text": text}]}
    return b"".join(list(anthropic_api.events(alone))[:cut])


async def test_a_request_has_a_cached_system_text_a_format_and_an_effort() -> None:
    server = Server(message(REPLY, cache_read_input_tokens=7, cache_creation_input_tokens=2))
    async with chat_of(server, ChatOptions(temperature=0.5)) as chat:
        reply = await chat.complete(PROMPT, Deadline.after(20))

    assert parse(reply.text, AggregateReply).sentences[0].facts == (1,)
    assert reply.tokens == Tokens(prompt=14, completion=3, cached=7, cache_write=2)
    [body] = server.bodies
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert body["output_config"]["format"]["type"] == "json_schema"
    assert (body["output_config"]["effort"], body["temperature"]) == ("low", 0.5)
    assert body["max_tokens"] == 4000


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("primer_reply", PrimerReply),
        ("local_reply", LocalReply),
        ("local_reply", LastReply),
        ("joint_reply", JointReply),
        ("joint_reply", LastJointReply),
        ("aggregate_reply", AggregateReply),
        ("quick_reply", QuickReply),
        ("report_reply", ReportReply),
        ("facts_reply", FactsReply),
    ],
)
def test_the_stand_in_knows_every_reply_by_its_schema(name: str, shape: type[BaseModel]) -> None:
    form = {"format": {"type": "json_schema", "schema": strict_schema(shape)}}
    body = {"max_tokens": 9, "messages": [], "output_config": form}
    asked = anthropic_api.as_chat_completion(body)
    assert asked["response_format"]["json_schema"]["name"] == name
    assert name in extractive.REPLIES


async def test_a_stream_is_told_as_it_grows_and_thoughts_never() -> None:
    heard: list[str] = []
    reply = await reply_of(Server(stream(message(REPLY))), heard.append)
    assert heard[-1] == reply.text == REPLY
    assert len(heard) > 3
    assert reply.tokens == Tokens(prompt=5, completion=3)


@pytest.mark.parametrize(
    ("stop", "why"),
    [("refusal", "refused"), ("max_tokens", "length"), ("model_context_window_exceeded", "length")],
)
@pytest.mark.parametrize("is_streamed", [False, True])
async def test_a_reply_that_is_not_whole_says_why(stop: str, why: str, is_streamed: bool) -> None:
    whole = message(REPLY, stop=stop)
    server = Server(stream(whole) if is_streamed else whole)
    heard: list[str] = []
    with pytest.raises(UnusableReplyError, match=why):
        await reply_of(server, heard.append if is_streamed else None)
    assert not heard or heard[-1] == ""


@pytest.mark.parametrize("is_streamed", [False, True])
async def test_a_turn_that_was_paused_is_gone_on_with(is_streamed: bool) -> None:
    turns: list[Any] = [message(REPLY[:HALF], stop="pause_turn"), message(REPLY[HALF:])]
    heard: list[str] = []
    server = Server(*(map(stream, turns) if is_streamed else turns))
    reply = await reply_of(server, heard.append if is_streamed else None)
    assert reply.text == REPLY
    assert reply.tokens.completion == 6
    assert not heard or heard[-1] == REPLY
    assert server.bodies[1]["messages"][-1]["content"][-1]["text"] == REPLY[:HALF]
    assert [one["role"] for one in server.bodies[1]["messages"]] == ["user", "assistant"]


async def test_a_turn_that_is_paused_for_ever_is_cut() -> None:
    with pytest.raises(UnusableReplyError, match="length"):
        await reply_of(Server(message("x", stop="pause_turn")))


@pytest.mark.parametrize(
    ("status", "kind", "code", "says", "times"),
    [
        (529, "overloaded_error", "model_unavailable", "HTTP 529", 2),
        (429, "rate_limit_error", "model_unavailable", "too many requests", 2),
        (500, "api_error", "model_unavailable", "HTTP 500", 2),
        (401, "authentication_error", "model_misconfigured", "ANTHROPIC_KEY", 1),
        (404, "not_found_error", "model_misconfigured", "OAI_MODEL, ANTHROPIC_BASE_URL", 1),
        (402, "billing_error", "model_misconfigured", "billing", 1),
        (413, "request_too_large", "model_misconfigured", "MAX_CHUNKS_FOR_PROMPT", 1),
    ],
)
async def test_an_error_names_what_is_wrong(
    status: int, kind: str, code: str, says: str, times: int
) -> None:
    server = Server((status, error(kind)))
    with pytest.raises(DriftError) as raised:
        await reply_of(server)
    assert (raised.value.code, len(server.bodies)) == (code, times)
    assert says in raised.value.detail
    assert "OAI_KEY" not in raised.value.detail


@pytest.mark.parametrize("event", [error("overloaded_error"), None])
async def test_a_stream_that_ends_in_an_error_or_breaks_off_is_asked_for_again(
    event: Json | None,
) -> None:
    begun = stream(message(REPLY), cut=4)
    said = b"event: error\ndata: " + json.dumps(event).encode() + b"\n\n" if event else b""
    server = Server(begun + said, stream(message(REPLY)))
    reply = await reply_of(server, lambda _: None)
    assert (reply.text, reply.retries) == (REPLY, 1)


@pytest.mark.parametrize("words", ["output_config.format: not supported", "effort: unknown"])
async def test_what_a_model_refuses_by_name_is_left_out_from_then_on(words: str) -> None:
    server = Server((400, error("invalid_request_error", words)), message(REPLY))
    async with chat_of(server) as chat:
        first = await chat.complete(PROMPT, Deadline.after(20))
        second = await chat.complete(PROMPT, Deadline.after(20))
    assert (first.retries, second.retries) == (1, 0)
    left = server.bodies[-1]["output_config"]
    assert ("format" in left) is ("effort" in words)
    assert ("JSON schema" in server.bodies[-1]["system"][0]["text"]) is ("format" in words)


async def test_an_answer_of_another_api_names_the_address() -> None:
    with pytest.raises(DriftError, match="ANTHROPIC_BASE_URL"):
        await reply_of(Server({"choices": []}))


def test_an_address_of_foundry_is_spoken_to_as_an_identity_where_there_is_no_key() -> None:
    foundry = "https://name.services.ai.azure.com/anthropic/"
    client = build_client(foundry, None, 5.0, 1000)
    assert isinstance(client, AsyncAnthropicFoundry)
    assert str(client.base_url) == foundry
    assert isinstance(build_client(None, "k", 5.0, 1000), AsyncAnthropic)
    assert [provider_name(foundry), provider_name(None)] == ["azure.ai.inference", "anthropic"]

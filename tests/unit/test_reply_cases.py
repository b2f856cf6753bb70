"""The cases of docs/replies.md, each sent whole and as a stream, over the real SDK."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from openai import AsyncOpenAI

from drift.contracts.final_replies import AggregateReply
from drift.core.deadline import Deadline
from drift.core.errors import DriftError, UnusableReplyError
from drift.llm.caller import ModelCaller
from drift.llm.chat import Chat
from drift.llm.openai.chat import OpenAIChat
from drift.llm.retry import RetryPolicy
from drift.model.calls import ChatReply
from drift.prompting import prompts
from drift.search.scope import parse

PAGE = Path(__file__).parents[2] / "docs" / "replies.md"
ANSWER = "It is so."
REPLY = json.dumps({"verdict": "answered", "sentences": [[ANSWER, 1]]})
PROMPT = prompts.aggregate("Is it so?", [], [])
_CASE = re.compile(r"^- (.+?)(?:: ([\w ]+))? `(\{.*\})`$", re.MULTILINE)

LONG = "This model's maximum context length is 4096 tokens. You requested 5000."

Json = dict[str, Any]


def cases(heading: str) -> Iterator[tuple[str, str, Json]]:
    """Yield name, reason and choice of each case under a heading of the page."""
    _, _, section = PAGE.read_text("utf-8").partition(f"\n## {heading}\n")
    section, _, _ = section.partition("\n## ")
    for name, reason, choice in _CASE.findall(section):
        yield name, reason, _filled(json.loads(choice))


def _filled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _filled(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner) for inner in value]
    if isinstance(value, str):
        return value.replace("STRING", json.dumps(REPLY)).replace("REPLY", REPLY)
    return value


def events(choice: Json) -> Iterator[bytes]:
    """Yield a choice as a stream, its texts in pieces."""
    message = choice["message"] or {}
    for key, value in message.items():
        for delta in _pieces(key, value):
            yield _event({"choices": [{"index": 0, "delta": delta}]})
    if "finish_reason" in choice:
        yield _event({"choices": [{"delta": {}, "finish_reason": choice["finish_reason"]}]})
    yield _event({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 9}})
    yield b"data: [DONE]\n\n"


def _pieces(key: str, value: Any) -> Iterator[Json]:
    if isinstance(value, str):
        yield from ({key: value[at : at + 7]} for at in range(0, len(value), 7))
    elif key == "tool_calls":
        for call in value:
            arguments = call["function"]["arguments"]
            for at in range(0, len(arguments), 7):
                piece = {"arguments": arguments[at : at + 7]}
                yield {key: [{"index": call["index"], "function": piece}]}
    elif isinstance(value, list):
        yield from ({key: [part]} for part in value)
    elif value is not None:
        yield {key: value}


def _event(value: Json) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


async def reply_to(choice: Json, heard: list[str] | None) -> ChatReply:
    """Return what a chat makes of a choice; with `heard`, of a stream."""

    async def stream() -> AsyncIterator[bytes]:
        for event in events(choice):
            yield event

    def answer(request: httpx2.Request) -> httpx2.Response:
        if json.loads(request.content).get("stream"):
            headers = {"content-type": "text/event-stream"}
            return httpx2.Response(200, headers=headers, content=stream())
        return httpx2.Response(200, json={"choices": [choice]})

    async with chat_of(answer) as chat:
        hear = None if heard is None else heard.append
        return await chat.complete(PROMPT, Deadline.after(20), hear)


@asynccontextmanager
async def chat_of(
    answer: Callable[[httpx2.Request], httpx2.Response], attempts: int = 1
) -> AsyncIterator[Chat]:
    calls = ModelCaller(5.0, RetryPolicy(max_attempts=attempts, base_s=0.0))
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http:
        client = AsyncOpenAI(
            base_url="https://one.example/v1", api_key="k", http_client=http, max_retries=0
        )
        yield Chat(OpenAIChat(client, calls), "m")


READ = [pytest.param(choice, id=name) for name, _, choice in cases("Read")]
AGAIN = [
    pytest.param(reason, choice, id=name)
    for heading in ("Asked for again", "Not asked for again")
    for name, reason, choice in cases(heading)
]


def test_the_page_has_cases() -> None:
    assert (len(READ), len(AGAIN)) == (29, 14)


@pytest.mark.parametrize("choice", READ)
@pytest.mark.parametrize("heard", [None, []], ids=["whole", "stream"])
async def test_a_case_is_read(choice: Json, heard: list[str] | None) -> None:
    heard = None if heard is None else []
    reply = await reply_to(choice, heard)

    said = parse(reply.text, AggregateReply).sentences[0]
    assert said.text.startswith(ANSWER)
    assert said.facts == (1,)
    assert "THOUGHT" not in "".join([reply.text, *(heard or ())])
    if heard:
        assert heard[-1] == reply.text


@pytest.mark.parametrize(("reason", "choice"), AGAIN)
@pytest.mark.parametrize("heard", [None, []], ids=["whole", "stream"])
async def test_a_case_is_not_taken_for_an_answer(
    reason: str, choice: Json, heard: list[str] | None
) -> None:
    heard = None if heard is None else []
    with pytest.raises(UnusableReplyError) as raised:
        parse((await reply_to(choice, heard)).text, AggregateReply)

    assert reason in f"{raised.value.detail} {getattr(raised.value, 'problem', '')}"
    assert not heard or "THOUGHT" not in "".join(heard)
    if reason in {"length", "content_filter", "refused"}:
        assert not heard or heard[-1] == ""


@pytest.mark.parametrize(
    ("error", "code", "is_repeated"),
    [
        ({"message": "Provider returned error", "code": 429}, "model_unavailable", True),
        ({"message": "m", "type": "rate_limit_exceeded"}, "model_unavailable", True),
        ({"message": "m", "type": "overloaded_error"}, "model_unavailable", True),
        ({"message": "m", "code": "502"}, "model_unavailable", True),
        ("upstream failed", "model_unavailable", True),
        ({"code": "invalid_api_key"}, "model_misconfigured", False),
        ({"code": "content_filter"}, "unusable_reply", False),
        ({"message": LONG}, "model_misconfigured", False),
        ({"message": LONG, "code": 400}, "model_misconfigured", False),
        (LONG, "model_misconfigured", False),
    ],
)
@pytest.mark.parametrize("is_streamed", [False, True])
async def test_an_error_in_an_answer_of_status_200_is_that_error(
    error: Any, code: str, is_repeated: bool, is_streamed: bool
) -> None:
    times = 0

    def answer(_: httpx2.Request) -> httpx2.Response:
        nonlocal times
        times += 1
        body = {"id": None, "choices": None, "error": error}
        if is_streamed:
            headers = {"content-type": "text/event-stream"}
            return httpx2.Response(200, headers=headers, content=_event(body))
        return httpx2.Response(200, json=body)

    hear = (lambda _: None) if is_streamed else None
    async with chat_of(answer, attempts=2) as chat:
        with pytest.raises(DriftError) as raised:
            await chat.complete(PROMPT, Deadline.after(20), hear)

    assert raised.value.code == code
    assert "OAI_BASE_URL" not in raised.value.detail
    assert ("MAX_CHUNKS_FOR_PROMPT" in raised.value.detail) is ("4096" in str(error))
    assert (times == 2) is is_repeated

"""Pieces of replies that no API describes: each ends in a reply, or in an error that is clear."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any

import httpx2
import pytest

from drift.core.deadline import Deadline
from drift.core.errors import DriftError
from drift.model.calls import ChatReply
from tests.unit.test_anthropic import REPLY, Server, message
from tests.unit.test_anthropic import chat_of as claude_of
from tests.unit.test_embedder_limits import embedder_of
from tests.unit.test_reply_cases import PROMPT, chat_of

Json = dict[str, Any]
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "m"}}
LONG = "This model's maximum context length is 4096 tokens"


def sse(*events: object) -> bytes:
    """Return events as they are sent; text is sent as it is."""
    lines = [one if isinstance(one, str) else json.dumps(one) for one in events]
    return "".join(f"event: e\ndata: {line}\n\n" for line in lines).encode()


# ------------------------------------------------------------------------------------- Anthropic
START = {"type": "message_start", "message": {"usage": {"input_tokens": 5}, "model": "c"}}
DELTA: Json = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta"}}
SAID = {**DELTA, "delta": {"type": "text_delta", "text": REPLY}}
ENDED = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
STOP = {"type": "message_stop"}


def block(given: object) -> Json:
    return {"type": "content_block_start", "index": 0, "content_block": given}


PIECES: dict[str, object] = {
    "an unknown event": {"type": "hologram", "delta": 7},
    "a type of another shape": {"type": {"a": 1}},
    "no type": {},
    "no delta": {"type": "content_block_delta"},
    "a delta of null": {**DELTA, "delta": None},
    "a delta of text": {**DELTA, "delta": "x"},
    "no text": DELTA,
    "a text of null": {**DELTA, "delta": {"text": None}},
    "an empty text": {**DELTA, "delta": {"text": ""}},
    "a thought": {**DELTA, "delta": {"type": "thinking_delta", "thinking": "THOUGHT"}},
    "an index of null": {**DELTA, "index": None},
    "no block": {"type": "content_block_start", "index": 0},
    "a block of null": block(None),
    "an unknown block": block({"type": "hologram", "hologram": 1}),
    "a call that has no input yet": block({"type": "tool_use", "input": {}}),
    "a message of null": {"type": "message_start", "message": None},
    "a message of text": {"type": "message_start", "message": "x"},
    "a usage of null": {"type": "message_start", "message": {"usage": None}},
    "a usage of a list": {"type": "message_delta", "delta": None, "usage": [1]},
    "counts of text": {"type": "message_delta", "delta": {}, "usage": {"output_tokens": "9"}},
    "a reason of another shape": {"type": "message_delta", "delta": {"stop_reason": {"a": 1}}},
    "null": "null",
    "a number": "7",
    "a text": '"x"',
    "a list": "[1, 2]",
    "no JSON": "keep-alive",
    "nothing": "",
    "many pings": sse(*[{"type": "ping"}] * 3000).decode().removeprefix("event: e\ndata: ").strip(),
}


@pytest.mark.parametrize("piece", PIECES.values(), ids=PIECES)
async def test_an_odd_piece_of_claudes_stream_costs_nothing(piece: object) -> None:
    heard: list[str] = []
    async with claude_of(Server(sse(START, piece, SAID, piece, ENDED, STOP))) as chat:
        reply = await chat.complete(PROMPT, Deadline.after(20), heard.append)
    assert (reply.text, heard[-1], reply.retries) == (REPLY, REPLY, 0)


@pytest.mark.parametrize(
    "events",
    [
        [SAID, ENDED, STOP],
        [START, SAID, ENDED],
        [START, SAID],
        [START, SAID, ENDED, STOP, STOP],
        [START, SAID, ENDED, STOP, OVERLOADED],
        [START, SAID, ENDED, "[DONE]"],
        [START, block({"type": "text", "text": REPLY}), ENDED, STOP],
        [START, block({"type": "tool_use", "input": json.loads(REPLY)}), ENDED, STOP],
        [START, {**DELTA, "delta": {"partial_json": REPLY}}, ENDED, STOP],
    ],
)
async def test_a_stream_of_claude_that_lacks_or_repeats_a_piece_is_read(events: Any) -> None:
    async with claude_of(Server(sse(*events))) as chat:
        reply = await chat.complete(PROMPT, Deadline.after(20), lambda _: None)
    assert json.loads(reply.text) == json.loads(REPLY)


@pytest.mark.parametrize(
    ("events", "code", "times"),
    [
        ([START, SAID, OVERLOADED], "model_unavailable", 2),
        ([START, SAID, {"type": "error", "error": None}], "model_unavailable", 2),
        ([START, {**DELTA, "delta": {"text": REPLY[:9]}}], "model_unavailable", 2),
        ([START, '{"type": "content_block_', ENDED, STOP], "model_unavailable", 2),
        ([START, {**DELTA, "delta": {"text": REPLY[:9]}}, "[DONE]"], "model_unavailable", 2),
        ([START], "model_unavailable", 2),
        ([], "model_unavailable", 2),
        ([{"type": "error", "error": {"message": LONG}}], "model_misconfigured", 1),
        ([START, ENDED, STOP], "unusable_reply", 1),
    ],
)
async def test_a_stream_of_claude_that_is_no_reply_is_a_clear_error(
    events: Any, code: str, times: int
) -> None:
    server = Server(sse(*events))
    async with claude_of(server) as chat:
        with pytest.raises(DriftError) as raised:
            await chat.complete(PROMPT, Deadline.after(20), lambda _: None)
    assert (raised.value.code, len(server.bodies)) == (code, times)


CONTENTS: dict[str, object] = {
    "text": REPLY,
    "a block": {"type": "text", "text": REPLY},
    "a block without a type": [{"text": REPLY}],
    "a list of text": [REPLY],
    "null in a list": [None, {"type": "text", "text": REPLY}],
    "an unknown block": [{"type": "hologram", "x": 1}, {"type": "text", "text": REPLY}],
    "an object as the text": [{"type": "text", "text": json.loads(REPLY)}],
    "a call": [{"type": "tool_use", "input": json.loads(REPLY)}],
    "a call with text": [{"type": "tool_use", "input": REPLY}],
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
@pytest.mark.parametrize("hear", [None, lambda _: None], ids=["whole", "asked as a stream"])
async def test_an_odd_content_of_claude_is_read(content: object, hear: Any) -> None:
    whole = {**message(), "content": content, "usage": None, "model": {}, "stop_reason": None}
    async with claude_of(Server(whole)) as chat:
        reply = await chat.complete(PROMPT, Deadline.after(20), hear)
    assert json.loads(reply.text) == json.loads(REPLY)


async def test_an_error_of_claude_with_status_200_is_that_error() -> None:
    server = Server(OVERLOADED)
    async with claude_of(server) as chat:
        with pytest.raises(DriftError, match="HTTP 503"):
            await chat.complete(PROMPT, Deadline.after(20))
    assert len(server.bodies) == 2


# ---------------------------------------------------------------------------------------- OpenAI
def delta(value: object, reason: object = None) -> Json:
    return {"choices": [{"index": 0, "delta": value, "finish_reason": reason}]}


OPENAI_PIECES: dict[str, object] = {
    **{name: piece for name, piece in PIECES.items() if isinstance(piece, str)},
    "no choices": {},
    "choices of null": {"choices": None},
    "a choice of null": {"choices": [None]},
    "a choice of text": {"choices": ["x"]},
    "a delta of null": delta(None),
    "a content of null": delta({"content": None}),
    "a refusal of false": delta({"refusal": False}),
    "a reason of a number": delta({}, 7),
    "a reason of an object": delta({}, {"type": "stop"}),
    "calls of text": delta({"tool_calls": "x"}),
    "an error of null": {"choices": [], "error": None},
    "a usage of text": {"choices": [], "usage": "x"},
}


@pytest.mark.parametrize("piece", OPENAI_PIECES.values(), ids=OPENAI_PIECES)
async def test_an_odd_piece_of_a_stream_costs_nothing(piece: object) -> None:
    def answer(_: httpx2.Request) -> httpx2.Response:
        body = sse(delta({"content": REPLY}), piece, delta({}, "stop"), "[DONE]")
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)

    for hear in (None, lambda _: None):  # servers also stream unasked
        async with chat_of(answer) as chat:
            assert (await chat.complete(PROMPT, Deadline.after(20), hear)).text == REPLY


@pytest.mark.parametrize(
    ("arguments", "text"), [([REPLY[:9], REPLY[9:]], REPLY), ([REPLY[:9]], "")]
)
async def test_a_call_of_a_stream_without_an_end_is_read_when_it_is_whole(
    arguments: list[str], text: str
) -> None:
    def answer(_: httpx2.Request) -> httpx2.Response:
        calls = ({"index": 0, "function": {"arguments": one}} for one in arguments)
        body = sse(*(delta({"tool_calls": [call]}) for call in calls))
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)

    async with chat_of(answer) as chat:
        with nullcontext() if text else pytest.raises(DriftError, match="broke off"):
            assert (await chat.complete(PROMPT, Deadline.after(20))).text == text


WHOLE: Json = {"choices": [{"message": {"content": REPLY}, "finish_reason": "stop"}]}
JSON = "application/json"


class Sends:
    """Answers each request with a body; `times` counts them."""

    def __init__(self, body: object, kind: str) -> None:
        self.content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.kind, self.times = kind, 0

    def __call__(self, _: httpx2.Request) -> httpx2.Response:
        self.times += 1
        return httpx2.Response(200, headers={"content-type": self.kind}, content=self.content)


async def answered(body: object, kind: str = JSON) -> tuple[object, int]:
    """Return a reply, or the code of an error, and the number of requests."""
    server = Sends(body, kind)
    async with chat_of(server, attempts=2) as chat:
        try:
            return await chat.complete(PROMPT, Deadline.after(20)), server.times
        except DriftError as error:
            return error.code, server.times


@pytest.mark.parametrize(
    "odd",
    [[], {"prompt_tokens": "many"}, {"prompt_tokens_details": [1]}, {"prompt_tokens": 10**400}],
    ids=["a list", "words", "a list within", "no number of tokens"],
)
async def test_an_answer_is_not_lost_for_the_shape_of_what_is_only_counted(odd: object) -> None:
    assert await answered({**WHOLE, "usage": odd, "model": odd}) == (ChatReply(REPLY), 1)


@pytest.mark.parametrize(("given", "read"), [(11, 11), ("12", 12), (13.0, 13), (13.5, 0)])
async def test_a_count_is_read_as_servers_write_it(given: object, read: int) -> None:
    reply, _ = await answered({**WHOLE, "usage": {"completion_tokens": given}})
    assert isinstance(reply, ChatReply)
    assert reply.tokens.completion == read


@pytest.mark.parametrize(
    ("body", "kind", "code", "times"),
    [
        (b"<html>Sign in to the network</html>", "text/html", "model_misconfigured", 1),
        (WHOLE, "text/plain", "model_misconfigured", 1),
        ([], JSON, "model_misconfigured", 1),
        ({"completions": []}, JSON, "model_misconfigured", 1),
        ({"choices": {"0": {}}}, JSON, "model_misconfigured", 1),
        ({"choices": "a text"}, JSON, "model_misconfigured", 1),
        ({"choices": ""}, JSON, "model_misconfigured", 1),
        ({"choices": 0}, JSON, "model_misconfigured", 1),
        (b"[" * 200_000 + b"]" * 200_000, JSON, "model_misconfigured", 1),
        (b"", JSON, "model_unavailable", 2),
        (b'{"choices": [{"message": {"content": "Names', JSON, "model_unavailable", 2),
    ],
)
async def test_an_answer_that_is_none_is_a_clear_error(
    body: object, kind: str, code: str, times: int
) -> None:
    assert await answered(body, kind) == (code, times)


# ------------------------------------------------------------------------------------ embeddings
VECTORS = [{"index": 0, "embedding": [0.5, 1.0]}, {"index": 1, "embedding": [1.5, 2.0]}]


async def embedded(body: object, kind: str = JSON) -> tuple[Any, int]:
    """Return vectors, or the code of an error, and the number of requests."""
    server = Sends(body, kind)
    async with embedder_of(server, attempts=2) as embedder:
        try:
            return (await embedder.embed(["a", "b"], Deadline.after(20))).vectors, server.times
        except DriftError as error:
            return error.code, server.times


@pytest.mark.parametrize(
    "body",
    [
        {"data": VECTORS, "usage": None, "model": {}},
        {"data": VECTORS, "usage": [1]},
        {"data": [{**one, "index": str(n)} for n, one in enumerate(VECTORS)]},
        {"data": list(reversed(VECTORS))},
        VECTORS,
    ],
)
async def test_vectors_are_not_lost_for_what_stands_beside_them(body: object) -> None:
    assert (await embedded(body))[0] == ((0.5, 1.0), (1.5, 2.0))


@pytest.mark.parametrize(
    ("body", "content_type", "code", "times"),
    [
        ({"error": {"message": "m", "code": 429}}, JSON, "model_unavailable", 2),
        ({"error": {"code": "invalid_api_key"}}, JSON, "model_misconfigured", 1),
        ({"data": [None, None]}, JSON, "model_misconfigured", 1),
        ({"data": None}, JSON, "model_misconfigured", 1),
        ([1], JSON, "model_misconfigured", 1),
        (b'{"data": [', JSON, "model_unavailable", 2),
        (b"<html>", "text/html", "model_misconfigured", 1),
        (b"[" * 200_000, JSON, "model_misconfigured", 1),
        ({"data": [{"embedding": [10**400, 1]}, VECTORS[1]]}, JSON, "model_misconfigured", 1),
    ],
)
async def test_an_answer_without_vectors_is_a_clear_error(
    body: object, content_type: str, code: str, times: int
) -> None:
    assert await embedded(body, content_type) == (code, times)

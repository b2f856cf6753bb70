"""What an error of a server means, that is told from its words or from what lies beneath it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx2
import pytest
from neo4j.exceptions import ServiceUnavailable
from openai import APIStatusError

from drift.core.deadline import Deadline
from drift.core.errors import (
    DriftError,
    GraphMisconfiguredError,
    GraphUnavailableError,
    ModelMisconfiguredError,
    ModelUnavailableError,
)
from drift.graph.errors import translation
from drift.llm.caller import ModelCaller
from drift.llm.chat import Chat
from drift.llm.errors import failure
from drift.llm.openai.chat import OpenAIChat
from drift.llm.openai.client import ModelServer, build_client
from drift.llm.retry import RetryPolicy
from drift.prompting import prompts
from drift.redis.server import RedisServer


def of_status(status: int, body: object) -> APIStatusError:
    request = httpx2.Request("POST", "https://one.example")
    return APIStatusError("m", response=httpx2.Response(status, request=request), body=body)


@pytest.mark.parametrize("status", [200, 400, 413, 422, 500])
@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
        "the request exceeds the available context size, try increasing it",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000",
        "The input token count (5000) exceeds the maximum number of tokens allowed (4096).",
        "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
        "prompt is too long: 200001 tokens > 199999 maximum",
        "input length and `max_tokens` exceed context limit",
        "Input is too long for requested model.",
        "too many tokens: the prompt cannot exceed 4081",
        "Trying to keep the first 5000 tokens when context the overflows: context length of 4096",
        "Please reduce the length of the messages or completion.",
    ],
)
def test_a_prompt_that_is_too_long_is_known_by_many_words(status: int, words: str) -> None:
    for body in ({"message": words}, {"error": words}, [{"error": {"message": words}}]):
        read = failure(of_status(status, body), "OAI_MODEL")
        assert read
        assert "lower MAX_CHUNKS_FOR_PROMPT" in read.error.detail
        assert not read.is_transient


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (429, "Request too large for this model on tokens per minute: limit 30000"),
        (400, "Unrecognized request argument: temperature"),
        (500, "The server had an error while processing your request"),
        (401, "Incorrect API key provided"),
    ],
)
def test_other_errors_are_no_prompts_that_are_too_long(status: int, words: str) -> None:
    read = failure(of_status(status, {"message": words}), "OAI_MODEL")
    assert read
    assert "MAX_CHUNKS_FOR_PROMPT" not in read.error.detail


@pytest.mark.parametrize(
    ("status", "code", "says"),
    [
        *((status, "", f"HTTP {status}") for status in (408, 409, 429, 500, 502, 503, 529)),
        (401, "", "OAI_KEY"),
        (403, "", "role of the identity"),
        (404, "", "does not know the model or the path (HTTP 404): check OAI_MODEL"),
        (400, "", "refused the request"),
        (422, "", "refused the request"),
        (429, "insufficient_quota", "quota is used up (HTTP 429): check the plan"),
        (400, "context_length_exceeded", "longer than the model of OAI_MODEL takes (HTTP 400)"),
        (404, "model_not_found", "no model of that name (HTTP 404): check OAI_MODEL"),
        (404, "DeploymentNotFound", "no model of that name (HTTP 404): check OAI_MODEL"),
        (400, "content_filter", "content_filter"),
    ],
)
def test_an_error_is_known_by_its_code_or_its_status(status: int, code: str, says: str) -> None:
    error = {"code": code, "message": "canary words"}
    for body in (error, {"error": error}, [{"error": error}]):  # as Gemini has it
        read = failure(of_status(status, body), "OAI_MODEL")
        assert read
        assert says in read.error.detail
        assert "canary" not in read.error.detail
        is_transient = not code and (status in {408, 409, 429} or status >= 500)
        assert read.is_transient is is_transient
        assert isinstance(read.error, ModelUnavailableError) is is_transient


@asynccontextmanager
async def plain_server() -> AsyncIterator[tuple[int, list[int]]]:
    """Serve nothing but plain HTTP; yield the port, and the connections that came."""
    came: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(1)
        await reader.read(100)
        writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1], came


@pytest.mark.parametrize(
    ("scheme", "key", "says", "connections"),
    [
        ("https", "k", "does not speak TLS: begin OAI_BASE_URL with http://", 1),
        ("http", "k\u00e9y", "check OAI_KEY", 0),
        ("http", "a\nb", "check OAI_KEY", None),
        ("ftp", "k", "OAI_BASE_URL", 0),
    ],
)
async def test_a_request_that_can_never_be_sent_is_not_repeated(
    scheme: str, key: str, says: str, connections: int | None
) -> None:
    async def never(_: float) -> None:
        raise AssertionError

    async with plain_server() as (port, came):
        server = ModelServer(f"{scheme}://127.0.0.1:{port}", key)
        client = await asyncio.to_thread(build_client, server)
        calls = ModelCaller(5.0, RetryPolicy(max_attempts=3, sleep=never))
        chat = Chat(OpenAIChat(client, calls), "m")
        with pytest.raises(ModelMisconfiguredError, match=says):
            await chat.complete(prompts.hypothesis("Who?"), Deadline.after(20))
        await chat.aclose()
    assert connections is None or len(came) == connections


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def no_tls() -> Exception:
    error = ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number")
    error.reason = "WRONG_VERSION_NUMBER"
    return error


@pytest.mark.parametrize(
    ("beneath", "kind", "says"),
    [
        (no_tls, GraphMisconfiguredError, "begin NEO4J_URI with bolt:// or neo4j://"),
        (
            lambda: ServiceUnavailable("Cannot to connect to Bolt service (looks like HTTP)"),
            GraphMisconfiguredError,
            "7687 by default",
        ),
        (
            lambda: ServiceUnavailable("Connection closed with incomplete handshake response"),
            GraphUnavailableError,
            "with TLS it needs bolt\\+s://",
        ),
    ],
)
def test_how_a_graph_answers_says_which_part_of_its_address_is_wrong(
    beneath: Callable[[], Exception], kind: type[DriftError], says: str
) -> None:
    routed = caused(ServiceUnavailable("Couldn't connect"), beneath())
    for error in (
        beneath(),
        routed,
        caused(ServiceUnavailable("m"), ExceptionGroup("m", [routed])),
    ):
        with pytest.raises(kind, match=says):
            raise translation(error)


@pytest.mark.parametrize(("scheme", "hints"), [("rediss", True), ("redis", False)])
async def test_a_redis_that_is_silent_to_tls_may_have_none(
    scheme: str, hints: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drift.redis.server.RedisServer.ask", _silent)
    server = await asyncio.to_thread(RedisServer, f"{scheme}://127.0.0.1:1")
    assert ("needs redis://" in str(await server.health())) is hints


async def _silent(_: RedisServer, *_commands: object) -> None:
    raise TimeoutError

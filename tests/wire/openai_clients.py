"""Clients of the model server, as the adapters build them, for the tests over a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from drift.core.deadline import Deadline
from drift.llm.caller import ModelCaller
from drift.llm.chat import Chat
from drift.llm.openai.chat import OpenAIChat
from drift.llm.openai.client import ModelServer, build_client
from drift.llm.openai.embedder import OpenAIEmbedder
from drift.llm.options import ChatOptions
from drift.llm.retry import RetryPolicy
from drift.model.graph import Chunk
from drift.prompting import prompts
from drift.prompting.elements import Context, chunk_element
from tests.model_server_fixture import ModelServerControl

KEY = "canary-key-0123456789"
ATTEMPTS = 3
PROMPT = prompts.hypothesis("How are names resolved?")
CHUNK = Chunk(
    "naming", "Names are resolved using the nearest enclosing scope of the block.", "naming"
)
LOCAL = prompts.local(
    "How are names resolved?",
    ["How are names resolved?"],
    Context(chunks=[chunk_element(CHUNK, "K1")]),
)


def caller(timeout_s: float = 5.0, **values: Any) -> ModelCaller:
    return ModelCaller(
        timeout_s, RetryPolicy(**{"max_attempts": ATTEMPTS, "base_s": 0.0, **values})
    )


@asynccontextmanager
async def client_of(url: str, **values: Any) -> AsyncIterator[Any]:
    tokens = values.pop("tokens", None)
    async with build_client(ModelServer(url, **{"key": KEY, **values}), tokens) as client:
        yield client


@asynccontextmanager
async def chat_of(
    server: ModelServerControl,
    calls: ModelCaller | None = None,
    options: ChatOptions | None = None,
    *,
    explicit_cache: bool = False,
    **values: Any,
) -> AsyncIterator[Chat]:
    async with client_of(server.url, **values) as client:
        yield chat_over(client, calls or caller(), options, explicit_cache=explicit_cache)


def chat_over(
    client: Any,
    calls: ModelCaller,
    options: ChatOptions | None = None,
    *,
    explicit_cache: bool = False,
) -> Chat:
    provider = OpenAIChat(client, calls, explicit_cache)
    return Chat(provider, "a-model", options or ChatOptions())


@asynccontextmanager
async def embedder_of(
    server: ModelServerControl,
    dimensions: int = 256,
    model: str = "local",
    deployment: str | None = None,
) -> AsyncIterator[OpenAIEmbedder]:
    async with client_of(server.url) as client:
        yield OpenAIEmbedder(client, model, dimensions, deployment, caller())


def soon() -> Deadline:
    return Deadline.after(20)

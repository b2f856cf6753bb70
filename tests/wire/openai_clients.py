"""Clients of the model server, as the adapters build them, for the tests over a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from drift import prompts
from drift.adapters.openai.caller import Caller
from drift.adapters.openai.chat import OpenAIChat
from drift.adapters.openai.client import (
    ModelServer,
    build_client,
)
from drift.adapters.openai.embedder import OpenAIEmbedder
from drift.adapters.openai.options import ChatOptions
from drift.adapters.retry import RetryPolicy
from drift.tasks import Deadline
from tests.model_server_fixture import ModelServerControl

KEY = "canary-key-0123456789"
ATTEMPTS = 3
PROMPT = prompts.hypothesis("How are names resolved?")
LOCAL = prompts.local(
    "How are names resolved?",
    ["How are names resolved?"],
    prompts.Context(
        chunks=[
            {
                "id": "K1",
                "document": "naming",
                "text": "Names are resolved using the nearest enclosing scope of the block.",
            }
        ],
        valid_ids=["K1"],
    ),
)


def caller(timeout_s: float = 5.0, **values: Any) -> Caller:
    return Caller(timeout_s, RetryPolicy(**{"max_attempts": ATTEMPTS, "base_s": 0.0, **values}))


@asynccontextmanager
async def client_of(url: str, **values: Any) -> AsyncIterator[Any]:
    tokens = values.pop("tokens", None)
    async with build_client(ModelServer(url, **{"key": KEY, **values}), tokens) as client:
        yield client


@asynccontextmanager
async def chat_of(
    server: ModelServerControl,
    calls: Caller | None = None,
    options: ChatOptions | None = None,
    **values: Any,
) -> AsyncIterator[OpenAIChat]:
    async with client_of(server.url, **values) as client:
        yield OpenAIChat(client, "a-model", options or ChatOptions(), calls or caller())


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

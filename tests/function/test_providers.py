"""The provider of the chat model changes nothing of the contract's shape."""

from __future__ import annotations

from typing import Any

import pytest

from drift.local.hosts.local_host import serving
from tests.function.calling import calling
from tests.function.corpus import Corpus
from tests.model_server_fixture import ModelServerControl

INCLUDE = ["verdict", "trace", "references", "usage", "locations"]


def shape(value: Any) -> Any:
    """Return the names in a document, in their order, without its values."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items() if name != "cost"}
    return [shape(inner) for inner in value[:1]] if isinstance(value, list) else None


async def test_claude_answers_in_the_same_shape_whole_and_streamed(
    environment: pytest.MonkeyPatch, model_server: ModelServerControl, corpus: Corpus
) -> None:
    async with serving() as url, calling(url) as caller:
        first = {
            depth: await caller.answer(depth=depth, include=INCLUDE) for depth in ("quick", "drift")
        }

    environment.setenv("CHAT_PROVIDER", "anthropic")
    environment.setenv("ANTHROPIC_BASE_URL", model_server.url)
    environment.setenv("ANTHROPIC_KEY", "canary-anthropic-key")
    chats = {name: n for name, n in model_server.counts().items() if name != "embedding"}
    async with serving() as url, calling(url) as claude:
        for depth, document in first.items():
            answer = await claude.answer(depth=depth, include=INCLUDE)
            assert list(shape(answer)) == list(shape(document))
            assert shape(answer) == shape(document)
            assert answer["final_answer"] == document["final_answer"]
            assert all(
                corpus.holds(citation["span"])
                for fact in answer["key_facts"]
                for citation in fact["citations"]
            )
        async with claude.streaming(depth="quick") as reader:
            events = await reader.all()
        assert events[-1][0] == "result"
        assert "answer_delta" in {name for name, _ in events}
        ready = (await claude.client.get("/health/ready")).json()
        assert ready["chat"].startswith("ok: drift-extractive answered")

    after = {name: n for name, n in model_server.counts().items() if name != "embedding"}
    assert after == chats

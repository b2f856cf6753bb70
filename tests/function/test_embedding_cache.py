"""What is embedded once is not asked of the model again, whichever process answers."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from drift.http import wiring
from drift.local.hosts.local_host import serving
from drift.redis.entries import RedisEntries
from tests.function.calling import Caller, calling
from tests.function.corpus import QUESTION
from tests.model_server_fixture import ModelServerControl

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("corpus", "environment")]


async def asked(caller: Caller, model: ModelServerControl) -> tuple[dict[str, Any], int]:
    """Ask, and return the answer with the embeddings that the model was asked for."""
    model.reset()
    answer = await caller.answer(query=QUESTION, include=["usage"])
    embeddings = model.counts().get("embedding", 0)
    assert answer["usage"]["embedding_calls"] == embeddings
    return answer, embeddings


async def test_the_same_question_is_embedded_once(
    environment: pytest.MonkeyPatch, model_server: ModelServerControl
) -> None:
    patient = partial(RedisEntries, wait_s=10)  # a busy machine is not what is tested
    environment.setattr(wiring, "RedisEntries", patient)
    async with serving() as url, calling(url) as caller:
        first, calls = await asked(caller, model_server)
        assert calls > 1
        second, calls = await asked(caller, model_server)
        assert calls == 0
    async with serving() as url, calling(url) as caller:  # which knows nothing but Redis
        third, calls = await asked(caller, model_server)
        assert calls == 0
    for again in (second, third):
        assert again["key_facts"] == first["key_facts"]
        assert again["usage"]["prompt_tokens"] < first["usage"]["prompt_tokens"]


async def test_ready_asks_the_model_itself(model_server: ModelServerControl) -> None:
    async with serving() as url, calling(url) as caller:
        for _ in range(2):
            assert (await caller.client.get("/health/ready")).status_code == 200
        assert model_server.counts()["embedding"] == 2
        model_server.fail({"fault": "status", "status": 401, "kind": "embedding"})
        assert (await caller.client.get("/health/ready")).status_code == 503

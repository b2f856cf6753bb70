"""Embeddings over a socket: batches, order, and what is no vector."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from drift.core.errors import DriftError, ModelMisconfiguredError, ModelUnavailableError
from drift.core.logs import bound
from tests.model_server_fixture import ModelServerControl
from tests.wire.openai_clients import ATTEMPTS, embedder_of, soon

pytestmark = pytest.mark.slow


async def test_more_texts_than_fit_one_request_come_back_in_order(
    model_server: ModelServerControl,
) -> None:
    texts = [f"text number {number}" for number in range(600)]
    async with embedder_of(model_server) as embedder:
        many = await embedder.embed(texts, soon())
        for at in (0, 255, 256, 599):
            assert many.vectors[at] == (await embedder.embed([texts[at]], soon())).vectors[0]
    assert len(many.vectors) == 600
    sent = [len(request["body"]["input"]) for request in model_server.requests()[:3]]
    assert sorted(sent) == [88, 256, 256]
    assert many.tokens.prompt == sum(-(-len(text) // 4) for text in texts)


async def test_no_texts_need_no_request(model_server: ModelServerControl) -> None:
    async with embedder_of(model_server) as embedder:
        assert (await embedder.embed([], soon())).vectors == ()
    assert model_server.counts() == {}


@pytest.mark.parametrize(
    ("model", "dimensions", "sent"),
    [
        ("text-embedding-3-large", 256, 256),
        ("text-embedding-3-small", 64, 64),
        ("local", 256, None),
    ],
)
async def test_fewer_dimensions_are_only_asked_of_models_that_can(
    model_server: ModelServerControl, model: str, dimensions: int, sent: int | None
) -> None:
    async with embedder_of(model_server, dimensions, model, "a-deployment") as embedder:
        embeddings = await embedder.embed(["one"], soon())
    assert len(embeddings.vectors[0]) == dimensions
    body = model_server.requests()[0]["body"]
    assert body.get("dimensions") == sent
    assert body["model"] == "a-deployment"


async def test_vectors_of_another_size_than_the_setting_name_both_numbers(
    model_server: ModelServerControl,
) -> None:
    async with embedder_of(model_server, dimensions=3072) as embedder:
        with pytest.raises(ModelMisconfiguredError, match=r"256.*VECTOR_INDEX_DIMENSIONS is 3072"):
            await embedder.embed(["one"], soon())


@pytest.mark.parametrize(
    ("fault", "error", "says", "requests"),
    [
        ({"fault": "wrong_count"}, ModelMisconfiguredError, "1 vectors for 2 texts", 1),
        ({"fault": "wrong_dimensions"}, ModelMisconfiguredError, "255 floats", 2),
        (
            {"fault": "status", "status": 404},
            ModelMisconfiguredError,
            "OAI_EMBED_DEPLOYMENT_NAME",
            1,
        ),
        ({"fault": "status", "status": 401}, ModelMisconfiguredError, "OAI_KEY", 1),
        ({"fault": "status", "status": 429}, ModelUnavailableError, "429", ATTEMPTS),
        ({"fault": "drop"}, ModelUnavailableError, "broke off", ATTEMPTS),
    ],
)
async def test_a_fault_of_an_embedding_ends_in_the_error_of_the_table(
    model_server: ModelServerControl,
    fault: dict[str, Any],
    error: type[DriftError],
    says: str,
    requests: int,
) -> None:
    model_server.fail(fault | {"kind": "embedding", "times": None})
    async with embedder_of(model_server) as embedder:
        with pytest.raises(error) as caught:
            await embedder.embed(["one", "two"], soon())
    assert says in caught.value.detail
    assert model_server.counts() == {"embedding": requests}


@pytest.mark.parametrize("words", [False, True])
async def test_a_failed_embedding_names_its_texts_by_hash_and_length_or_by_words(
    model_server: ModelServerControl, caplog: pytest.LogCaptureFixture, words: bool
) -> None:
    model_server.fail({"fault": "status", "status": 404, "kind": "embedding", "times": None})
    texts = ["Straße", "two", "three", "four"]
    async with embedder_of(model_server) as embedder:
        with bound(words=words), pytest.raises(ModelMisconfiguredError):
            await embedder.embed(texts, soon())
    lines = [json.loads(record.getMessage()) for record in caplog.records]
    failed = [line for line in lines if line["event"] == "embedding_failed"]
    assert {(line["texts"], line["code"]) for line in failed} == {(4, "model_misconfigured")}
    if words:
        assert [line["text"] for line in failed] == texts[:3]
    else:
        assert [line["text_characters"] for line in failed] == [6, 3, 5]
        hashed = [hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts[:3]]
        assert [line["text_sha256"] for line in failed] == hashed
        assert not any(text in caplog.text for text in texts)


async def test_retries_of_all_batches_are_added_up(model_server: ModelServerControl) -> None:
    model_server.fail({"fault": "status", "status": 429, "times": 2})
    async with embedder_of(model_server) as embedder:
        assert (await embedder.embed(["text"] * 300, soon())).retries == 2

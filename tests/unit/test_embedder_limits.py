"""What an embedding server takes is found out by what it refuses, over the real SDK."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from openai import AsyncOpenAI

from drift.core.deadline import Deadline
from drift.core.errors import ModelMisconfiguredError
from drift.http.settings_search import embedding_prefixes
from drift.llm.caller import ModelCaller
from drift.llm.openai.embedder import OpenAIEmbedder
from drift.llm.retry import RetryPolicy

Json = dict[str, Any]


class Server:
    """Answers with vectors of two floats, the length of each text and 1; `refuses` may not."""

    def __init__(self, refuses: Callable[[Json], tuple[int, str] | None]) -> None:
        self.refuses = refuses
        self.bodies: list[Json] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        self.bodies.append(body)
        if refused := self.refuses(body):
            status, words = refused
            return httpx2.Response(status, json={"error": {"message": words, "code": "x"}})
        size = body.get("dimensions", 2)
        data = [
            {"index": n, "embedding": [float(len(text)), *[1.0] * (size - 1)]}
            for n, text in enumerate(body["input"])
        ]
        return httpx2.Response(200, json={"data": data, "model": "m"})

    @property
    def sizes(self) -> list[int]:
        return [len(body["input"]) for body in self.bodies]


@asynccontextmanager
async def embedder_of(
    server: Callable[[httpx2.Request], httpx2.Response],
    dimensions: int = 2,
    attempts: int = 1,
    **values: Any,
) -> AsyncIterator[OpenAIEmbedder]:
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(server)) as http:
        client = AsyncOpenAI(
            base_url="https://one.example/v1", api_key="k", http_client=http, max_retries=0
        )
        calls = ModelCaller(5.0, RetryPolicy(max_attempts=attempts, base_s=0.0))
        yield OpenAIEmbedder(client, "m", dimensions, None, calls, **values)


def soon() -> Deadline:
    return Deadline.after(20)


def more_than(most: int, status: int, words: str) -> Callable[[Json], tuple[int, str] | None]:
    return lambda body: (status, words) if len(body["input"]) > most else None


def longer_than(most: int, words: str) -> Callable[[Json], tuple[int, str] | None]:
    def refuses(body: Json) -> tuple[int, str] | None:
        longest = max(map(len, body["input"]))
        return (400, words.format(most=most, came=longest)) if longest > most else None

    return refuses


@pytest.mark.parametrize(
    ("most", "status", "words", "passes"),
    [
        (32, 413, "batch size 256 > maximum allowed batch size 32", 32),
        (10, 400, "batch size is invalid, it should not be larger than 10.: input.contents", 10),
        (100, 400, "at most 100 requests can be in one batch", 75),
        (1, 422, "inputs must be one text", 1),
        (7, 400, "at most 5,000 texts", 5),
    ],
)
async def test_a_batch_is_halved_until_it_passes_and_the_next_ones_begin_there(
    most: int, status: int, words: str, passes: int
) -> None:
    texts = ["t" * n for n in range(1, 151)]
    server = Server(more_than(most, status, words))
    async with embedder_of(server) as embedder:
        first = await embedder.embed(texts, soon())
        asked = len(server.bodies)
        second = await embedder.embed(texts, soon())

    assert [vector[0] for vector in first.vectors] == [float(n) for n in range(1, 151)]
    assert first.vectors == second.vectors
    assert max(server.sizes[asked:]) <= passes <= max(most, passes)
    assert all(size <= most for size in server.sizes[asked:])


@pytest.mark.parametrize("status", [401, 404, 429, 500])
async def test_what_no_smaller_batch_would_mend_is_not_halved(status: int) -> None:
    server = Server(lambda _: (status, "no"))
    async with embedder_of(server) as embedder:
        with pytest.raises(Exception, match="model server"):
            await embedder.embed(["a"] * 200, soon())
    assert server.sizes == [200]


async def test_a_request_that_stays_refused_is_told_as_that_of_an_embedding() -> None:
    server = Server(lambda _: (400, "temperature json_schema"))
    async with embedder_of(server) as embedder:
        with pytest.raises(ModelMisconfiguredError, match="refused to embed a text") as raised:
            await embedder.embed(["a"] * 200, soon())
    assert "LLM_TEMPERATURE" not in raised.value.detail
    assert len(server.bodies) <= 9


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is {most} tokens, however you requested {came} tokens",
        "`inputs` must have less than {most} tokens. Given: {came}",
        "input is too long",
        "must have less than 90000 tokens",
        "at most 1 token of 99999999 tokens",
    ],
)
async def test_a_text_that_is_too_long_is_cut_and_the_others_stay(words: str) -> None:
    server = Server(longer_than(500, words))
    texts = ["short", "long words " * 200, "other"]
    async with embedder_of(server) as embedder:
        first = await embedder.embed(texts, soon())
        asked = len(server.bodies)
        second = await embedder.embed(texts, soon())

    assert [vector[0] for vector in first.vectors][::2] == [5.0, 5.0]
    assert 20 < first.vectors[1][0] <= 500
    assert len(server.bodies) - asked <= 2
    assert second.vectors[1][0] <= 500


async def test_a_second_text_that_is_too_long_leaves_the_batches_as_they_are() -> None:
    server = Server(longer_than(500, "must have less than {most} tokens. Given: {came}"))
    short = [f"text {number}" for number in range(63)]
    async with embedder_of(server) as embedder:
        await embedder.embed([*short, "LONG" * 400], soon())
        await embedder.embed([*short, "a b c d " * 400], soon())
        server.bodies.clear()
        await embedder.embed(short, soon())
    assert server.sizes == [63]


async def test_a_text_just_over_the_limit_does_not_halve_the_later_ones() -> None:
    words = "word " * 400
    server = Server(longer_than(500, "input is too long"))
    async with embedder_of(server) as embedder:
        await embedder.embed([words[:520]], soon())
        asked = len(server.bodies)
        (vector,) = (await embedder.embed([words], soon())).vectors
    assert 430 < vector[0] <= 500
    assert len(server.bodies) == asked + 1


@pytest.mark.parametrize("dimensions", [2, 3])
async def test_dimensions_are_sent_where_the_model_gives_others_and_the_server_takes_them(
    dimensions: int,
) -> None:
    server = Server(lambda _: None)
    async with embedder_of(server, dimensions) as embedder:
        for _ in range(2):
            (vector,) = (await embedder.embed(["a"], soon())).vectors
            assert len(vector) == dimensions
    sent = [body.get("dimensions") for body in server.bodies]
    assert sent == ([None, None] if dimensions == 2 else [None, 3, 3])


async def test_a_server_that_refuses_dimensions_is_told_with_both_numbers() -> None:
    server = Server(lambda body: (400, "dimensions") if "dimensions" in body else None)
    async with embedder_of(server, 3) as embedder:
        for _ in range(2):
            with pytest.raises(ModelMisconfiguredError, match=r"of 2 floats.*is 3"):
                await embedder.embed(["a"], soon())
    assert len(server.bodies) == 3


async def test_a_question_and_a_stored_text_have_prefixes_of_their_own() -> None:
    server = Server(lambda _: None)
    query, passage = embedding_prefixes("query:|passage: ")
    async with embedder_of(server, prefix=query, passage_prefix=passage) as embedder:
        await embedder.embed(["Who?"], soon())
        await embedder.of_passages.embed(["He."], soon())
    assert [body["input"] for body in server.bodies] == [["query: Who?"], ["passage: He."]]


def test_prefixes_are_a_pair() -> None:
    assert embedding_prefixes("") == ("", "")
    assert embedding_prefixes("Instruct: find\\nQuery:|") == ("Instruct: find\nQuery: ", "")
    for wrong in ("query:", "a|b|c"):
        with pytest.raises(ValueError, match=r"one \| between"):
            embedding_prefixes(wrong)

"""How long an embedding takes that is kept already, and what is ours of one that is asked for.

Vectors are looked up in the process and in a Valkey of its own, one text and a wave at once.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence
from random import Random
from typing import Any

from drift.core.deadline import Deadline
from drift.core.errors import ModelUnavailableError
from drift.http import settings, wiring
from drift.local.stack.valkey_server import ValkeyServer
from drift.model.calls import Embeddings
from drift.model.graph import Vector
from drift.ports import Embedder
from drift.redis.embedding_cache import CachedEmbedder, Space
from drift.redis.entries import CacheEntries, RedisEntries
from drift.redis.server import RedisServer
from tests.bench.command import Options, milliseconds, read_options, run, show
from tests.bench.static_graph import NOWHERE
from tests.model_server.process import slow_model

DIMENSIONS = 3072
TEXTS = 1000
ASKED_TEXTS = 40
WAVE = 4
"""As many texts as a wave of follow-ups usually has."""


class RandomVectors:
    """Embedder: random vectors of 32-bit floats; `asked` counts the texts."""

    def __init__(self) -> None:
        self.asked = 0
        self._random = Random(1)  # noqa: S311 - the same vectors in every run

    async def embed(self, texts: Sequence[str], _deadline: Deadline) -> Embeddings:
        self.asked += len(texts)
        return Embeddings(tuple(self._vector() for _ in texts))

    def _vector(self) -> Vector:
        layout = f"<{DIMENSIONS}f"
        numbers = (self._random.gauss(0, 1) for _ in range(DIMENSIONS))
        return struct.unpack(layout, struct.pack(layout, *numbers))


async def bench(asked: Options) -> None:
    """Look kept vectors up, then embed with a model server that takes its time."""
    with ValkeyServer() as valkey:
        measured = await kept(valkey.url)

    with slow_model(embed_ms=asked.embed_ms) as server:
        chat, embedder = wiring.build_models(settings.load({**server.env, **NOWHERE}))
        async with chat.client:
            measured.append(await own_share(embedder, asked.embed_ms / 1000))
    for times in measured:
        show(times, asked)


async def kept(redis_url: str) -> list[dict[str, Any]]:
    """Time look-ups of one text and of a wave, in the process and in Redis.

    Raises:
        ModelUnavailableError: Redis did not take what was to be looked up.
    """
    server = RedisServer(redis_url)
    entries = RedisEntries(server, b"bench")
    space, model = Space("bench", "bench", None, DIMENSIONS), RandomVectors()
    known = CachedEmbedder(model, space, CacheEntries(entries))
    texts = [f"text {number}" for number in range(TEXTS)]
    try:
        for at in range(0, TEXTS, WAVE):
            await known.embed(texts[at : at + WAVE], Deadline.after(60))
            await entries.written()
        if len(await entries.get([space.key(text) for text in texts[-WAVE:]])) < WAVE:
            raise ModelUnavailableError("Redis did not take the vectors to be looked up.")

        measured = []
        for at_once in (1, WAVE):
            fresh = CachedEmbedder(model, space, CacheEntries(entries))
            for place, embedder in (("the process", known), ("Redis", fresh)):
                before = model.asked
                seconds = await timed(embedder, texts, at_once)
                measured.append(
                    look_ups(f"in {place}", at_once, model.asked - before, seconds),
                )
        return measured
    finally:
        await entries.close()
        await server.close()


async def own_share(embedder: Embedder, model_s: float) -> dict[str, Any]:
    """Time what is ours of embeddings, one text each, by a model that takes `model_s` seconds.

    It is the whole time but the model's: the client, the connection, and the server's own work. The
    first embedding, which opens the connection, is not counted.
    """
    await embedder.embed(["a text before the first"], Deadline.after(60))
    texts = [f"question {number}" for number in range(ASKED_TEXTS)]
    seconds = [taken - model_s for taken in await timed(embedder, texts, 1)]
    return look_ups(f"beside a model of {model_s * 1e3:g} ms", 1, ASKED_TEXTS, seconds)


async def timed(embedder: Embedder, texts: Sequence[str], at_once: int) -> list[float]:
    seconds = []
    for at in range(0, len(texts), at_once):
        begun = time.perf_counter()
        await embedder.embed(texts[at : at + at_once], Deadline.after(60))
        seconds.append(time.perf_counter() - begun)
    return seconds


def look_ups(case: str, texts: int, asked: int, seconds: Sequence[float]) -> dict[str, Any]:
    """Return the times of look-ups of so many texts each, and how many texts had to be asked."""
    return {"case": case, "texts": texts, "asked": asked, **milliseconds(seconds, (50, 99, 100), 2)}


if __name__ == "__main__":
    run(bench, read_options(__doc__, embed_ms=(490.0, "what the model takes for an embedding")))

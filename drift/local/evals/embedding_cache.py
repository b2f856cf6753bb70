"""How long an embedding takes that is kept already, and what is ours of one that is asked for."""

from __future__ import annotations

import statistics
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from drift.core.deadline import Deadline
from drift.core.errors import ModelUnavailableError
from drift.local.evals.timing import percentile
from drift.model.calls import Embeddings
from drift.model.graph import Vector
from drift.ports import Embedder
from drift.redis.cache_entries import CacheEntries
from drift.redis.embedding_cache import CachedEmbedder, Space
from drift.redis.entries import RedisEntries
from drift.redis.server import RedisServer

DIMENSIONS = 3072
TEXTS = 1000
ASKED_TEXTS = 40
WAVE = 4
"""As many texts as a wave of follow-ups usually has."""


@dataclass(frozen=True, slots=True)
class LookUpTimes:
    """Milliseconds of look-ups, each of so many texts, and how many of them had to be asked."""

    case: str
    texts: int
    asked: int
    p50_ms: float
    p99_ms: float
    most_ms: float


class _Model:
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


async def measure_cache(redis_url: str) -> list[LookUpTimes]:
    """Time look-ups of one text and of a wave, in the process and in Redis.

    Raises:
        ModelUnavailableError: Redis did not take what was to be looked up.
    """
    entries = RedisEntries(RedisServer(redis_url), b"bench")
    space, model = Space("bench", "bench", None, DIMENSIONS), _Model()
    known = CachedEmbedder(model, space, CacheEntries(entries))
    texts = [f"text {number}" for number in range(TEXTS)]
    try:
        for at in range(0, TEXTS, WAVE):
            await known.embed(texts[at : at + WAVE], Deadline.after(60))
            await entries.written()
        stored = await entries.get([space.key(text) for text in texts[-WAVE:]])
        if len(stored) < WAVE:
            raise ModelUnavailableError("Redis did not take the vectors to be looked up.")
        return [
            await _timed(f"in {place}", embedder, model, texts, at_once)
            for at_once in (1, WAVE)
            for place, embedder in (
                ("the process", known),
                ("Redis", CachedEmbedder(model, space, CacheEntries(entries))),
            )
        ]
    finally:
        await entries.close()


async def measure_own_share(embedder: Embedder, model_s: float) -> LookUpTimes:
    """Time what is ours of embeddings, one text each, by a model that takes `model_s` seconds.

    It is the whole time but the model's: the client, the connection, and the server's own work. The
    first embedding, which opens the connection, is not counted.
    """
    await embedder.embed(["a text before the first"], Deadline.after(60))
    seconds = []
    for number in range(ASKED_TEXTS):
        begun = time.perf_counter()
        await embedder.embed([f"question {number}"], Deadline.after(60))
        seconds.append(time.perf_counter() - begun - model_s)
    return _times(f"beside a model of {model_s * 1e3:g} ms", 1, ASKED_TEXTS, seconds)


async def _timed(
    case: str, embedder: CachedEmbedder, model: _Model, texts: Sequence[str], at_once: int
) -> LookUpTimes:
    seconds, before = [], model.asked
    for at in range(0, len(texts), at_once):
        begun = time.perf_counter()
        await embedder.embed(texts[at : at + at_once], Deadline.after(60))
        seconds.append(time.perf_counter() - begun)
    return _times(case, at_once, model.asked - before, seconds)


def _times(case: str, texts: int, asked: int, seconds: Sequence[float]) -> LookUpTimes:
    return LookUpTimes(
        case,
        texts,
        asked,
        round(statistics.median(seconds) * 1e3, 2),
        round(percentile(seconds, 99) * 1e3, 2),
        round(max(seconds) * 1e3, 2),
    )

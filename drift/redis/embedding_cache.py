"""An embedder that asks the model only for texts whose vectors are not known by their hash."""

from __future__ import annotations

import hashlib
import json
import math
from array import array
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from drift.core.deadline import Deadline
from drift.model.calls import Embeddings
from drift.model.graph import Vector
from drift.ports import Embedder
from drift.redis.entries import CacheEntries


@dataclass(frozen=True, slots=True)
class Space:
    """What has to be the same so that a text has the same vector."""

    server: str
    model: str
    deployment: str | None
    dimensions: int
    prefix: str = ""

    def key(self, text: str) -> str:
        """Return the key of a text; another space has other keys."""
        text = self.prefix + text
        # 2 is the format of entries: another one has other keys.
        named = [2, self.server, self.model, self.deployment, self.dimensions, text]
        return f"embed:{hashlib.sha256(json.dumps(named).encode()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class CachedEmbedder:
    """Embedder: vectors of `space` from `entries`, as the model gave them, else from `model`."""

    model: Embedder
    space: Space
    entries: CacheEntries = field(default_factory=CacheEntries)

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        """Return one vector a text, in order; the cost is that of those that were asked for."""
        keys = [self.space.key(text) for text in texts]
        vectors: dict[str, Vector] = {}
        for key, body in (await self.entries.get(keys)).items():
            numbers = array(chr(body[0]))
            numbers.frombytes(body[1:])
            vectors[key] = tuple(numbers)

        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        asked = Embeddings(())
        if missing:
            asked = await self.model.embed(list(missing.values()), deadline)
            new = dict(zip(missing, asked.vectors, strict=True))
            packed = {key: _pack(vector) for key, vector in new.items()}
            self.entries.put({key: body for key, body in packed.items() if body})
            vectors |= new

        return replace(asked, vectors=tuple(vectors[key] for key in keys))


def _pack(vector: Vector) -> bytes:
    """Return a vector in floats of 32 bits, or of 64 where that loses something.

    Empty is what could not be read back exactly, and a vector of zeros, of which the model may
    give a better one next time.
    """
    for kind in "fd":
        with suppress(OverflowError, TypeError):
            numbers = array(kind, vector)
            if tuple(numbers) == vector and any(numbers) and math.isfinite(sum(numbers)):
                return kind.encode() + numbers.tobytes()
    return b""

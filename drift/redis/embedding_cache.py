"""An embedder that asks the model only for texts whose vectors are not known.

They are known to the process, in a bounded layer, and to Redis, for all processes. Both hold the
same entries, and neither a text: the key is a hash.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from drift.core.deadline import Deadline
from drift.model.calls import Embeddings
from drift.model.graph import Vector
from drift.ports import Embedder
from drift.redis.cache_entries import KEPT_S, LocalEntries, SharedEntries
from drift.redis.vector_entries import entry_of, vector_in


@dataclass(frozen=True, slots=True)
class Space:
    """What has to be the same so that a text has the same vector.

    `deployment` is what the server calls `model`.
    """

    server: str
    model: str
    deployment: str | None
    dimensions: int

    def key(self, text: str) -> str:
        """Return the key of a text; another space has other keys."""
        named = [self.server, self.model, self.deployment, self.dimensions, text]
        return f"embed:{hashlib.sha256(json.dumps(named).encode()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class CachedEmbedder:
    """Embedder: vectors of `space` from the process, else from `shared`, else from `model`.

    A vector is exactly the one that the model gave. An entry that is not one of this space is
    asked for again, and replaced.
    """

    model: Embedder
    space: Space
    shared: SharedEntries | None = None
    local: LocalEntries = field(default_factory=LocalEntries)
    now: Callable[[], float] = time.time

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        """Return one vector a text, in order; the cost is that of those that were asked for."""
        keys = [self.space.key(text) for text in texts]
        vectors = self._in_process(keys)
        if self.shared and (rest := _without(keys, vectors)):
            vectors |= self._read(await self.shared.get(rest))

        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        asked = Embeddings(())
        if missing:
            asked = await self.model.embed(list(missing.values()), deadline)
            vectors |= dict(zip(missing, asked.vectors, strict=True))
            self._keep({key: vectors[key] for key in missing})
        return replace(asked, vectors=tuple(vectors[key] for key in keys))

    def _in_process(self, keys: Iterable[str]) -> dict[str, Vector]:
        found = {}
        for key in dict.fromkeys(keys):
            entry = self.local.get(key)
            vector = entry and vector_in(entry, key, self.space.dimensions, self.now())
            if vector:
                found[key] = vector
            else:
                self.local.drop(key)
        return found

    def _read(self, entries: Mapping[str, bytes]) -> dict[str, Vector]:
        """Return the vectors of shared entries, and keep the entries in the process."""
        found = {}
        for key, entry in entries.items():
            if vector := vector_in(entry, key, self.space.dimensions, self.now()):
                self.local.put(key, entry)
                found[key] = vector
        return found

    def _keep(self, vectors: Mapping[str, Vector]) -> None:
        until = self.now() + KEPT_S
        made = ((key, entry_of(key, vector, until)) for key, vector in vectors.items())
        entries = {key: entry for key, entry in made if entry is not None}
        for key, entry in entries.items():
            self.local.put(key, entry)
        if self.shared and entries:
            self.shared.put(entries)


def _without(keys: Iterable[str], found: Mapping[str, Vector]) -> list[str]:
    return [key for key in dict.fromkeys(keys) if key not in found]

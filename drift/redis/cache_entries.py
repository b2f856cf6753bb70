"""Entries of the caches: a bounded layer of each process before what all processes share."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from cachetools import TLRUCache

KEPT_S = 86_400
"""An entry counts for a day, in Redis and in the process: a model behind a name may be changed."""
LOCAL_BYTES = 32 * 1024 * 1024  # about 2,600 vectors of 3,072 floats
_OVERHEAD_BYTES = 300
"""What an entry of the process takes beside its own bytes: the key, and its place in the layer."""


class SharedEntries(Protocol):
    """Entries that all processes share. Whatever happens to them, neither method raises."""

    async def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Return those entries that are there, soon; none of them when that cannot be known."""
        ...

    def put(self, entries: Mapping[str, bytes]) -> None:
        """Keep entries for `KEPT_S` seconds; whoever calls does not wait."""
        ...


class CacheEntries:
    """Entries by keys, for a day; when the process holds too many, those go that were not used.

    An entry begins with the second until which it counts, in Redis and in the process.
    """

    def __init__(
        self,
        shared: SharedEntries | None = None,
        most_bytes: int = LOCAL_BYTES,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Hold so many bytes in the process, and ask `shared` for what is not among them."""
        self.shared = shared
        self._now = now
        self._local: TLRUCache[str, bytes] = TLRUCache(
            most_bytes,
            ttu=lambda _key, entry, _time: int.from_bytes(entry[:8]),
            timer=now,
            getsizeof=lambda entry: len(entry) + _OVERHEAD_BYTES,
        )

    async def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return what is kept under these keys, as far as that is known soon."""
        found = {}
        for key in keys:
            if entry := self._local.get(key):
                found[key] = entry[8:]

        missing = [key for key in dict.fromkeys(keys) if key not in found]
        if not self.shared or not missing:
            return found

        for key, entry in (await self.shared.get(missing)).items():
            if int.from_bytes(entry[:8]) > self._now():
                self._keep(key, entry)
                found[key] = entry[8:]

        return found

    def put(self, bodies: Mapping[str, bytes]) -> None:
        """Keep something under each key; nobody waits for it."""
        until = (int(self._now()) + KEPT_S).to_bytes(8)
        entries = {key: until + body for key, body in bodies.items()}
        for key, entry in entries.items():
            self._keep(key, entry)
        if self.shared and entries:
            self.shared.put(entries)

    def _keep(self, key: str, entry: bytes) -> None:
        with suppress(ValueError):  # it is larger than the layer
            self._local[key] = entry

"""Entries of the caches: what all processes share, and a bounded layer of each process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Protocol

KEPT_S = 86_400
"""An entry counts for a day, in Redis and in the process: a model behind a name may be changed."""
LOCAL_BYTES = 32 * 1024 * 1024
"""About 2,600 vectors of 3,072 floats."""
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


class LocalEntries:
    """Entries of this process; when they are too many, those go that were not used for longest."""

    def __init__(self, most_bytes: int = LOCAL_BYTES) -> None:
        """Hold entries of so many bytes in all."""
        self._most_bytes = most_bytes
        self._bytes = 0
        self._entries: OrderedDict[str, bytes] = OrderedDict()

    def get(self, key: str) -> bytes | None:
        """Return an entry, which is used now."""
        if key in self._entries:
            self._entries.move_to_end(key)
        return self._entries.get(key)

    def put(self, key: str, entry: bytes) -> None:
        """Keep an entry, and make room for it."""
        self.drop(key)
        self._entries[key] = entry
        self._bytes += _size(entry)
        while self._bytes > self._most_bytes:
            self._bytes -= _size(self._entries.popitem(last=False)[1])

    def drop(self, key: str) -> None:
        """Let an entry go."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= _size(entry)


def _size(entry: bytes) -> int:
    return len(entry) + _OVERHEAD_BYTES

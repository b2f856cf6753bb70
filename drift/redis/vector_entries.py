"""A vector as the bytes of a cache entry, and back without loss.

An entry says what it is: its key stands in its checksum, so that bytes which were cut, changed or
written for another key are not read as a vector.
"""

from __future__ import annotations

import hashlib
import math
import struct

from drift.model.graph import Vector

_HEAD = struct.Struct("<4scIQ16s")
"""The kind of entry, the kind of floats, how many, the second until which it counts, a checksum."""
_KIND = b"drE1"
_FLOATS = (b"f", b"d")
"""Of 32 and of 64 bits; the first that loses nothing is taken."""


def entry_of(key: str, vector: Vector, until: float) -> bytes | None:
    """Return the entry of a vector; None for one that should not be kept.

    Not kept is what could not be read back exactly, and a vector of zeros: nothing can be searched
    with it, and the next answer of the model may be a better one.
    """
    for floats in _FLOATS:
        try:
            packed = struct.pack(f"<{len(vector)}{floats.decode()}", *vector)
        except (OverflowError, struct.error):
            continue
        if _unpacked(floats, len(vector), packed) == vector:
            head = (_KIND, floats, len(vector), math.ceil(until))
            return _HEAD.pack(*head, _checksum(key, *head, packed)) + packed
    return None


def vector_in(entry: bytes, key: str, dimensions: int, now: float) -> Vector | None:
    """Return the vector that was stored under this key; None for anything else."""
    if len(entry) < _HEAD.size:
        return None
    kind, floats, length, until, checksum = _HEAD.unpack_from(entry)
    packed = entry[_HEAD.size :]
    if kind != _KIND or floats not in _FLOATS or length != dimensions or until <= now:
        return None
    if checksum != _checksum(key, kind, floats, length, until, packed):
        return None
    return _unpacked(floats, length, packed)


def _unpacked(floats: bytes, length: int, packed: bytes) -> Vector | None:
    """Return so many finite numbers, not all zeros; None when the bytes hold anything else."""
    layout = f"<{length}{floats.decode()}"
    if struct.calcsize(layout) != len(packed):
        return None
    vector = struct.unpack(layout, packed)
    return vector if math.isfinite(sum(vector)) and any(vector) else None


def _checksum(  # noqa: PLR0913, PLR0917 - the fields of an entry, in their order
    key: str, kind: bytes, floats: bytes, length: int, until: int, packed: bytes
) -> bytes:
    head = struct.pack("<4scIQ", kind, floats, length, until)
    return hashlib.sha256(b"".join((key.encode(), head, packed))).digest()[:16]

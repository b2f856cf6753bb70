"""Vectors as cache entries: read back without loss, and nothing else is read."""

from __future__ import annotations

import hashlib
import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.redis.vector_entries import entry_of, vector_in

KEY = "embed:a"
NOW = 1_000.0
VECTOR = (0.5, -0.25, 1e-3, -0.0)

numbers = st.lists(
    st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70), min_size=1
)
narrow = st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1)


def entry(vector: tuple[float, ...] = VECTOR, key: str = KEY) -> bytes:
    made = entry_of(key, vector, NOW + 10)
    assert made
    return made


@given(numbers | narrow)
def test_a_vector_that_is_kept_is_exactly_the_one_that_was_given(given: list[float]) -> None:
    vector = tuple(given)
    made = entry_of(KEY, vector, NOW + 10)
    if made is not None:
        assert vector_in(made, KEY, len(vector), NOW) == vector


@given(narrow.filter(any).filter(lambda numbers: math.isfinite(sum(numbers))))
def test_floats_of_32_bits_are_kept_in_32_bits(given: list[float]) -> None:
    made = entry(tuple(given))
    assert len(made) < 40 + 4 * len(given)


def test_the_sign_of_zero_is_kept() -> None:
    read = vector_in(entry(), KEY, 4, NOW)
    assert read
    assert math.copysign(1, read[3]) == -1


def test_floats_of_64_bits_are_kept_in_64_bits() -> None:
    assert vector_in(entry((0.1, 1 / 3)), KEY, 2, NOW) == (0.1, 1 / 3)


@pytest.mark.parametrize(
    "vector",
    [(0.0, 0.0), (math.nan, 1.0), (math.inf, 1.0), (2**60 + 1, 1.0), (10**400, 1.0), ("a", 1.0)],
    ids=str,
)
def test_what_cannot_be_searched_with_or_not_read_back_is_not_kept(vector: Any) -> None:
    assert entry_of(KEY, vector, NOW + 10) is None


def forged(
    key: str = KEY, kind: bytes = b"drE1", floats: bytes = b"f", packed: bytes = b""
) -> bytes:
    """Return an entry of two floats whose checksum is right, whatever it holds."""
    head = struct.pack("<4scIQ", kind, floats, 2, int(NOW) + 10)
    return head + hashlib.sha256(key.encode() + head + packed).digest()[:16] + packed


TWO = struct.pack("<2f", 1, 2)


def test_the_forged_entry_is_read_when_nothing_is_wrong_with_it() -> None:
    assert vector_in(forged(packed=TWO), KEY, 2, NOW) == (1, 2)


@pytest.mark.parametrize(
    "other",
    [
        b"",
        b"text",
        b"\x00" * 200,
        entry((1.0, 2.0))[:-1],
        entry((1.0, 2.0)) + b"\x00",
        entry((1.0, 2.0))[:-4] + struct.pack("<f", 3),
        entry((1.0, 2.0), "embed:of another text"),
        entry((1.0, 2.0, 3.0)),
        forged(packed=struct.pack("<2f", math.nan, 1)),
        forged(packed=struct.pack("<2f", math.inf, 1)),
        forged(packed=struct.pack("<2f", 0, -0.0)),
        forged(packed=TWO[:-1]),
        forged(packed=TWO + TWO),
        forged(floats=b"d", packed=TWO),
        forged(floats=b"s", packed=TWO),
        forged(floats=b"\xff", packed=TWO),
        forged(kind=b"drE2", packed=TWO),
        forged(key="embed:b", packed=TWO),
    ],
)
def test_other_bytes_are_no_vector(other: bytes) -> None:
    assert vector_in(other, KEY, 2, NOW) is None


@given(st.integers(0, 100), st.integers(0, 255))
def test_a_byte_that_was_changed_is_seen(at: int, byte: int) -> None:
    made = entry((1.0, 2.0))
    at %= len(made)
    changed = made[:at] + bytes([byte]) + made[at + 1 :]
    assert (vector_in(changed, KEY, 2, NOW) is None) == (changed != made)


def test_an_entry_counts_until_its_time() -> None:
    assert vector_in(entry(), KEY, 4, NOW + 9.9) == VECTOR
    assert vector_in(entry(), KEY, 4, NOW + 10) is None

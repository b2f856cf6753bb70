from __future__ import annotations

import base64
import math
from array import array
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.core.errors import ModelMisconfiguredError
from drift.llm.openai.vectors import require_size, vectors

BASE64 = base64.b64encode(array("f", [0.5, -1.0]).tobytes()).decode()
NUMBERS = "where a list of finite numbers was expected: check OAI_EMBED_MODEL_NAME"

WRONG: dict[str, tuple[object, str]] = {
    "text": ("a vector of my own", "text that is not base64 of 32-bit floats"),
    "base64 of half a float": ("AAA=", "text that is not base64 of 32-bit floats"),
    "a text in a list": (["1" + "0" * 399, 1.0], "a list with text in it"),
    "a list in a list": ([[1.0, 2.0]], "a list with a list in it"),
    "a boolean": ([True, 1.0], "a list with a boolean in it"),
    "null in a list": ([None, 1.0], "a list with null in it"),
    "an object in a list": ([{}, 1.0], "a list with an object in it"),
    "NaN": ([math.nan, 1.0], "a list with NaN, infinity"),
    "beyond 32 bits": ([1e300, 1.0], "or a number beyond 32-bit floats"),
    "NaN in base64": (
        base64.b64encode(array("f", [math.nan, 1.0]).tobytes()).decode(),
        "a list with NaN",
    ),
}


def answer(*embeddings: object) -> list[Any]:
    return [{"index": i, "embedding": e} for i, e in enumerate(embeddings)]


@pytest.mark.parametrize(("embedding", "says"), WRONG.values(), ids=WRONG)
def test_what_is_no_vector_is_the_models_fault_and_named(embedding: object, says: str) -> None:
    with pytest.raises(ModelMisconfiguredError) as caught:
        vectors(answer([0.5, 1.0], embedding), 2)
    assert says in caught.value.detail
    assert NUMBERS in caught.value.detail


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=3, max_size=3))
def test_numbers_and_their_base64_are_the_same_vector(numbers: list[float]) -> None:
    packed = base64.b64encode(array("f", numbers).tobytes()).decode()
    assert vectors(answer(numbers, packed), 2) == (tuple(numbers), tuple(numbers))


def test_integers_are_numbers_too() -> None:
    assert vectors(answer([1, 2]), 1) == ((1, 2),)
    assert vectors(answer(BASE64), 1) == ((0.5, -1.0),)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)


@given(st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3), max_leaves=6))
def test_whatever_a_server_sends_is_a_vector_or_an_error_of_ours(embedding: object) -> None:
    with suppress(ModelMisconfiguredError):
        (vector,) = found = vectors(answer(embedding), 1)
        require_size(found, 2)
        assert len(vector) == 2
        assert all(math.isfinite(number) for number in vector)

"""The parts of an embeddings answer that are read.

Vectors that an index can hold, or an error that says what came instead.
"""

from __future__ import annotations

import base64
import binascii
import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import httpx2

from drift.core.errors import ModelMisconfiguredError
from drift.llm.answers import ServerAnswer, told_error
from drift.llm.errors import not_this_api
from drift.llm.event_stream import from_json
from drift.llm.openai.replies import API
from drift.model.graph import Vector


def most_bytes(texts: int, dimensions: int) -> int:
    """Return how many bytes the vectors of so many texts can take in an answer."""
    # No index takes more floats; a model of another size than the setting's is to be named as that.
    floats = max(dimensions, 4096)
    # In JSON with all digits, a sign, an exponent and white space; base64 takes 6.
    bytes_per_float = 32
    return texts * floats * bytes_per_float + 64 * 1024


@dataclass(slots=True)
class VectorsAnswer(ServerAnswer):
    """An embeddings answer; nothing of it is checked yet."""

    data: list[Any] = field(default_factory=list)


def read(response: httpx2.Response) -> VectorsAnswer:
    """Return the answer of a response with status 200.

    Raises:
        json.JSONDecodeError: it broke off.
        APIStatusError: it is an error.
        ModelMisconfiguredError: it is of no such API.
    """
    try:
        value = from_json(response.content)
    except ValueError as error:
        if "json" in response.headers.get("content-type", ""):
            raise
        raise not_this_api() from error

    value = value if isinstance(value, dict) else {"data": value}
    if told := told_error(value):
        raise API.told(told, response)
    if not isinstance(data := value.get("data"), list):
        raise not_this_api()
    answer = VectorsAnswer(data=data)
    answer.count(value)
    return answer


def vectors(data: list[Any], texts: int) -> tuple[Vector, ...]:
    """Return one vector a text, in their order, of any size.

    Raises:
        ModelMisconfiguredError: saying what came instead.
    """
    if len(data) != texts:
        raise ModelMisconfiguredError(
            f"The embedding model returned {len(data)} vectors for {texts} texts: check "
            f"OAI_EMBED_MODEL_NAME."
        )

    if not all(isinstance(item, dict) and "embedding" in item for item in data):
        raise not_this_api()
    if all(isinstance(item.get("index"), int) for item in data):  # some servers number none of them
        data = sorted(data, key=itemgetter("index"))
    return tuple(_vector(item["embedding"]) for item in data)


def require_size(found: Sequence[Vector], dimensions: int) -> None:
    """Raise ModelMisconfiguredError, naming both numbers, for vectors of another size."""
    wrong = next((len(v) for v in found if len(v) != dimensions), None)
    if wrong is not None:
        raise ModelMisconfiguredError(
            f"The embedding model returned vectors of {wrong} floats, but VECTOR_INDEX_DIMENSIONS "
            f"is {dimensions}: set it to the model's number, and build the indexes with it."
        )


def _vector(embedding: object) -> Vector:
    if isinstance(embedding, str):
        numbers = _decoded(embedding)
        vector = tuple(numbers)
    elif isinstance(embedding, list):
        numbers = _packed(embedding)
        vector = tuple(embedding)
    else:
        raise _no_vector(_called(type(embedding)))

    if not math.isfinite(sum(numbers)):
        raise _no_vector("a list with NaN, infinity or a number beyond 32-bit floats in it")
    return vector


def _decoded(text: str) -> array[float]:
    numbers = array("f")
    try:
        numbers.frombytes(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError) as error:
        raise _no_vector("text that is not base64 of 32-bit floats") from error
    return numbers


def _packed(items: list[Any]) -> array[float]:
    """Return the numbers in 32 bits; what is too large for them becomes infinity."""
    others = set(map(type, items)) - {float, int}
    if others:
        names = sorted(_called(kind) for kind in others)
        raise _no_vector(f"a list with {names[0]} in it")

    try:
        return array("f", items)
    except OverflowError:  # an integer of hundreds of digits
        return array("f", [math.inf])


def _called(kind: type) -> str:
    names: dict[type, str] = {
        str: "text",
        list: "a list",
        bool: "a boolean",
        type(None): "null",
        int: "a number",
        float: "a number",
    }
    return names.get(kind, "an object")


def _no_vector(what: str) -> ModelMisconfiguredError:
    return ModelMisconfiguredError(
        f"The embedding model returned {what} where a list of finite numbers was expected: check "
        "OAI_EMBED_MODEL_NAME and OAI_EMBED_DEPLOYMENT_NAME."
    )

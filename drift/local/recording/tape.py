"""The file of a recorded request: a head, then a line for each call and for each request.

Values of the driver that JSON has no word for stand under the tag `$`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from drift.core.errors import LocalStackError
from drift.local.exchange.values import decode, encode

FORMAT = 1
MOST_LINE_BYTES = 64 * 1024 * 1024
"""The longest line that is read: rows and replies are bounded far below."""
_TAG = "$"

Json = Any
Kind = Literal["graph", "chat", "embedding", "reranker"]

asking: ContextVar[str] = ContextVar("drift_recorded_request", default="")
"""The id of the request that is being answered."""


class RecordingError(LocalStackError):
    """A recording cannot be written or read; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A call to a server for a request: what was asked, its reply, or the error that it ended with.

    Without both, it was given up by whoever asked. `begin` and `end` are seconds of the recording.
    """

    kind: Kind
    asked: Json
    begin: float
    end: float
    request: str = ""
    reply: Json = None
    error: Json = None


@dataclass(slots=True)
class Request:
    """A question with the answer that it got, a JSON document."""

    id: str
    project: str
    begin: float
    asked: Json
    answer: str = ""


def digest(value: Json) -> str:
    """Return the SHA-256 of a value, of which the order of names is no part."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=repr)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def to_json(value: Any) -> Json:  # noqa: ANN401 - whatever a row holds
    """Return what a row holds as JSON."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            return {str(name): to_json(one) for name, one in value.items()}
        case list() | tuple():
            return [to_json(one) for one in value]
    return {_TAG: encode(value)}


def from_json(value: Json) -> Any:  # noqa: ANN401 - the same
    """Return what a row held; ValueError for what is none."""
    match value:
        case dict() if value.keys() == {_TAG}:
            return decode(value[_TAG])
        case dict():
            return {name: from_json(one) for name, one in value.items()}
        case list():
            return [from_json(one) for one in value]
    return value


@dataclass(slots=True)
class Recording:
    """What a file holds; the calls are in the order of their beginnings."""

    head: Mapping[str, Json]
    calls: list[Exchange] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)


def read(path: Path) -> Recording:
    """Return a recording.

    Raises:
        RecordingError: the file is none, is cut, or is of another version.
    """
    lines = _lines(path)
    head = next(lines, {})
    number = head.get("drift_recording")
    if number is None:
        raise RecordingError(f"{path} is no recording: `drift ask --record FILE` writes one.")
    if number != FORMAT:
        raise RecordingError(
            f"{path} is a recording of format {number!r}, and this release reads {FORMAT}: replay "
            "it with the release that wrote it."
        )

    recording = Recording(head)
    call, request = TypeAdapter(Exchange), TypeAdapter(Request)
    for at, line in enumerate(lines, 2):
        try:
            ((kind, value),) = line.items()
            if kind == "call":
                recording.calls.append(call.validate_python(value))
            else:
                recording.requests.append(request.validate_python(value))
        except ValueError:
            raise RecordingError(
                f"{path}, line {at}: no call and no request of a recording."
            ) from None
    if not recording.requests:
        raise RecordingError(f"{path} is cut: no request in it has an answer. Record it again.")
    recording.calls.sort(key=lambda one: one.begin)
    return recording


def _lines(path: Path) -> Iterator[dict[str, Json]]:
    try:
        with path.open("rb") as file:
            for at, line in enumerate(iter(partial(file.readline, MOST_LINE_BYTES + 1), b""), 1):
                yield _object(line, f"{path}, line {at}")
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {error.strerror}.") from error


def _object(line: bytes, where: str) -> dict[str, Json]:
    if len(line) > MOST_LINE_BYTES:
        raise RecordingError(
            f"{where} is longer than {MOST_LINE_BYTES:,} bytes: no recording has such lines."
        )
    if not line.endswith(b"\n"):
        raise RecordingError(f"{where} is cut: record the question again.")
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise RecordingError(f"{where} is no JSON object: is it a recording?")
    return value

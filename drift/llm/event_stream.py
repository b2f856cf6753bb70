"""The JSON of a reply, and of the events of one that streams, as it comes over the wire."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pydantic_core

EVENT_STREAM = "text/event-stream"


def from_json(text: str | bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value of a JSON text.

    Raises:
        json.JSONDecodeError: the text broke off, or is none.
        RecursionError: its lists are too deep.
    """
    try:
        return pydantic_core.from_json(text)
    except ValueError:  # halves of characters are told by the slower reader
        given = text if isinstance(text, str) else text.decode("utf-8", "replace")
        return json.loads(given)


def streams(response: httpx2.Response) -> bool:
    """Tell whether an answer comes in events; servers also stream unasked, or not at all."""
    return EVENT_STREAM in response.headers.get("content-type", "")


async def events(response: httpx2.Response) -> AsyncIterator[dict[str, Any] | None]:
    """Yield each event that is an object, and None where the server says that it is done.

    What is no object holds nothing of a reply: servers keep a connection alive by it.

    Raises:
        json.JSONDecodeError: an object broke off, and with it a piece of the reply.
    """
    async for data in event_data(response):
        if data.startswith("[DONE]"):
            yield None
            return
        value = from_json(data) if data.startswith(("{", "[{")) else None
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, dict):
            yield value


async def event_data(response: httpx2.Response) -> AsyncIterator[str]:
    """Yield the data of each event of a stream; comments and names of events are passed over.

    The SDK's reader does not say whether the last one, `[DONE]`, came.
    """
    data: list[bytes] = []
    begun: list[bytes] = []
    async for piece in response.aiter_bytes():
        *lines, rest = piece.split(b"\n")
        for end in lines:
            line = b"".join([*begun, end]).rstrip(b"\r")
            begun = []
            if line.startswith(b"data:"):
                data.append(line[5:].strip())
            elif not line and data:
                yield b"\n".join(data).decode("utf-8", "replace")
                data = []
        begun.append(rest)

    last = b"".join(begun)
    if last.startswith(b"data:"):
        data.append(last[5:].strip())
    if data:
        yield b"\n".join(data).decode("utf-8", "replace")

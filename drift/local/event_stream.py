"""Server-sent events of the function, as its callers read them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
from pydantic import TypeAdapter, ValidationError

ACCEPT = {"accept": "text/event-stream"}

Event = tuple[str, dict[str, Any]]
"""An event's name and its JSON document."""


_DOCUMENT = TypeAdapter(dict[str, Any])


async def read_events(response: httpx2.Response) -> AsyncIterator[Event]:
    """Yield the events of a response as they come; comments are passed over.

    Raises:
        httpx2.DecodingError: an event holds no JSON object.
    """
    name = ""
    async for line in response.aiter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            try:
                document = _DOCUMENT.validate_json(line.removeprefix("data: "))
            except ValidationError as error:
                message = f"The event {name} holds no JSON object."
                raise httpx2.DecodingError(message, request=response.request) from error
            yield name, document

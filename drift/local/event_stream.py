"""Server-sent events of the function whose data are JSON objects, as commands read them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
from pydantic import TypeAdapter, ValidationError

from drift.client import event_stream
from drift.client.event_stream import ACCEPT

__all__ = ["ACCEPT", "Event", "read_events"]

Event = tuple[str, dict[str, Any]]
"""An event's name and its JSON document."""
_DOCUMENT = TypeAdapter(dict[str, Any])


async def read_events(response: httpx2.Response) -> AsyncIterator[Event]:
    """Yield the events of a response as they come; comments are passed over.

    Raises:
        httpx2.DecodingError: an event holds no JSON object.
    """
    async for event in event_stream.read_events(response.aiter_bytes()):
        try:
            document = _DOCUMENT.validate_json(event.data)
        except ValidationError as error:
            message = f"The event {event.name} holds no JSON object."
            raise httpx2.DecodingError(message, request=response.request) from error
        yield event.name, document

"""Server-sent events of the function, as its callers read them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2

ACCEPT = {"accept": "text/event-stream"}

Event = tuple[str, dict[str, Any]]
"""An event's name and its JSON document."""


async def read_events(response: httpx2.Response) -> AsyncIterator[Event]:
    """Yield the events of a response as they come; comments are passed over."""
    name = ""
    async for line in response.aiter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))

"""Server-sent events of the service, as its callers read them."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass

ACCEPT = {"accept": "text/event-stream"}


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """An event: its id, its name and its JSON."""

    id: str
    name: str
    data: str


async def read_events(parts: AsyncIterable[bytes]) -> AsyncIterator[ServerEvent]:
    """Yield the whole events of a body as they come; comments are passed over.

    Lines end with a line feed alone: JSON may hold the other characters that end lines.
    """
    held = bytearray()
    for_end = 0
    async for part in parts:
        held += part
        while (end := held.find(b"\n\n", for_end)) >= 0:
            fields = dict(_field(line) for line in held[:end].decode(errors="replace").split("\n"))
            del held[: end + 2]
            for_end = 0
            if "data" in fields:
                yield ServerEvent(fields.get("id", ""), fields.get("event", ""), fields["data"])
        for_end = max(0, len(held) - 1)


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name, value.removeprefix(" ")

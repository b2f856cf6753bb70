"""The events of a stream of chat completions, as they come over the wire."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2


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

"""Faults of the local model server that strike at the connection."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Mapping

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tests.model_server.faults import Rule


class _InPieces(Response):
    """Sends the head and the first half of the body; then breaks off, or goes on byte by byte."""

    def __init__(self, whole: Response, pause_s: float | None) -> None:
        super().__init__(whole.body, whole.status_code, dict(whole.headers))
        self._pause_s = pause_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive
        half = len(self.body) // 2
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        await send({"type": "http.response.body", "body": self.body[:half], "more_body": True})
        if self._pause_s is None:
            return  # the announced length is not reached: the server closes the connection
        for at in range(half, len(self.body)):
            await asyncio.sleep(self._pause_s)
            await send(
                {"type": "http.response.body", "body": self.body[at : at + 1], "more_body": True}
            )
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class _Flood(Response):
    """Sends a piece again and again, until the client goes."""

    def __init__(self, piece: bytes) -> None:
        super().__init__(media_type="application/json")
        del self.headers["content-length"]
        self._piece = piece

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope
        gone = asyncio.create_task(_disconnected(receive))
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        while not gone.done():
            await send({"type": "http.response.body", "body": self._piece, "more_body": True})
            await asyncio.sleep(0)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _bomb() -> Response:
    """Return an answer that unfolds from 400 kB into 400 MB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS + 16)
    head = packer.flush(zlib.Z_FULL_FLUSH)
    part = packer.compress(b" " * 4_000_000) + packer.flush(zlib.Z_FULL_FLUSH)
    return Response(
        head + part * 100, media_type="application/json", headers={"content-encoding": "gzip"}
    )


CONNECTION: Mapping[str, Callable[[Response, Rule], Response]] = {
    "drop": lambda whole, _rule: _InPieces(whole, None),
    "trickle": lambda whole, rule: _InPieces(whole, rule.seconds),
    "endless": lambda _whole, _rule: _Flood(b" " * 65536),
    "bomb": lambda _whole, _rule: _bomb(),
}

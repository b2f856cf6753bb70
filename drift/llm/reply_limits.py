"""Bodies of the model server are read up to a limit, counted as they arrive and as they unfold.

A few kilobytes of gzip unfold into gigabytes, and a body need not end. So the client reads every
body itself, piece by piece, and hangs up where the limit is passed. It is not asked again: a
server that sends too much does so the next time, and each time costs the same.

Headers are limited by h11, to 100 KiB.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import httpx2

from drift.core.errors import ModelMisconfiguredError


@dataclass(frozen=True, slots=True)
class Limit:
    """The most bytes of one reply, and whose words say that there are more."""

    size: int
    passed: str


_limit: ContextVar[Limit | None] = ContextVar("drift_reply_limit", default=None)


@contextmanager
def limited(limit: Limit) -> Iterator[None]:
    """Have this limit, instead of the client's own, for the requests of the block."""
    token = _limit.set(limit)
    try:
        yield
    finally:
        _limit.reset(token)


class BoundedClient(httpx2.AsyncClient):
    """A client that gives responses with their body, which is never longer than the limit."""

    def __init__(self, most_bytes: int, **options: Any) -> None:  # noqa: ANN401 - those of httpx2.AsyncClient
        """Limit replies to `most_bytes`; `options` are those of httpx2.AsyncClient."""
        super().__init__(**options)
        self._own_limit = Limit(
            most_bytes,
            f"The model server's answer is longer than MAX_REPLY_BYTES ({most_bytes:,}): check "
            "OAI_BASE_URL and OAI_MODEL, or raise the limit.",
        )

    async def send(
        self,
        request: httpx2.Request,
        *,
        stream: bool = False,  # noqa: ARG002 - as in httpx2
        **options: Any,  # noqa: ANN401 - as in httpx2
    ) -> httpx2.Response:
        """Return the response with its whole body; an error's body may be cut.

        A stream of events is returned as it begins, and counted while it is read.

        Raises:
            ModelMisconfiguredError: when a reply passes the limit, or is compressed more than once.
        """
        response = await super().send(request, stream=True, **options)
        if _grows(response):
            limit = _limit.get() or self._own_limit
            framing = 16  # each piece of a stream of events is an object
            response.stream = _Arriving(response.stream, limit.size * framing, limit.passed)
            return response

        try:
            body = await self._body(response)
        finally:
            await response.aclose()

        return _complete(response, body)

    async def _body(self, response: httpx2.Response) -> bytes:
        if "," in response.headers.get("content-encoding", ""):
            # One layer may unfold into gigabytes of the next, none of which would ever be counted.
            raise ModelMisconfiguredError(
                "The model server's answer is compressed more than once: check OAI_BASE_URL."
            )

        limit = _limit.get() or self._own_limit
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            body, _ = await _read(response, 64 * 1024)  # the status says the rest
            return body

        body, is_whole = await _read(response, limit.size)
        if not is_whole:
            raise ModelMisconfiguredError(limit.passed)
        return body


def _grows(response: httpx2.Response) -> bool:
    """Whether a body is read while it comes: events that are not packed, so that they count."""
    is_stream = "text/event-stream" in response.headers.get("content-type", "")
    is_packed = response.headers.get("content-encoding", "identity") != "identity"
    return is_stream and not is_packed and response.status_code < HTTPStatus.BAD_REQUEST


async def _read(response: httpx2.Response, most: int) -> tuple[bytes, bool]:
    """Return a body, unfolded, up to so many bytes, and whether that is all of it."""
    arriving = response.stream = _Arriving(response.stream, most)
    body = bytearray()
    async with aclosing(response.aiter_bytes()) as parts:
        async for part in parts:
            body += part
            if len(body) > most:
                return bytes(body[:most]), False

    return bytes(body), not arriving.is_cut


class _Arriving(httpx2.AsyncByteStream):
    """An arriving body, up to so many bytes.

    A compressed body may come for ever and unfold into nothing.
    """

    def __init__(self, stream: Any, most: int, passed: str = "") -> None:  # noqa: ANN401 - httpx2 types it as either kind of stream
        """Read from a stream; `passed` is what is raised at the limit, instead of ending there."""
        self._stream = stream
        self._most = most
        self._passed = passed
        self.is_cut = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        came = 0
        async for part in self._stream:
            came += len(part)
            if came > self._most:
                self.is_cut = True
                if self._passed:
                    raise ModelMisconfiguredError(self._passed)
                return
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def _complete(response: httpx2.Response, body: bytes) -> httpx2.Response:
    """Return the response as it would be had its body come as it is now."""
    unfolded = {"content-encoding", "content-length", "transfer-encoding"}
    headers = [
        (name, value)
        for name, value in response.headers.multi_items()
        if name.lower() not in unfolded
    ]

    return httpx2.Response(
        response.status_code,
        headers=headers,
        content=body,
        request=response.request,
        extensions=response.extensions,
        default_encoding=response.default_encoding,
    )

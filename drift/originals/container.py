"""Original files in a container of Azure's blob storage, without a key.

Source: REST API of Blob Storage, version 2023-11-03.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any

import httpx2

from drift.auth.entra import TokenSource, sdk_errors
from drift.core.errors import DocumentStoreError
from drift.originals import NOT_ANSWERING

STORAGE_SCOPE = "https://storage.azure.com/.default"
_VERSION = "2023-11-03"
_BLOCK = {"x-ms-blob-type": "BlockBlob"}


class ContainerStore:
    """Keeps files as blobs of a container that is there."""

    def __init__(self, url: str, tokens: TokenSource) -> None:
        """Open nothing yet."""
        self.http = httpx2.AsyncClient(timeout=httpx2.Timeout(30.0, connect=5.0))
        self._url, self._tokens = url.rstrip("/"), tokens

    async def size(self, name: str) -> int | None:
        """Return how many bytes a file has; None where it is not kept."""
        found = await self.send("HEAD", name)
        return int(found.headers["content-length"]) if found else None

    async def read(self, name: str, begin: int, end: int) -> AsyncIterator[bytes]:
        """Yield a part of a file; nothing where it is not kept."""
        if response := await self.send("GET", name, headers={"range": f"bytes={begin}-{end - 1}"}):
            try:
                async for part in response.aiter_raw():
                    yield part
            except httpx2.HTTPError as error:
                raise DocumentStoreError(NOT_ANSWERING) from error
            finally:
                await response.aclose()

    async def put(self, name: str, content: bytes) -> None:
        """Keep a file, in the place of one of this name."""
        if not await self.send("PUT", name, content=content, headers=_BLOCK):  # no such container
            raise DocumentStoreError(NOT_ANSWERING)

    async def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        await self.send("DELETE", name)

    async def close(self) -> None:
        """Close the connections."""
        await self.http.aclose()

    async def send(self, method: str, name: str, **parts: Any) -> httpx2.Response | None:  # noqa: ANN401 - of a request, as httpx2 names them
        """Return an answer, of GET with its body still to be read; None where nothing is."""
        try:
            place = f"{self._url}/{name}".rstrip("/")
            request = self.http.build_request(method, place, **parts)
            token = (await self._tokens.get()).token
            request.headers.update({"x-ms-version": _VERSION, "authorization": f"Bearer {token}"})
            response = await self.http.send(request, stream=method == "GET")
            if response.is_success:
                return response
            await response.aclose()
            if response.status_code == HTTPStatus.NOT_FOUND:
                return None
            raise httpx2.HTTPStatusError("", request=request, response=response)
        except (httpx2.HTTPError, *sdk_errors()) as error:
            raise DocumentStoreError(NOT_ANSWERING) from error

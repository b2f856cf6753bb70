"""Original files in a container of Azure's blob storage, by its REST API and without a key.

Source: Blob Storage REST API, version 2023-11-03.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Collection, Mapping
from http import HTTPStatus
from xml.sax.saxutils import unescape

import httpx2

from drift.auth.entra import TokenSource, sdk_errors
from drift.core.errors import ContentNotKeptError, DocumentStoreError

STORAGE_SCOPE = "https://storage.azure.com/.default"
_PATIENCE = httpx2.Timeout(30.0, connect=5.0)
_VERSION = {"x-ms-version": "2023-11-03"}
_BLOCK = {"x-ms-blob-type": "BlockBlob"}


class ContainerStore:
    """Keeps files as blobs of a container that is there; Azure writes a blob whole or not."""

    def __init__(
        self, url: str, tokens: TokenSource, http: httpx2.AsyncClient | None = None
    ) -> None:
        """Open nothing yet."""
        self._url = url.rstrip("/")
        self._tokens = tokens
        self._http = http or httpx2.AsyncClient(timeout=_PATIENCE)

    async def size(self, name: str) -> int | None:
        """Return how many bytes a file has."""
        found = await self._send("HEAD", name)
        is_there = found.status_code == HTTPStatus.OK
        return int(found.headers["content-length"]) if is_there else None

    async def read(self, name: str, begin: int, end: int) -> AsyncIterator[bytes]:
        """Yield a part of a file."""
        response = await self._send("GET", name, {"range": f"bytes={begin}-{end - 1}"})
        try:
            if response.status_code == HTTPStatus.NOT_FOUND:
                raise ContentNotKeptError
            async for part in response.aiter_raw():
                yield part
        except httpx2.HTTPError as error:
            raise DocumentStoreError from error
        finally:
            await response.aclose()

    async def put(self, name: str, content: bytes) -> None:
        """Keep a file, in the place of one of this name; DocumentStoreError for no container."""
        response = await self._send("PUT", name, _BLOCK, content=content)
        if response.status_code != HTTPStatus.CREATED:
            raise DocumentStoreError

    async def names(self, within: str) -> set[str]:
        """Return the names of all files below a folder."""
        found, marker = set[str](), ""
        while True:
            asked = {"restype": "container", "comp": "list", "prefix": f"{within}/"}
            response = await self._send("GET", "", params=asked | {"marker": marker})
            listed = (await response.aread()).decode()
            await response.aclose()
            found.update(re.findall(r"<Name>([0-9a-f/]+)</Name>", listed))
            more = re.search(r"<NextMarker>([^<]+)</NextMarker>", listed)
            if more is None:
                return found
            marker = unescape(more[1])

    async def remove(self, names: Collection[str]) -> None:
        """Remove files, as far as they are there."""
        for name in names:
            await self._send("DELETE", name)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _send(
        self,
        method: str,
        name: str,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> httpx2.Response:
        """Return an answer, of GET with its body still to be read; 404 is one as well."""
        try:
            token = (await self._tokens.get()).token
            told = {**_VERSION, "authorization": f"Bearer {token}", **(headers or {})}
            url = f"{self._url}/{name}".rstrip("/")
            request = self._http.build_request(
                method, url, headers=told, params=params, content=content
            )
            response = await self._http.send(request, stream=method == "GET")
            if response.status_code != HTTPStatus.NOT_FOUND and not response.is_success:
                await response.aclose()
                response.raise_for_status()
        except (httpx2.HTTPError, *sdk_errors()) as error:
            raise DocumentStoreError from error
        return response

"""The download of a server's jars, each whole and with its digest, or not at all."""

from __future__ import annotations

import errno
import hashlib
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
from rich.console import Console
from rich.progress import track

from drift.core.errors import LocalStackError

_CONNECTIONS = 8
_TIMEOUT_S = 30
_CHUNK = 1 << 16


class Download:
    """Fetches jars into a repository, until `cancelled` is set."""

    def __init__(self, repository: Path, central: str, cancelled: threading.Event) -> None:
        """Name the folder that takes the jars, and the server that has them."""
        self._repository, self._central, self._cancelled = repository, central, cancelled

    def fetch(self, listed: Mapping[str, str], what: str) -> None:
        """Fetch files by their paths and SHA-256, behind a bar that says `what` they are.

        Raises:
            LocalStackError: no space, no network, damaged files, or it was cancelled.
        """
        console = Console(file=sys.__stderr__)  # past what cleans others' texts, which has no bars
        client = httpx2.Client(timeout=_TIMEOUT_S, follow_redirects=True)
        try:
            with client, ThreadPoolExecutor(_CONNECTIONS) as pool:
                fetched = pool.map(lambda one: self._one(client, *one), listed.items())
                for _ in track(
                    fetched,
                    what,
                    total=len(listed),
                    console=console,
                    disable=not console.is_terminal,
                ):
                    pass
        except (OSError, ValueError, httpx2.HTTPError) as error:
            raise self._explained(error, what) from error

    def _one(self, client: httpx2.Client, path: str, sha256: str) -> None:
        try:
            self._whole(client, path, sha256)
        except (ValueError, httpx2.HTTPError):  # single transfers do fail
            self._whole(client, path, sha256)

    def _whole(self, client: httpx2.Client, path: str, sha256: str) -> None:
        url, target = f"{self._central}/{path}", self._repository / path
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_suffix(".part")
        digest = hashlib.sha256()
        try:
            with client.stream("GET", url) as response, draft.open("wb") as file:
                response.raise_for_status()
                for chunk in response.iter_bytes(_CHUNK):
                    if self._cancelled.is_set():
                        raise broken_off()
                    digest.update(chunk)
                    file.write(chunk)
            if digest.hexdigest() != sha256:
                raise ValueError(f"{url} arrived damaged: its SHA-256 is not {sha256}")
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)

    def _explained(self, error: Exception, what: str) -> LocalStackError:
        if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
            return LocalStackError(
                f"The disk of {self._repository} is full: make room, or name a cache folder on "
                f"another disk."
            )
        if isinstance(error, httpx2.NetworkError | httpx2.TimeoutException):
            return LocalStackError(
                f"The jars of {what} are not in the cache and {self._central} cannot be "
                "reached: connect to the network (HTTPS_PROXY is honoured) and start again, or set "
                "NEO4J_URI to a running server."
            )
        return LocalStackError(f"The jars of {what} could not be fetched: {error}. Start again.")


def broken_off() -> LocalStackError:
    """Return the error of a fetch that somebody broke off."""
    return LocalStackError(
        "The fetch of the Neo4j server was broken off; the next start goes on from there."
    )

"""Resolves a Neo4j server from Maven Central with jgo, and fetches its jars."""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
from jgo.maven import Artifact, MavenContext, PythonResolver

from drift.core.errors import LocalStackError

CENTRAL = "https://repo.maven.apache.org/maven2"
_DRAFT = ".part-"
"""How the name of a file begins that is not whole yet."""
_GROUP, _ARTIFACT = "org.neo4j", "neo4j"
_TRIES = 2
_CONNECTIONS = 8
_TIMEOUT_S = 30
_CHUNK = 1 << 16

Progress = Callable[[int, int, int], None]
"""Takes jars there, jars in all (0 while unknown) and bytes fetched so far."""


class UnknownVersionError(LocalStackError):
    """Maven Central has no such version: trying again does not help."""


class BrokenOffError(LocalStackError):
    """Somebody broke the fetch off."""

    def __init__(self) -> None:
        """Say that nothing is lost."""
        super().__init__(
            "The fetch of the Neo4j server was broken off; the next start goes on from there."
        )


def resolve(
    version: str,
    repository: Path,
    progress: Progress,
    cancelled: threading.Event,
    *,
    central: str = CENTRAL,
) -> list[Path]:
    """Return all jars of the server's class path, fetched into `repository`, which is ours alone.

    It is tried twice, because single transfers do fail.

    Raises:
        LocalStackError: no space, no network, no such version, or it was cancelled.
    """
    for draft in repository.rglob(f"{_DRAFT}*"):
        draft.unlink()  # left by a fetch that was killed

    failures: list[Exception] = []
    while len(failures) < _TRIES:
        try:
            return _resolve(version, repository, progress, cancelled, central)
        except LocalStackError:
            raise
        except Exception as error:  # noqa: BLE001 - jgo raises assertions and run-time errors of its own
            failures.append(error)
            if _disk_is_full(error):
                break

    raise _explained(failures, version, repository) from failures[0]


def _resolve(
    version: str, repository: Path, progress: Progress, cancelled: threading.Event, central: str
) -> list[Path]:
    with httpx2.Client(timeout=_TIMEOUT_S, follow_redirects=True) as client:
        resolver = _CarefulResolver(client, progress, cancelled)
        context = MavenContext(
            resolver=resolver, repo_cache=repository, remote_repos={"central": central}
        )
        server = context.create_dependency(f"{_GROUP}:{_ARTIFACT}:{version}")
        inputs, transitive = resolver.resolve([server])
        artifacts = [dependency.artifact for dependency in (*inputs, *transitive)]
        resolver.expect(len(artifacts))
        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            return list(pool.map(resolver.jar, artifacts))


class _CarefulResolver(PythonResolver):
    """jgo's resolver with downloads that never leave half a file, which it would take for good."""

    def __init__(
        self, client: httpx2.Client, progress: Progress, cancelled: threading.Event
    ) -> None:
        super().__init__()
        self._client = client
        self._progress = progress
        self._cancelled = cancelled
        self._counting = threading.Lock()
        self._done = self._expected = self._bytes = 0

    def expect(self, jars: int) -> None:
        """Say how many jars there will be."""
        self._expected = jars
        self._progress(0, jars, self._bytes)

    def jar(self, artifact: Artifact) -> Path:
        """Return the file of one jar, fetched when it is not there."""
        path: Path = artifact.resolve()
        self._count(jars=1)
        return path

    def download(self, artifact: Artifact) -> Path:
        """Fetch one file into the repository: whole and verified, or not at all."""
        place = artifact.component.path_prefix
        target: Path = artifact.context.repo_cache / place / artifact.filename
        url = f"{artifact.context.remote_repos['central']}/{place.as_posix()}/{artifact.filename}"

        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=_DRAFT, dir=target.parent)
        draft = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                self._verify(url, self._copy(url, file.write))
            draft.chmod(0o644)
            draft.replace(target)
        except httpx2.HTTPStatusError as error:
            is_server = (artifact.groupId, artifact.artifactId) == (_GROUP, _ARTIFACT)
            if is_server and error.response.status_code == httpx2.codes.NOT_FOUND:
                raise UnknownVersionError(
                    f"Maven Central has no Neo4j {artifact.version}: ask for 2026, 5.26 or a "
                    f"version listed at {CENTRAL}/org/neo4j/neo4j/."
                ) from error
            raise
        finally:
            draft.unlink(missing_ok=True)

        return target

    def _copy(self, url: str, write: Callable[[bytes], object]) -> str:
        digest = hashlib.sha1(usedforsecurity=False)
        with self._client.stream("GET", url) as response:
            response.raise_for_status()
            for chunk in response.iter_bytes(_CHUNK):
                if self._cancelled.is_set():
                    raise BrokenOffError
                write(chunk)
                digest.update(chunk)
                self._count(size=len(chunk))

        return digest.hexdigest()

    def _verify(self, url: str, digest: str) -> None:
        response = self._client.get(f"{url}.sha1")
        if response.status_code == httpx2.codes.NOT_FOUND:
            return  # a few old files have none

        response.raise_for_status()
        if response.text.split()[0].lower() != digest:
            raise RuntimeError(
                f"{url} arrived damaged: its checksum is {digest}, not {response.text.split()[0]}"
            )

    def _count(self, *, jars: int = 0, size: int = 0) -> None:
        with self._counting:
            self._done += jars
            self._bytes += size
            self._progress(self._done, self._expected, self._bytes)


def _disk_is_full(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def _explained(failures: list[Exception], version: str, repository: Path) -> LocalStackError:
    if any(_disk_is_full(error) for error in failures):
        return LocalStackError(
            f"The disk of {repository} is full: make room, or name a cache folder on another disk."
        )

    if isinstance(failures[0], httpx2.NetworkError | httpx2.TimeoutException):
        return LocalStackError(
            f"The jars of Neo4j {version} are not in the cache and {CENTRAL} cannot be reached: "
            "connect to the network (HTTPS_PROXY is honoured) and start again, or set NEO4J_URI to "
            "a running server."
        )

    reasons = "; then: ".join(
        dict.fromkeys(str(error) or type(error).__name__ for error in failures)
    )
    return LocalStackError(
        f"The jars of Neo4j {version} could not be fetched: {reasons}. Start again."
    )

"""Fetches the jars of a Neo4j server from Maven Central.

Those of the versions that are tried are listed here by their SHA-256 (`neo4j-<version>.sha256`),
and no other file is taken. Those of any other version are found with jgo, and compared with the
checksum that the server has beside each.
"""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
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


def locked_jars(version: str) -> Mapping[str, str]:
    """Return the SHA-256 of each jar of a version by path, as the class path has them, if known."""
    file = Path(__file__).parent / f"neo4j-{version}.sha256"
    lines = file.read_text().splitlines() if file.is_file() else []
    return {path: digest for digest, path in map(str.split, lines)}


def _resolve(
    version: str, repository: Path, progress: Progress, cancelled: threading.Event, central: str
) -> list[Path]:
    with httpx2.Client(timeout=_TIMEOUT_S, follow_redirects=True) as client:
        files = _Files(client, progress, cancelled)
        fetches: list[Callable[[], Path]]
        if locked := locked_jars(version):
            fetches = [
                partial(files.locked, f"{central}/{path}", repository / path, digest)
                for path, digest in locked.items()
            ]
        else:
            context = MavenContext(
                resolver=_CarefulResolver(files),
                repo_cache=repository,
                remote_repos={"central": central},
            )
            server = context.create_dependency(f"{_GROUP}:{_ARTIFACT}:{version}")
            inputs, transitive = context.resolver.resolve([server])
            fetches = [dependency.artifact.resolve for dependency in (*inputs, *transitive)]

        files.expect(len(fetches))
        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            return list(pool.map(files.counted, fetches))


class _CarefulResolver(PythonResolver):
    """jgo's resolver with downloads that never leave half a file, which it would take for good."""

    def __init__(self, files: _Files) -> None:
        super().__init__()
        self._files = files

    def download(self, artifact: Artifact) -> Path:
        """Fetch one file into the repository."""
        place = artifact.component.path_prefix
        target: Path = artifact.context.repo_cache / place / artifact.filename
        url = f"{artifact.context.remote_repos['central']}/{place.as_posix()}/{artifact.filename}"
        try:
            return self._files.fetch(url, target)
        except httpx2.HTTPStatusError as error:
            is_server = (artifact.groupId, artifact.artifactId) == (_GROUP, _ARTIFACT)
            if is_server and error.response.status_code == httpx2.codes.NOT_FOUND:
                raise UnknownVersionError(
                    f"Maven Central has no Neo4j {artifact.version}: ask for 2026, 5.26 or a "
                    f"version listed at {CENTRAL}/org/neo4j/neo4j/."
                ) from error
            raise


class _Files:
    """The files of one fetch, with its progress."""

    def __init__(
        self, client: httpx2.Client, progress: Progress, cancelled: threading.Event
    ) -> None:
        self._client = client
        self._progress = progress
        self._cancelled = cancelled
        self._counting = threading.Lock()
        self._done = self._expected = self._bytes = 0

    def expect(self, jars: int) -> None:
        """Say how many jars there will be."""
        self._expected = jars
        self._progress(0, jars, self._bytes)

    def counted(self, fetch: Callable[[], Path]) -> Path:
        """Return one jar, fetched when it is not there."""
        path = fetch()
        self._count(jars=1)
        return path

    def locked(self, url: str, target: Path, sha256: str) -> Path:
        """Return the one file that has this SHA-256, fetched when it is not there."""
        if target.exists() and hashlib.sha256(target.read_bytes()).hexdigest() == sha256:
            return target
        return self.fetch(url, target, sha256)

    def fetch(self, url: str, target: Path, sha256: str = "") -> Path:
        """Fetch one file: whole and as its SHA-256, else the server, says; or not at all."""
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=_DRAFT, dir=target.parent)
        draft = Path(name)
        digest = hashlib.sha256() if sha256 else hashlib.sha1(usedforsecurity=False)
        try:
            with os.fdopen(handle, "wb") as file:
                self._copy(url, file.write, digest.update)
            if (expected := sha256 or self._checksum(url)) != digest.hexdigest():
                raise RuntimeError(
                    f"{url} arrived damaged: its checksum is {digest.hexdigest()}, not {expected}"
                )
            draft.chmod(0o644)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)

        return target

    def _copy(self, url: str, *takers: Callable[[bytes], object]) -> None:
        with self._client.stream("GET", url) as response:
            response.raise_for_status()
            for chunk in response.iter_bytes(_CHUNK):
                if self._cancelled.is_set():
                    raise BrokenOffError
                for take in takers:
                    take(chunk)
                self._count(size=len(chunk))

    def _checksum(self, url: str) -> str:
        """Return what the server says; a file of which it says nothing is not taken."""
        response = self._client.get(f"{url}.sha1")
        response.raise_for_status()
        return response.text.split()[0].lower()

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

"""Resolves a Neo4j server from Maven Central.

jgo does it in pure Python, else `mvn` when it is on the PATH.
"""

from __future__ import annotations

import errno
import hashlib
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import requests
from jgo.maven import Artifact, MavenContext, PythonResolver

from drift.core.errors import LocalStackError
from drift.local.stack.neo4j.jars import DRAFT

GROUP, ARTIFACT = "org.neo4j", "neo4j"
CENTRAL = "https://repo.maven.apache.org/maven2"

_CONNECTIONS = 8
_TIMEOUT_S = 30
_CHUNK = 1 << 16
_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>local</groupId><artifactId>neo4j-server</artifactId><version>1</version><packaging>pom</packaging>
<dependencies><dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>
</dependency></dependencies></project>"""

Progress = Callable[[int, int, int], None]
"""Takes jars there, jars in all (0 while unknown) and bytes fetched so far."""


class UnknownVersionError(LocalStackError):
    """Maven Central has no such version: trying again does not help."""


def resolve(
    version: str,
    repository: Path,
    progress: Progress,
    *,
    central: str = CENTRAL,
    mvn: str | None = None,
) -> list[Path]:
    """Return all jars of the server's class path, fetched into `repository`.

    jgo is tried twice, because single transfers do fail; then the program `mvn`, if named: it may
    know a company's mirror.

    Raises:
        LocalStackError: no space, no network, no such version.
    """
    tries: list[Callable[[], list[Path]]] = [
        lambda: with_jgo(version, repository, progress, central)
    ] * 2
    if mvn:
        tries.append(lambda: with_mvn(mvn, version, repository))
    failures: list[Exception] = []
    for attempt in tries:
        try:
            return attempt()
        except UnknownVersionError:
            raise
        except Exception as error:  # noqa: BLE001 - jgo raises assertions and run-time errors of its own
            failures.append(error)
            if _disk_is_full(error):
                break
    raise _explained(failures, version, repository) from failures[0]


def with_jgo(
    version: str, repository: Path, progress: Progress, central: str = CENTRAL
) -> list[Path]:
    """Resolve with jgo's Python API and fetch the jars over a few connections at once."""
    resolver = _CarefulResolver(progress)
    context = MavenContext(
        resolver=resolver,
        repo_cache=repository,
        remote_repos={"central": central},
        timeout=_TIMEOUT_S,
    )
    server = context.create_dependency(f"{GROUP}:{ARTIFACT}:{version}")
    inputs, transitive = resolver.resolve([server])
    artifacts = [dependency.artifact for dependency in (*inputs, *transitive)]
    resolver.expect(len(artifacts))
    with ThreadPoolExecutor(_CONNECTIONS) as pool:
        return list(pool.map(resolver.jar, artifacts))


def fetch_one(
    coordinates: str, repository: Path, begins: Callable[[], None], *, central: str = CENTRAL
) -> Path:
    """Return the jar of `group:artifact:version` alone.

    `begins` is called when it has to be fetched.

    Raises:
        LocalStackError: no space, no network.
    """
    group, artifact, version = coordinates.split(":")
    jar = repository.joinpath(*group.split("."), artifact, version, f"{artifact}-{version}.jar")
    if jar.exists():
        return jar
    begins()
    resolver = _CarefulResolver(lambda *_: None)
    context = MavenContext(
        resolver=resolver,
        repo_cache=repository,
        remote_repos={"central": central},
        timeout=_TIMEOUT_S,
    )
    try:
        return resolver.jar(context.create_dependency(coordinates).artifact)
    except Exception as error:
        reason = "the disk is full" if _disk_is_full(error) else str(error) or type(error).__name__
        raise LocalStackError(
            f"{coordinates} could not be fetched from {central} ({reason}): start again."
        ) from error


def with_mvn(mvn: str, version: str, repository: Path) -> list[Path]:
    """Let Maven, with its user's settings, fill the same repository and name the class path."""
    with tempfile.TemporaryDirectory(prefix="drift-mvn-") as name:
        folder = Path(name)
        (folder / "pom.xml").write_text(
            _POM.format(group=GROUP, artifact=ARTIFACT, version=version)
        )
        answer = folder / "classpath"
        options = [
            "-q",
            "-B",
            f"-Dmaven.repo.local={repository}",
            f"-Dmdep.outputFile={answer}",
            "-DincludeScope=runtime",
        ]
        done = subprocess.run(  # noqa: S603 - mvn from the PATH
            [mvn, *options, _PLUGIN],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stdout[-1500:])
        return [Path(jar) for jar in answer.read_text().strip().split(os.pathsep)]


class _CarefulResolver(PythonResolver):
    """jgo's resolver with our own downloads.

    They keep connections, verify checksums and never leave half a file.
    """

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self._progress = progress
        self._local = threading.local()
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
        try:
            with _whole(target) as file:
                self._verify(url, self._copy(url, file.write))
        except requests.HTTPError as error:
            server_itself = (artifact.groupId, artifact.artifactId) == (GROUP, ARTIFACT)
            if (
                server_itself
                and error.response is not None
                and error.response.status_code == requests.codes.not_found
            ):
                raise UnknownVersionError(
                    f"Maven Central has no Neo4j {artifact.version}: ask for 2026, 5.26 or a "
                    f"version listed at {CENTRAL}/org/neo4j/neo4j/."
                ) from error
            raise
        return target

    def _copy(self, url: str, write: Callable[[bytes], object]) -> str:
        digest = hashlib.sha1(usedforsecurity=False)
        with self._session().get(url, stream=True, timeout=_TIMEOUT_S) as response:
            response.raise_for_status()
            for chunk in response.iter_content(_CHUNK):
                write(chunk)
                digest.update(chunk)
                self._count(size=len(chunk))
        return digest.hexdigest()

    def _verify(self, url: str, digest: str) -> None:
        response = self._session().get(f"{url}.sha1", timeout=_TIMEOUT_S)
        if response.status_code == requests.codes.not_found:
            return  # a few old files have none
        response.raise_for_status()
        if response.text.split()[0].lower() != digest:
            raise RuntimeError(
                f"{url} arrived damaged: its checksum is {digest}, not {response.text.split()[0]}"
            )

    def _session(self) -> requests.Session:
        """One session a thread: requests does not promise that sharing one is safe."""
        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
        session: requests.Session = self._local.session
        return session

    def _count(self, *, jars: int = 0, size: int = 0) -> None:
        with self._counting:
            self._done += jars
            self._bytes += size
            self._progress(self._done, self._expected, self._bytes)


@contextmanager
def _whole(target: Path) -> Iterator[BinaryIO]:
    """Open a draft beside the target.

    It takes the target's place when the block succeeds and vanishes when it fails.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=DRAFT, dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(name).chmod(0o644)
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)


def _disk_is_full(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def _explained(failures: list[Exception], version: str, repository: Path) -> LocalStackError:
    if any(_disk_is_full(error) for error in failures):
        return LocalStackError(
            f"The disk of {repository} is full: make room, or name a cache folder on another disk."
        )
    if isinstance(failures[0], requests.ConnectionError | requests.Timeout):
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

"""The jars of a Neo4j server: those of the lists beside this module, and no others.

`neo4j-<version>.sha256` names each jar of a version's class path by its digest, as `make jars` has
found it. The jars are kept in a cache that projects share, and compared with their digests at each
start. Neo4j Community is GPLv3: it is fetched by whoever runs the local stack and runs as a process
of its own.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from drift.core.errors import LocalStackError
from drift.local.say import Say, say_on_stderr
from drift.local.stack.locks import try_lock, unlock

DEFAULT_VERSION = "2026.08.1"
ALIASES = {"5": "5.26.30", "5.26": "5.26.30", "2026": DEFAULT_VERSION, "latest": DEFAULT_VERSION}
"""The versions that are tried, by the names that people ask for."""

CENTRAL = "https://repo.maven.apache.org/maven2"
NEEDED_BYTES = 400_000_000
"""Free space that a first fetch asks for: about 180 MB of jars, and room for a database."""

_LOOK_EVERY_S = 0.1


def exact_version(name: str) -> str:
    """Return the version that a name like "5.26" stands for.

    Raises:
        LocalStackError: there is no list of its jars.
    """
    version = ALIASES.get(name, name)
    if version not in ALIASES.values():
        raise LocalStackError(
            f"There is no list of the jars of Neo4j {name}: ask for 2026 ({DEFAULT_VERSION}) or "
            f"5.26 ({ALIASES['5.26']}), or set NEO4J_URI to a running server."
        )
    return version


def default_cache() -> Path:
    """Return the user's own cache folder."""
    caches = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return caches / "drift-neo4j"


def listed_jars(version: str) -> Mapping[str, str]:
    """Return the SHA-256 of each jar of a version by its path, in the order of the class path."""
    lines = Path(__file__).with_name(f"neo4j-{version}.sha256").read_text().splitlines()
    return {path: digest for digest, path in map(str.split, lines)}


def missing_jars(version: str, cache: Path) -> Mapping[str, str]:
    """Return those of the listed jars that are not in the cache, or are not the listed ones."""
    listed = listed_jars(version)
    with ThreadPoolExecutor() as pool:
        kept = pool.map(lambda one: _has_digest(cache / "repository" / one, listed[one]), listed)
        return {
            path: listed[path] for path, is_kept in zip(listed, kept, strict=True) if not is_kept
        }


def _has_digest(file: Path, sha256: str) -> bool:
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest() == sha256
    except OSError:
        return False


def ensure_jars(
    version: str,
    cache: Path,
    *,
    say: Say = say_on_stderr,
    cancelled: threading.Event | None = None,
    central: str = CENTRAL,
) -> tuple[Path, ...]:
    """Return the class path; what is missing is fetched, by one process at a time.

    Raises:
        LocalStackError: no space, no network, damaged files, or the fetch was cancelled.
    """
    if missing_jars(version, cache):
        _require_space(cache)
        _fetch_missing(version, cache, say, cancelled or threading.Event(), central)
    return tuple(cache / "repository" / path for path in listed_jars(version))


def _fetch_missing(
    version: str, cache: Path, say: Say, cancelled: threading.Event, central: str
) -> None:
    from drift.local.stack.neo4j.download import Download, broken_off  # noqa: PLC0415 - rarely needed

    waits = False
    while (lock := try_lock(cache / ".lock")) is None:
        if not waits:
            say(f"Another process is fetching into {cache}: waiting for it.")
        waits = True
        if cancelled.wait(_LOOK_EVERY_S):
            raise broken_off()

    try:
        if missing := missing_jars(version, cache):
            say(f"Neo4j {version} is fetched from Maven Central into {cache}, once: about 180 MB.")
            Download(cache / "repository", central, cancelled).fetch(missing, f"Neo4j {version}")
    finally:
        unlock(lock)


def _require_space(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LocalStackError(
            f"The cache folder {folder} cannot be made ({error.strerror}): name another one."
        ) from error

    free = shutil.disk_usage(folder).free
    if free < NEEDED_BYTES:
        raise LocalStackError(
            f"The disk of {folder} has {free // 1_000_000} MB left, the Neo4j server needs "
            f"{NEEDED_BYTES // 1_000_000} MB: make room, or name a cache folder on another disk."
        )

"""The jars of a Neo4j server, kept in a cache that projects share.

`<cache>/repository` has Maven's layout; `<cache>/neo4j-<version>.json` lists the jars of a version
and is written last, in one step: when it is there and the sizes agree, the version is complete. One
process fetches at a time, under a file lock. Neo4j Community is GPLv3: it is fetched by whoever
runs the local stack and runs as a process of its own.
"""

from __future__ import annotations

import json
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich import progress as bars
from rich.console import Console

from drift.core.errors import LocalStackError
from drift.local.say import Say, say_on_stderr
from drift.local.stack.locks import FileLock

if TYPE_CHECKING:
    from drift.local.stack.neo4j.maven import Progress

DEFAULT_VERSION = "2026.08.1"
ALIASES = {"5": "5.26.30", "5.26": "5.26.30", "2026": DEFAULT_VERSION, "latest": DEFAULT_VERSION}

NEEDED_BYTES = 400_000_000
"""Free space that a first fetch asks for: about 180 MB of jars, and room for a database."""

_LOCK_WAIT_S = 1800.0
_PLAIN_LINE_EVERY_S = 10.0


def exact_version(name: str) -> str:
    """Return the full version that an alias like "5.26" stands for; anything else as it is."""
    return ALIASES.get(name, name)


def default_cache() -> Path:
    """Return the user's own cache folder."""
    caches = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return caches / "drift-neo4j"


def find_jars(version: str, cache: Path) -> tuple[Path, ...] | None:
    """Return this exact version's class path from the cache, None when it is not complete there."""
    try:
        listed = json.loads(_listing(version, cache).read_text())["jars"]
        jars = tuple(cache / "repository" / entry["path"] for entry in listed)
        complete = all(
            jar.stat().st_size == entry["size"] for jar, entry in zip(jars, listed, strict=True)
        )
    except (OSError, ValueError, KeyError):
        return None
    return jars if complete and jars else None


def ensure_jars(
    version: str,
    cache: Path,
    *,
    say: Say = say_on_stderr,
    cancelled: threading.Event | None = None,
    free_bytes: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
) -> tuple[Path, ...]:
    """Return the class path; what is missing is fetched, with its progress on stderr.

    Raises:
        LocalStackError: no space, no network, no such version, or the fetch was cancelled.
    """
    if jars := find_jars(version, cache):
        return jars

    check_space(cache, free_bytes)
    say(f"Neo4j {version} is fetched from Maven Central into {cache}, once: about 180 MB.")

    # loaded here, because jgo is slow to load and rarely needed
    from drift.local.stack.neo4j.maven import resolve  # noqa: PLC0415

    broken_off = cancelled or threading.Event()
    with _shown(version, say) as progress:
        return fetch(
            version,
            cache,
            lambda: resolve(version, cache / "repository", progress, broken_off),
            say,
            broken_off,
        )


def check_space(folder: Path, free_bytes: Callable[[Path], int]) -> None:
    """Make the folder and see that there is room.

    Raises:
        LocalStackError: when it cannot be made or the disk has less than NEEDED_BYTES.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LocalStackError(
            f"The cache folder {folder} cannot be made ({error.strerror}): name another one."
        ) from error

    free = free_bytes(folder)
    if free < NEEDED_BYTES:
        raise LocalStackError(
            f"The disk of {folder} has {free // 1_000_000} MB left, the Neo4j server needs "
            f"{NEEDED_BYTES // 1_000_000} MB: make room, or name a cache folder on another disk."
        )


def keep_listing(version: str, cache: Path, jars: list[Path]) -> None:
    """Record that these files of the cache's repository are the class path of the version."""
    repository = cache / "repository"
    listed = [
        {"path": jar.relative_to(repository).as_posix(), "size": jar.stat().st_size} for jar in jars
    ]
    draft = cache / f".neo4j-{version}.json"
    draft.write_text(json.dumps({"jars": listed}, indent=1))
    draft.replace(_listing(version, cache))


def fetch(
    version: str,
    cache: Path,
    resolve: Callable[[], list[Path]],
    say: Say = say_on_stderr,
    cancelled: threading.Event | None = None,
) -> tuple[Path, ...]:
    """Return the class path.

    When it is incomplete, `resolve` fills the repository, with the cache locked.

    Raises:
        LocalStackError: what `resolve` raises, another process holds the lock for half an hour, or
            the wait for it was cancelled.
    """
    lock = FileLock(cache / ".lock")
    if not lock.try_acquire():
        say(f"Another process (pid {lock.holder()}) is fetching into {cache}: waiting for it.")
        if not lock.acquire(_LOCK_WAIT_S, cancelled):
            raise LocalStackError(
                f"Process {lock.holder()} holds {lock.path} for too long: end it and start again."
            )

    try:
        if jars := find_jars(version, cache):
            return jars
        _drop_damaged(version, cache)
        keep_listing(version, cache, resolve())
        return find_jars(version, cache) or ()
    finally:
        lock.release()


def _listing(version: str, cache: Path) -> Path:
    return cache / f"neo4j-{version}.json"


def _drop_damaged(version: str, cache: Path) -> None:
    """Remove files whose size is not the recorded one: a resolver takes what is there for good."""
    try:
        listed = json.loads(_listing(version, cache).read_text())["jars"]
    except (OSError, ValueError, KeyError):
        return
    for entry in listed:
        jar = cache / "repository" / entry["path"]
        if jar.exists() and jar.stat().st_size != entry["size"]:
            jar.unlink()


@contextmanager
def _shown(version: str, say: Say) -> Iterator[Progress]:
    """Show a bar on a terminal, a plain line now and then elsewhere."""
    console = Console(file=sys.__stderr__)  # past what cleans others' texts, which has no bars
    columns = (
        bars.SpinnerColumn(),
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TextColumn("{task.fields[megabytes]:.0f} MB"),
        bars.TimeElapsedColumn(),
    )
    next_line = time.monotonic() + _PLAIN_LINE_EVERY_S
    with bars.Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"Neo4j {version}", total=None, megabytes=0.0)

        def show(done: int, expected: int, size: int) -> None:
            nonlocal next_line
            bar.update(task, completed=done, total=expected or None, megabytes=size / 1e6)
            if bar.disable and time.monotonic() >= next_line:
                next_line = time.monotonic() + _PLAIN_LINE_EVERY_S
                what = f"{done} of {expected} jars" if expected else "reading what it consists of"
                say(f"Neo4j {version}: {what}, {size / 1e6:.0f} MB")

        yield show

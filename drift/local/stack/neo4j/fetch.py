"""Fills the jar cache: `python -m drift.local.stack.neo4j.fetch --version 2026`.

Prints one JSON line, progress goes to stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from drift.core.errors import LocalStackError
from drift.local.say import say_on_stderr
from drift.local.stack.neo4j import jars, maven

_PLAIN_LINE_EVERY_S = 10.0


def main(arguments: list[str] | None = None) -> int:
    """Fetch what is missing.

    Return 0 when the version is complete, else 1 with `{"error": "..."}` on standard output.
    """
    parser = argparse.ArgumentParser(
        prog="python -m drift.local.stack.neo4j.fetch", description=__doc__
    )
    parser.add_argument(
        "--version",
        default=jars.DEFAULT_VERSION,
        help="exact, or one of " + ", ".join(jars.ALIASES),
    )
    parser.add_argument(
        "--cache", type=Path, default=jars.default_cache(), help="default: %(default)s"
    )
    parser.add_argument(
        "--with-parent", action="store_true", help="end when the standard input ends"
    )
    options = parser.parse_args(arguments)
    if options.with_parent:
        threading.Thread(target=_end_with_input, daemon=True).start()
    version = jars.exact_version(options.version)
    try:
        with _shown(version) as progress:
            found = jars.fetch(
                version, options.cache, lambda: _resolved(version, options.cache, progress)
            )
    except LocalStackError as error:
        sys.stdout.write(json.dumps({"error": error.detail}) + "\n")
        return 1
    sys.stdout.write(
        json.dumps({"version": version, "jars": len(found), "cache": str(options.cache)}) + "\n"
    )
    return 0


def _resolved(version: str, cache: Path, progress: maven.Progress) -> list[Path]:
    return maven.resolve(version, cache / "repository", progress, mvn=shutil.which("mvn"))


def _end_with_input() -> None:
    # unbuffered: a reader in the background must hold no lock at exit
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)  # files arrive whole or not at all, so any moment is good


@contextmanager
def _shown(version: str) -> Iterator[maven.Progress]:
    """Show a bar on a terminal, a plain line now and then elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _plain(version)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns,
        TextColumn("{task.fields[megabytes]:.0f} MB"),
        TimeElapsedColumn(),
        console=console,
    ) as bar:
        task = bar.add_task(
            f"Neo4j {version}: reading what it consists of", total=None, megabytes=0.0
        )

        def show(done: int, expected: int, size: int) -> None:
            bar.update(task, completed=done, total=expected or None, megabytes=size / 1e6)
            if expected:
                bar.update(task, description=f"Neo4j {version}: jars")

        yield show


def _plain(version: str) -> maven.Progress:
    next_line = time.monotonic() + _PLAIN_LINE_EVERY_S

    def show(done: int, expected: int, size: int) -> None:
        nonlocal next_line
        if time.monotonic() >= next_line:
            next_line = time.monotonic() + _PLAIN_LINE_EVERY_S
            what = f"{done} of {expected} jars" if expected else "reading what it consists of"
            say_on_stderr(f"Neo4j {version}: {what}, {size / 1e6:.0f} MB")

    return show


if __name__ == "__main__":
    sys.exit(main())

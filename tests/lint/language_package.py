"""Neo4j's own language package, run offline: what it says about Cypher texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.lint.node_packages import installed, node

HERE = Path(__file__).parent
LOCK = HERE / "package-lock.json"
BOTH = ("CYPHER 5", "CYPHER 25")


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What the package says about one place of one statement, read as one language.

    `line` counts from 1.
    """

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


def diagnose(statements: Mapping[str, str]) -> list[Diagnostic]:
    """Return everything that the package finds in these texts, each in the languages it is for.

    One process reads them all.
    """
    asked = [
        {"name": name, "text": text, "languages": languages_of(text)}
        for name, text in statements.items()
    ]
    packages = installed(HERE, "cypher-lint")
    output = node(HERE / "check.mjs", str(packages), text=json.dumps(asked))
    return [Diagnostic(**found) for found in json.loads(output)]


def told(diagnostics: Iterable[Diagnostic]) -> str:
    """Return one line for each."""
    return "\n".join(map(str, diagnostics))

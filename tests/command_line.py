"""`python -m drift` as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from drift.local.stack.stack import VARIABLES

ROOT = Path(__file__).resolve().parents[1]
NO_SERVERS_GIVEN = {
    name: value
    for name, value in os.environ.items()
    if name not in {n for names in VARIABLES.values() for n in names}
}
PATIENCE_S = 240


def drift(
    *arguments: str, stdin: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with only these servers in its environment."""
    return _run("drift", *arguments, stdin=stdin, **environment)


def bench(name: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a bench likewise."""
    return _run(f"tests.bench.{name}", *arguments, **environment)


def _run(
    module: str, *arguments: str, stdin: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env={**NO_SERVERS_GIVEN, **environment},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )

"""The commands: as processes of their own, and in this one, which saves the start."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import warnings
from pathlib import Path
from unittest import mock

from typer.testing import CliRunner

from drift.core.logs import log
from drift.local.cli.app import app
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


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in this process, where that it is one is not the question.

    It runs an event loop of its own, and takes signals: no asynchronous test can call it.
    """
    given, level = {**NO_SERVERS_GIVEN, **environment}, log.level
    # a command adds its servers to the environment, and leaves connections to its process's end
    with mock.patch.dict(os.environ, given, clear=True), warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        done = CliRunner().invoke(app, arguments, catch_exceptions=False)
        ended = done.exit_code, done.stdout, done.stderr
        del done  # its traceback holds what the command held
        gc.collect()
    log.setLevel(level)  # a server tells more than other commands
    return subprocess.CompletedProcess(arguments, *ended)


def bench(
    name: str, *arguments: str, patience_s: float = PATIENCE_S, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a bench likewise."""
    return _run(f"tests.bench.{name}", *arguments, patience_s=patience_s, **environment)


def _run(
    module: str,
    *arguments: str,
    stdin: str | None = None,
    patience_s: float = PATIENCE_S,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env={**NO_SERVERS_GIVEN, **environment},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=patience_s,
        check=False,
    )

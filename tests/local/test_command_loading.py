"""What loads before a command is chosen, the options alone; and the help of every command."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from drift.local.cli.app import app
from tests.command_line import ROOT

LOADED = "import json, sys, drift.local.cli.app; print(json.dumps(sorted(sys.modules)))"
WORKED_WITH = {
    "neo4j",
    "openai",
    "redis",
    "httpx2",
    "numpy",
    "pydantic",
    "starlette",
    "uvicorn",
    "drift.http.settings",
    "drift.http.wiring",
    "drift.search.drift",
    "drift.local.stack.stack",
}


@pytest.mark.slow
def test_the_options_of_all_commands_load_nothing_that_a_command_works_with() -> None:
    done = subprocess.run(  # noqa: S603 - our own interpreter and text
        [sys.executable, "-c", LOADED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(done.stdout))
    assert "drift.local.cli.ask" in loaded
    assert not loaded & WORKED_WITH


def commands(found: Any, *path: str) -> Iterator[tuple[str, ...]]:
    yield path
    for name, inner in getattr(found, "commands", {}).items():
        yield from commands(inner, *path, name)


@pytest.mark.parametrize("path", [*commands(typer.main.get_command(app))], ids=" ".join)
def test_every_command_shows_its_help(path: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, [*path, "--help"])
    assert (done.exit_code, done.exception) == (0, None)
    assert " ".join(path) in done.stdout

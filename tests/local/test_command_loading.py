"""What loads before a command is chosen: the options alone."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

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

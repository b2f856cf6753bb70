"""The provider on the oldest core that the extra allows, in an environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agents.conftest import WORDS, Filings

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "tests" / "agents" / "one_agent.py"
OLDEST = "agent-framework-core==1.0.0"

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600)]


def test_an_agent_of_the_oldest_core_answers_from_the_graph(
    filings: Filings, tmp_path: Path
) -> None:
    python = tmp_path / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", tmp_path], check=True)  # noqa: S603 - our own
    subprocess.run(  # noqa: S603 - our own command
        [
            *(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
            *("--requirement", ROOT / "requirements.txt", OLDEST, "neo4j-graphrag>=1.22,<2"),
        ],
        check=True,
    )
    login = {f"NEO4J_{name.upper()}": value for name, value in filings.connection.items()}
    done = subprocess.run(  # noqa: S603 - our own program
        [python, "-W", "error", PROGRAM, WORDS, "Which barges wait?"],
        env={**os.environ, **login, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1.0.0 4 ")
    assert "Low water on the river stops the barges" in done.stdout

"""The real compiler and its linter, on machines that have them; this module has no tests where `bicep` is not on the PATH."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from tests.infra.templates import INFRA, MAIN, REQUIRED

BICEP = shutil.which("bicep")
VARIABLES = {
    "AZURE_ENV_NAME": "dev",
    "AZURE_LOCATION": "westeurope",
    "NEO4J_URI": REQUIRED["neo4jUri"],
    "NEO4J_PASSWORD": REQUIRED["neo4jPassword"],
}
COMMANDS = [
    ("build", str(MAIN), "--stdout"),
    ("lint", str(MAIN)),
    ("build-params", str(INFRA / "main.bicepparam"), "--stdout"),
]

if BICEP:

    @pytest.mark.slow
    @pytest.mark.timeout(120)
    @pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
    def test_the_compiler_has_nothing_to_say(command: tuple[str, ...]) -> None:
        ran = subprocess.run(  # noqa: S603 - the compiler on our own files
            [str(BICEP), *command], capture_output=True, text=True, check=False, env={**os.environ, **VARIABLES}
        )
        said = [line for line in ran.stderr.splitlines() if "Warning" in line or "Error" in line]
        assert (ran.returncode, said) == (0, [])

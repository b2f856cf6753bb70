"""The Bicep compiler, where this machine has one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drift.http.settings import environment

HOW_TO_GET_ONE = (
    "`az bicep install` brings one; or put `bicep` on the PATH, or its path into the variable "
    "BICEP."
)


def find_compiler() -> str | None:
    """Return the compiler: that of BICEP, on the PATH, or of `az bicep install`."""
    given = environment()
    if named := given.get("BICEP"):
        return shutil.which(named)

    installed = Path(given.get("AZURE_CONFIG_DIR", "~/.azure")).expanduser() / "bin" / "bicep"
    return (
        shutil.which("bicep")
        or shutil.which(str(installed))
        or shutil.which(str(installed.with_suffix(".exe")))
    )


@dataclass(frozen=True, slots=True)
class Built:
    """What `bicep build-params` gives: the value of each parameter by name, or why it refuses."""

    values: Mapping[str, Any] = field(default_factory=dict)
    errors: tuple[str, ...] = ()


def build_parameters(compiler: str, file: Path, variables: Mapping[str, str]) -> Built:
    """Let the compiler work out a file, with these variables and what a program needs."""
    command = [compiler, "build-params", str(file), "--stdout"]
    needed = {
        name: value
        for name, value in environment().items()
        if name in {"HOME", "PATH", "TMPDIR", "USERPROFILE"}
    }
    ran = subprocess.run(  # noqa: S603 - the compiler that the machine has
        command, capture_output=True, text=True, check=False, env={**needed, **variables}
    )
    if ran.returncode:
        errors = re.findall(r"Error \w+: (.*?)(?: \[https?://\S+\])?$", ran.stderr, re.MULTILINE)
        return Built(errors=tuple(errors) or (f"the compiler ended with {ran.returncode}",))

    parameters = json.loads(json.loads(ran.stdout)["parametersJson"])["parameters"]
    return Built({name: one.get("value") for name, one in parameters.items()})

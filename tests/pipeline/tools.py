"""The programs that only check, where `make tools` installs them."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / ".venv" / "tools" / "bin"
CHECKOV = ROOT / ".venv" / "checkov" / "bin" / "checkov"


def run(
    program: Path, *arguments: str | Path, cwd: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """Run one of them, and return how it ended and what it said.

    Raises:
        FileNotFoundError: when it is not installed.
    """
    if not program.exists():
        raise FileNotFoundError(f"{program.name} is not installed: run `make tools`.")
    return subprocess.run(  # noqa: S603 - installed by name and version
        [str(program), *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False
    )

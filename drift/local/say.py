"""How a person is told something: one line at a time."""

from __future__ import annotations

import sys
from collections.abc import Callable

Say = Callable[[str], None]
"""Takes one line for a person to read."""


def say_on_stderr(line: str) -> None:
    """Write the line to standard error."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()

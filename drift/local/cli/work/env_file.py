"""Settings of a `.env` file, for the commands alone: the function never reads one."""

from __future__ import annotations

from pathlib import Path

from dotenv import dotenv_values

from drift.http import settings
from drift.local.say import Say

NAME = ".env"


def read_env_file(folder: Path, say: Say) -> None:
    """Add what a folder's `.env` sets and the environment does not; say which settings that are.

    Other names in it are left alone, and so are empty values.
    """
    path = folder / NAME
    if not path.is_file():
        return

    known, given = settings.names(), settings.environment()
    read = dotenv_values(path, interpolate=False, encoding="utf-8")
    added = {n: value for n, value in read.items() if value and n in known and n not in given}
    if added:
        settings.export(added)
        say(f"Read from {NAME}: {', '.join(sorted(added))}.")

"""Watching processes come and go, for tests of what starts them."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

PROJECT = Path(__file__).parents[2]


def runs(pid: int) -> bool:
    """Say whether the process is there and not just waiting to be buried."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def until(holds: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Return True as soon as it holds, False when it does not within the time."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@contextmanager
def script(text: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Run Python code as a process of its own; it is killed at the end of the block."""
    command = [sys.executable, "-c", text, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=PROJECT) as process:  # noqa: S603 - our code
        try:
            yield process
        finally:
            process.kill()

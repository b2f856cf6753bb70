"""`python -m drift`, and the command `drift`."""

from __future__ import annotations

import os
import signal
from types import FrameType

STOPPED = 130
"""The exit code of a command that Ctrl-C ended, as shells have it."""


def main() -> None:
    """Run the command line; while it is being loaded, Ctrl-C ends the process at once.

    Nothing was begun.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _leave)
    from drift.offline.commands.cli import main as run  # noqa: PLC0415 - takes a second, in which somebody may change their mind

    signal.signal(signal.SIGINT, before)
    run()


def _leave(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"Stopped.\n")
    os._exit(STOPPED)


if __name__ == "__main__":
    main()

"""`python -m drift`, and the command `drift`."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

STOPPED = 130
"""The exit code of a command that Ctrl-C ended, as shells have it."""


def main() -> None:
    """Run the command line.

    While it loads, nothing is begun yet, and Ctrl-C ends the process at once. That goes on until
    the command chosen has loaded as well: see `drift.local.cli.run.begin`.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _leave)
    try:
        from drift.local.cli.app import main as run  # noqa: PLC0415 - loads while Ctrl-C may come
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("drift"):
            raise
        sys.exit(f"The command needs {error.name} and more: pip install 'drift-neo4j[local]'.")

    run()


def _leave(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"Stopped.\n")
    os._exit(STOPPED)


if __name__ == "__main__":
    main()

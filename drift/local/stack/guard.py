"""A tiny process between a command and a server: no server is left behind, even by a kill -9.

It runs as a script with the standard library alone, so that it starts in a few hundredths of a
second: `guard.py PARENT GRACE REMOVE COMMAND...`.

Standard input:  the server's environment as a line of JSON, null for this process's own. The end
                 of the input, or the parent's, terminates the server, and kills it after GRACE
                 seconds; `k` kills it at once. The folder REMOVE goes with the server.
Standard output: the server's pid, or why it cannot be started.
Standard error:  the server's output.
Exit status:     the server's; 128 and its number for a signal, as in a shell.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys

_LOOK_EVERY_S = 0.1
_PR_SET_PDEATHSIG = 1


def main() -> int:
    """Start the server that the command line names and stay until it has ended."""
    parent, grace, remove, *command = sys.argv[1:]
    environment = json.loads(sys.stdin.buffer.readline() or "null")
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def die_with_guard() -> None:
        if libc:
            libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))

    try:
        server = subprocess.Popen(  # noqa: S603 - the command comes from our own parent
            command,
            stdin=subprocess.PIPE,
            stdout=sys.stderr,
            env=environment,
            close_fds=False,  # locks, which are then held as long as any of us is there
            process_group=0,
            preexec_fn=die_with_guard,  # noqa: PLW1509 - this process has one thread
        )
    except OSError as error:
        print(error, flush=True)  # noqa: T201 - read by our parent
        return 1

    with contextlib.suppress(OSError):  # the parent may be gone
        print(server.pid, flush=True)  # noqa: T201 - the same

    order = _order(server, int(parent))
    if server.poll() is None:
        _end(server, 0.0 if order == b"k" else float(grace))
        if remove:
            shutil.rmtree(remove, ignore_errors=True)

    return server.returncode if server.returncode >= 0 else 128 - server.returncode


def _order(server: subprocess.Popen[bytes], parent: int) -> bytes:
    """Return what the parent says, or nothing when it, or the server, is gone."""
    while server.poll() is None:
        told, _, _ = select.select([sys.stdin], [], [], _LOOK_EVERY_S)
        if told:
            return os.read(sys.stdin.fileno(), 1)
        # a forked process that still holds the pipe would hide the parent's end
        if os.getppid() != parent:
            break
    return b""


def _end(server: subprocess.Popen[bytes], grace_s: float) -> None:
    """Terminate the server's process group, and kill it after `grace_s` seconds."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        if grace_s:
            _signal_group(server.pid, signal.SIGTERM)
            server.wait(grace_s)
    _signal_group(server.pid, signal.SIGKILL)
    server.wait()


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


if __name__ == "__main__":
    sys.exit(main())

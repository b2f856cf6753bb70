"""A tiny process between us and a server: the server ends with us, even after a kill -9.

It holds the read end of a pipe as its standard input: the end of that input means that its parent
is gone or wants the server to stop. It runs as a script with the standard library alone, so that it
starts in a few hundredths of a second.

Standard input:  one JSON line, the server's environment (null: our own), which command lines would
show to everybody.
                 Then its end: terminate the server, kill it after the grace. A byte before that:
                 kill at once.
Standard output: one JSON line `{"pid": 123}` when the server runs or `{"error": "..."}` when it
cannot be started, and one `{"exit": -9}` when it has ended: its exit status, or the negative number
of the signal.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

_PARENT_CHECK_S = 1.0
"""How often the parent's pid is looked at: a forked process that still holds the pipe would hide
the parent's end."""

_PR_SET_PDEATHSIG = 1


def main() -> int:
    """Start the server that the command line names and stay until it has ended."""
    options = _options()
    wake = _wake_on_signals()
    try:
        server = _start(options)
    except OSError as error:
        _tell({"error": str(error)})
        return 1
    _tell({"pid": server.pid})
    asked = _wait_for_the_end(server, wake, options.parent)
    if asked:
        _end(server, wake, 0.0 if asked == "kill" else options.grace)
    if asked and options.remove:
        shutil.rmtree(options.remove, ignore_errors=True)
    _tell({"exit": server.returncode})
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--grace", type=float, required=True)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--cwd", type=Path, required=True)
    parser.add_argument("--remove", type=Path)
    parser.add_argument("--keep", type=int, action="append", default=[])
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


def _wake_on_signals() -> int:
    """Return a descriptor that becomes readable when a child ends or somebody asks us to end."""
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    os.set_blocking(read_end, False)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    return read_end


def _start(options: argparse.Namespace) -> subprocess.Popen[bytes]:
    """Start the server in a process group of its own, with an input that ends when we do."""
    with options.log.open("ab") as log:
        return subprocess.Popen(  # noqa: S603 - the command comes from our own parent
            options.command,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=options.cwd,
            env=_environment(),
            process_group=0,
            pass_fds=options.keep,  # locks, which are then held as long as any of us is there
            preexec_fn=_death_signal(),  # noqa: PLW1509 - this process has one thread
        )


def _environment() -> dict[str, str] | None:
    """Read the first line byte by byte.

    What follows must stay in the pipe, where select() sees it.
    """
    line = bytearray()
    while (byte := os.read(sys.stdin.fileno(), 1)) not in {b"", b"\n"}:
        line += byte
    environment: dict[str, str] | None = json.loads(line or b"null")
    return environment


def _death_signal() -> Callable[[], None] | None:
    """Return what makes the kernel kill the server when this process itself is killed.

    Linux alone has it.
    """
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    return lambda: libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))


def _wait_for_the_end(server: subprocess.Popen[bytes], wake: int, parent: int) -> str:
    """Return "stop" or "kill" when the server shall end, "" when it ended by itself."""
    while True:
        readable, _, _ = select.select([sys.stdin, wake], [], [], _PARENT_CHECK_S)
        if sys.stdin in readable:
            return "kill" if os.read(sys.stdin.fileno(), 1) else "stop"
        if wake in readable and set(os.read(wake, 1024)) & {
            signal.SIGTERM,
            signal.SIGINT,
            signal.SIGHUP,
        }:
            return "stop"
        if server.poll() is not None:
            return ""
        if os.getppid() != parent:
            return "stop"


def _end(server: subprocess.Popen[bytes], wake: int, grace_s: float) -> None:
    """Terminate the server's process group.

    Kill it after `grace_s` seconds, or when our parent insists.
    """
    deadline = time.monotonic() + grace_s
    if grace_s:
        _signal_group(server.pid, signal.SIGTERM)
    open_input = [sys.stdin] if grace_s else []
    while server.poll() is None and (left := deadline - time.monotonic()) > 0:
        readable, _, _ = select.select([wake, *open_input], [], [], left)
        if wake in readable:
            os.read(wake, 1024)
        if sys.stdin in readable:
            if os.read(sys.stdin.fileno(), 1):
                break
            open_input = []
    _signal_group(server.pid, signal.SIGKILL)
    server.kill()
    server.wait()


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _tell(message: dict[str, object]) -> None:
    """Write one line to the parent, who may be gone."""
    with contextlib.suppress(OSError):
        os.write(sys.stdout.fileno(), json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main())

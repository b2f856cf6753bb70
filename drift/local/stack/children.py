"""A server as a child process: it ends with this one, however this one ends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from drift.core.errors import LocalStackError

_GUARD = Path(__file__).with_name("guard.py")
_LOG_TAIL_BYTES = 16_384
_SIGNALLED = 128
"""A higher exit status of the guard is this and the number of the signal that ended the server."""


class Child:
    """One running server behind its guard; start it from any thread."""

    def __init__(  # noqa: PLR0913 - what a process needs, all by name
        self,
        command: Sequence[str | Path],
        *,
        log: Path,
        cwd: Path,
        grace_s: float,
        env: Mapping[str, str] | None = None,
        remove: Path | None = None,
    ) -> None:
        """Start `command` with its output appended to `log`.

        On the end of this process it is terminated, killed after `grace_s` seconds, and the folder
        `remove` is deleted. `env` None means this process's own environment. Descriptors that may
        be inherited (locks) stay open in the server and its guard until they have ended.

        Raises:
            LocalStackError: when the program cannot be started at all.
        """
        self.log = log
        self._log_start = log.stat().st_size if log.exists() else 0
        self._grace_s = grace_s
        self._exit_status: int | None = None
        guard = [sys.executable, "-IS", _GUARD, os.getpid(), grace_s, remove or "", *command]
        with log.open("ab") as output:
            self._guard = subprocess.Popen(  # noqa: S603 - our own script
                list(map(str, guard)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                bufsize=0,
                cwd=cwd,
                close_fds=False,
                start_new_session=True,
            )
        assert self._guard.stdin and self._guard.stdout  # noqa: S101, PT018 - pipes
        with contextlib.suppress(BrokenPipeError):  # it could not start, and answers nothing
            self._guard.stdin.write(f"{json.dumps(env and dict(env))}\n".encode())
        with self._guard.stdout as answer:
            pid = answer.readline().decode(errors="replace").strip()

        if not pid.isdecimal():
            self.stop()
            raise LocalStackError(f"{command[0]} could not be started: {pid or 'its guard ended'}.")

        self.pid = int(pid)

    def exit_status(self) -> int | None:
        """Return None while the server runs, then its status, negative for a signal."""
        if self._exit_status is None and (status := self._guard.poll()) is not None:
            self.ask_to_end()
            if status < 0:  # the guard itself was killed
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(self.pid, signal.SIGKILL)
            self._exit_status = _SIGNALLED - status if status > _SIGNALLED else status
        return self._exit_status

    def ask_to_end(self, *, kill: bool = False) -> None:
        """Tell the guard to terminate the server, or to kill it at once, and return immediately."""
        if self._guard.stdin and not self._guard.stdin.closed:
            # closed also where the guard has ended and takes no byte any more
            with contextlib.suppress(OSError), self._guard.stdin as pipe:
                pipe.write(b"k" if kill else b"")

    def stop(self, *, kill: bool = False) -> None:
        """End the server and wait until it has ended."""
        self.ask_to_end(kill=kill)
        self.wait()

    def wait(self) -> None:
        """Wait until the server, which has ended or was told to, and its guard are gone."""
        try:
            self._guard.wait(self._grace_s + 10)
        except subprocess.TimeoutExpired:
            self._guard.kill()
            self._guard.wait()
        if self._guard.returncode < 0:
            self.exit_status()

    def log_text(self) -> str:
        """Return the log of this server since its start, at most the last 16 KiB."""
        with contextlib.suppress(OSError), self.log.open("rb") as log:
            end = log.seek(0, os.SEEK_END)
            log.seek(max(self._log_start, end - _LOG_TAIL_BYTES))
            return log.read().decode(errors="replace")
        return ""


def log_tail(text: str) -> str:
    """Return the last lines of a log, without the frames of Java stack traces."""
    kept = [
        line
        for line in text.splitlines()
        if line.strip() and not line.lstrip().startswith(("at ", "... "))
    ]
    return "\n".join(kept[-15:]) or "(it wrote nothing)"


def ending(status: int) -> str:
    """Say how a process ended: `exit status 1`, or `signal SIGKILL`."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"


def wait_until(moment: float) -> None:
    """Sleep a twentieth of a second, or until `moment` of the monotonic clock."""
    time.sleep(max(0.0, min(0.05, moment - time.monotonic())))

"""One command's use of the shared servers.

It joins them, starting what is not there, watches them, and leaves.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from drift.core.errors import LocalStackError
from drift.local import PROJECT
from drift.local.say import Say
from drift.local.stack.children import log_tail
from drift.local.stack.order import Order, Places
from drift.local.stack.record import Record, read_record, remove_record

_LOOK_EVERY_S = 0.05
_ROOM_BYTES = 1 << 20
_END_S = 60.0
"""How long the last command waits for the servers to end; they end without it as well."""


class Membership:
    """A shared lock on the servers.

    The kernel lets it go when this process ends, however it ends.
    """

    def __init__(
        self,
        folder: Path,
        order: Order,
        fetch: Callable[[], None],
        say: Say,
        ending: threading.Event,
    ) -> None:
        """Remember the folder; `fetch` is called before servers start, `ending` ends the watch."""
        self.started = False
        self.record: Record | None = None
        self.failure: LocalStackError | None = None
        self._folder = folder
        self._order = order
        self._fetch = fetch
        self._out = say
        self._ending = ending
        self._places = Places(folder)
        self._lease = self._places.commands
        self._heard = 0
        self._waits = False
        self._thread: threading.Thread | None = None

    def join(self) -> Record:
        """Have the servers running, and return what leads to them.

        Raises:
            LocalStackError: they could not be started, or the start was broken off.
        """
        self._heard = _size(self._places.remarks)
        while not self._lease.try_acquire(shared=True):
            self._wait_for_others()
        self.record = self._running(self._order)
        return self.record

    def watch(self) -> None:
        """Pass on what the servers' process says from now on; start it again when it is killed."""
        self._thread = threading.Thread(target=self._watch, name="watch-stack", daemon=True)
        self._thread.start()

    def leave(self) -> None:
        """Let the servers go; when nobody else uses them, wait until they have ended."""
        if self._thread:
            self._thread.join()
        if not self._lease.held:
            return
        self._lease.release()
        deadline = time.monotonic() + _END_S
        while not self._places.servers.is_free() and time.monotonic() < deadline:
            others = not self._lease.is_unused() and self._lease.is_free()
            if others:
                return
            time.sleep(_LOOK_EVERY_S)

    def _say(self, line: str) -> None:
        with contextlib.suppress(OSError):  # nobody reads any more: no reason to stop watching
            self._out(line)

    def _running(self, order: Order) -> Record:
        """Return the note of the servers' process, which is started when there is none."""
        began = False
        while True:
            servers = self._places.servers
            if servers.try_acquire():
                try:
                    if began:
                        raise LocalStackError(self._why_it_ended())
                    self._begin(order, servers.descriptor)
                finally:
                    servers.release()
                began = self.started = True
            # in this order: while the process lives, the note is its own
            living = not self._places.process.is_free()
            record = read_record(self._folder)
            if record and began and record.failure:
                raise LocalStackError(record.failure)
            if record and living and not record.failure:
                self._relay()
                return record
            if began:
                self._relay()
                self._pause()
            else:
                self._wait_for_others()

    def _begin(self, order: Order, lock: int) -> None:
        """Start the servers' process apart from this one and its terminal; it inherits the lock."""
        self._fetch()
        remove_record(self._folder)  # left by a process that was killed
        try:
            # a full disk is said here, not by one of the servers
            self._places.log.write_bytes(bytes(_ROOM_BYTES))
            self._places.remarks.write_bytes(b"")
            with self._places.log.open("wb") as log:
                process = subprocess.Popen(  # noqa: S603 - our own module
                    [sys.executable, "-m", "drift.local.stack.process", f"--lock={lock}"],
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=log,
                    cwd=PROJECT,
                    start_new_session=True,
                    pass_fds=(lock,),
                )
            process.communicate(order.to_json())  # it goes on as a child of nobody
        except OSError as error:
            raise LocalStackError(
                f"The data folder {self._folder} cannot be used ({error.strerror}): make room, or "
                f"name another one."
            ) from error
        self._heard = 0

    def _why_it_ended(self) -> str:
        record = read_record(self._folder)
        if record and record.failure:
            return record.failure
        with contextlib.suppress(OSError):
            log = log_tail(self._places.log.read_text(errors="replace"))
            return f"The process that runs the local servers has ended. The end of its log:\n{log}"
        return "The process that runs the local servers has ended."

    def _wait_for_others(self) -> None:
        if not self._waits:
            self._waits = True
            self._say(
                f"Process {self._places.servers.holder()} is starting or ending the local stack in "
                f"{self._folder}: waiting for it."
            )
        self._pause()

    def _pause(self) -> None:
        if self._ending.wait(_LOOK_EVERY_S):
            raise LocalStackError("The start was broken off.")

    def _watch(self) -> None:
        while not self._ending.wait(2 * _LOOK_EVERY_S):
            try:
                if self._places.process.is_free():
                    self._again()
                heard_up_to = _size(self._places.remarks)
                self.record = read_record(self._folder) or self.record
                self._relay(heard_up_to)
            except LocalStackError as error:
                self._relay()
                if not self._ending.is_set():
                    self.failure = error
                    self._say(error.detail)
                return

    def _again(self) -> None:
        """Have the servers started where they were, if their process was killed.

        Raises:
            LocalStackError: it has given up by itself, or the servers are not where they were.
        """
        before, note = self.record, read_record(self._folder)
        if not self._places.process.path.exists():
            raise LocalStackError(
                f"The data folder {self._folder} was removed, and the servers with it."
            )
        if note and note.failure:
            raise LocalStackError(note.failure)
        assert before  # noqa: S101 - join() returned it
        self._say(
            f"The process that runs the local servers in {self._folder} was killed: it is started "
            f"again."
        )
        same = replace(
            self._order,
            parts=list(before.pids),
            ports=before.ports,
            neo4j_version=before.neo4j_version,
        )
        self.record = self._running(same)
        if self.record.env != before.env:
            raise LocalStackError(
                "The local servers came back at other addresses: start this command again."
            )
        self._say("The local servers answer again.")

    def _relay(self, end: int | None = None) -> None:
        """Pass on the lines that the servers' process has written since, those before `end`.

        A note that was read after `end` was measured holds what they tell of.
        """
        with contextlib.suppress(OSError), self._places.remarks.open("rb") as file:
            file.seek(self._heard)
            for line in file:
                if not line.endswith(b"\n") or (end is not None and self._heard >= end):
                    return
                self._heard += len(line)
                self._say(line.decode(errors="replace").rstrip("\n"))


def _size(file: Path) -> int:
    with contextlib.suppress(OSError):
        return file.stat().st_size
    return 0

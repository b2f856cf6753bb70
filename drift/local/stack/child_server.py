"""The common part of the local servers: ports, waiting until ready, starting again, ending."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, Self

from drift.core.errors import LocalStackError
from drift.local.stack.children import Child, ending, log_tail, wait_until
from drift.local.stack.loopback import answers, candidates


class Server(ABC):
    """One server on the loopback address: `start()` returns when it is ready, `stop()` ends it.

    Also a context manager.
    """

    name: ClassVar[str]
    ready_s: ClassVar[float]
    """How long it may take until it is ready."""

    def __init__(
        self,
        folder: Path | None = None,
        port: int | None = None,
        *,
        preferred_port: int | None = None,
    ) -> None:
        """Name its folder, a temporary one when None, and its port.

        The port is `port`; else `preferred_port` if it is free; else a free one.
        """
        self.port = 0
        self.child: Child | None = None
        self.temporary = folder is None
        self._folder = folder
        self._asked_port = port
        self._preferred_port = preferred_port
        self._ending = threading.Event()

    @property
    def pid(self) -> int | None:
        """The server's own process."""
        return self.child.pid if self.child else None

    @property
    @abstractmethod
    def env(self) -> dict[str, str]:
        """The settings that lead to it."""

    @property
    def folder(self) -> Path:
        """Its data and logs, as an absolute path.

        Raises:
            LocalStackError: it cannot be made.
        """
        try:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix=f"drift-{self.name}-"))
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LocalStackError(
                f"The folder {self._folder} cannot be used ({error.strerror}): name another one."
            ) from error
        return self._folder.resolve()

    def exit_status(self) -> int | None:
        """Return None while the server runs or was never started, otherwise how it ended."""
        return self.child.exit_status() if self.child else None

    def start(self) -> Self:
        """Start and wait until it is ready.

        Raises:
            LocalStackError: what is missing or wrong, with the end of the server's log.
        """
        try:
            self._prepare()
            self._start_on_a_port()
        except BaseException as error:
            self.stop()
            if isinstance(error, OSError):
                raise LocalStackError(f"The {self.name} server did not start: {error}.") from error
            raise
        return self

    def restart(self) -> None:
        """Start again on the same port with the same data, after the server has ended by itself."""
        if self.child:
            self.child.wait()
        self._asked_port = self.port
        self.start()

    def ask_to_end(self) -> None:
        """Tell it to end without waiting; a start under way, in another thread, fails soon."""
        self._ending.set()
        if self.child:
            self.child.ask_to_end(kill=self.temporary)

    def stop(self) -> None:
        """End the server, cleanly when its data is kept; a temporary folder goes with it."""
        self.ask_to_end()
        if self.child:
            self.child.stop(kill=self.temporary)
            self.child = None
        if self.temporary and self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

        self._ending = threading.Event()

    def _prepare(self) -> None:  # noqa: B027 - most servers need nothing
        """See that everything the start needs is there."""

    @abstractmethod
    def _launch(self, port: int) -> Child:
        """Start the process."""

    @abstractmethod
    def _not_ready(self, child: Child, port: int) -> str:
        """Return "" when it is ready, else why not yet; a LocalStackError when it never will be."""

    def _start_on_a_port(self) -> None:
        reason, log = "it was told to end", ""
        # somebody else may take one just before the server does
        for port in candidates(self._asked_port, self._preferred_port):
            if self._ending.is_set():
                break

            self.child = self._launch(port)
            reason = self._wait(self.child, port)
            if not reason:
                self.port = port
                return

            log = self.child.log_text()
            taken_meanwhile = "in use" in log and self.child.exit_status() is not None
            if not taken_meanwhile:
                break

        raise LocalStackError(
            f"The {self.name} server did not start: {reason}. The end of its log:\n{log_tail(log)}"
        )

    def _wait(self, child: Child, port: int) -> str:
        """Return "" when the server is ready, otherwise why it is not."""
        deadline = time.monotonic() + self.ready_s
        reason = "it does not listen"
        while time.monotonic() < deadline:
            if self._ending.is_set():
                return "it was told to end"
            if (status := child.exit_status()) is not None:
                return f"it ended with {ending(status)}"
            if answers(port) and not (reason := self._not_ready(child, port)):
                return ""
            wait_until(deadline)

        from drift.local.machine import slowness  # noqa: PLC0415 - loads the driver, for this alone

        slow = f". {slow}" if (slow := slowness().removesuffix(".")) else ""
        return f"not ready after {self.ready_s:.0f} s, {reason}{slow}"

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

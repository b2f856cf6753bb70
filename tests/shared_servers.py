"""One server for all workers of a run: the process that started the workers runs it.

A worker asks for it by name over a socket. The first question starts the server, and it ends with
the run: a worker that dies takes nothing from the others.
"""

from __future__ import annotations

import secrets
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any

from drift.core.errors import LocalStackError
from drift.local.stack.child_server import Server

Address = tuple[str, str]
"""Where a worker asks, and the key that lets it in."""

Facts = dict[str, Any]
"""What a worker has to know of a server: its port and, if it has one, its password."""


@dataclass
class SharedServers:
    """Runs servers and tells every worker where they are."""

    starts: Mapping[str, Callable[[], Server]]
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    _running: dict[str, Server] = field(default_factory=dict)
    _until_stopped: ExitStack = field(default_factory=ExitStack)
    _one_start: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        folder = self._until_stopped.enter_context(
            tempfile.TemporaryDirectory(prefix="drift-tests-")
        )
        self._listener = Listener(str(Path(folder) / "servers"), authkey=self._key)
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def address(self) -> Address:
        """What a worker needs to ask."""
        return str(self._listener.address), self._key.hex()

    def stop(self) -> None:
        """End the servers."""
        with self._one_start:
            self._listener.close()
            self._until_stopped.close()

    def _listen(self) -> None:
        with suppress(OSError):  # closed
            while True:
                worker = self._listener.accept()
                threading.Thread(target=self._answer, args=(worker,), daemon=True).start()

    def _answer(self, worker: Connection) -> None:
        with worker, suppress(EOFError, OSError):  # the worker has died
            name = worker.recv()
            try:
                worker.send(self._facts(name))
            except LocalStackError as error:
                worker.send(error)

    def _facts(self, name: str) -> Facts:
        with self._one_start:
            if name not in self._running:
                server = self._until_stopped.enter_context(self.starts[name]())
                self._running[name] = server
            server = self._running[name]
            return {"port": server.port, "password": getattr(server, "password", None)}


def ask_for(name: str, address: Address) -> Facts:
    """Return the facts of a server, which runs from now on.

    Raises:
        LocalStackError: it does not start.
    """
    path, key = address
    with Client(path, authkey=bytes.fromhex(key)) as connection:
        connection.send(name)
        answer: Facts | LocalStackError = connection.recv()
    if isinstance(answer, LocalStackError):
        raise answer
    return answer

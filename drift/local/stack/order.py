"""What a command asks of the process that runs the servers, as it travels between the two."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from drift.local.stack.locks import FileLock

USUAL_PORTS = {"neo4j": 17687, "valkey": 16379, "model": 18080}
"""Those of local.settings.json.example, away from what else may run here; when one is not free,
that of last time or any free one."""


@dataclass(frozen=True, slots=True)
class Order:
    """The parts to start in a data folder, and how; a port that is named is used or none is."""

    folder: str
    parts: list[str]
    neo4j_version: str
    cache: str
    ports: dict[str, int]
    password: str | None
    heap: str
    pagecache: str
    java_home: str | None

    def to_json(self) -> bytes:
        """Return the order as it is sent."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, text: bytes) -> Order:
        """Return the order that was sent."""
        return cls(**json.loads(text))


@dataclass(frozen=True, slots=True)
class Places:
    """The files of a data folder by which its commands and the servers' process know of each other.

    The kernel lets a lock go with the processes that hold it, so that no pid has to be believed.
    """

    folder: Path

    @property
    def servers(self) -> FileLock:
        """The lock of the servers' process, of the servers and of their guards.

        It is free when nothing runs any more.
        """
        return FileLock(self.folder / "lock")

    @property
    def process(self) -> FileLock:
        """Held by the servers' process alone: while it is held, the note beside it is true."""
        return FileLock(self.folder / "process.lock")

    @property
    def commands(self) -> FileLock:
        """The lock that all commands which use the servers share.

        The servers' process holds it alone from when it ends them.
        """
        return FileLock(self.folder / "commands.lock")

    @property
    def remarks(self) -> Path:
        """What the servers' process has to say to people, a line each."""
        return self.folder / "remarks.log"

    @property
    def log(self) -> Path:
        """What else it writes: nothing, unless it fails in a way that nobody foresaw."""
        return self.folder / "stack.log"

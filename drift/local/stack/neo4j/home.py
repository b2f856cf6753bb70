"""The folder of a Neo4j server: configuration, first password, what is kept between starts."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from drift.core.errors import LocalStackError
from drift.local.stack.loopback import HOST

PUBLISHED_PASSWORD = "drift-on-loopback-only"  # noqa: S105 - everybody knows it
"""That of docker-compose.yml, which local servers had before each got one of its own."""

_ROUNDS = 1024


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory that the server may use, in Java's notation."""

    heap: str = "512m"
    pagecache: str = "128m"


def home_in(data_dir: Path, version: str) -> Path:
    """Return where a data folder keeps the server of a version."""
    return data_dir / f"neo4j-{version.partition('.')[0]}"


class Neo4jHome:
    """One such folder; its password and version stand in `login.json`, mode 0600.

    `server.json` was that before, and is left to who has the password of then.
    """

    def __init__(self, folder: Path) -> None:
        """Name the folder; nothing is read or made yet."""
        self.folder = folder
        self._record = folder / "login.json"

    @property
    def log(self) -> Path:
        """Where the server's output goes."""
        return self.folder / "logs" / "console.log"

    def prepare(self, version: str, password: str | None) -> str:
        """Make the folder ready for this version and return the password of its user `neo4j`.

        Raises:
            LocalStackError: it cannot be written, was written by a version that does not fit, or
                its password is unknown.
        """
        try:
            for name in ("conf", "data/dbms", "logs", "import", "plugins", "run"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
            has_data = (self.folder / "data" / "databases").exists()
            return (self._resume if has_data else self._begin)(version, password)
        except OSError as error:
            raise LocalStackError(
                f"The data folder {self.folder} cannot be used: {error}. Name another one."
            ) from error

    def configure(self, port: int, memory: Memory, settings: Mapping[str, str]) -> None:
        """Write `neo4j.conf`: Bolt on loopback alone, nothing reported; `settings` win."""
        written = {
            "server.default_listen_address": HOST,
            "server.bolt.listen_address": f"{HOST}:{port}",
            "server.bolt.advertised_address": f"{HOST}:{port}",
            "server.http.enabled": "false",
            "server.https.enabled": "false",
            "server.memory.pagecache.size": memory.pagecache,
            "dbms.usage_report.enabled": "false",
            "client.allow_telemetry": "false",
            "server.fleet_discovery.enabled": "false",
            "dbms.fleet_manager.enabled": "false",
            "db.tx_log.preallocate": "false",
            "db.tx_log.rotation.retention_policy": "keep_none",
            # Bolt would wait twice for five quiet seconds after the databases are closed.
            "internal.dbms.bolt.netty_server_shutdown_quiet_period": "0",
            # A version that lacks one of these settings says so in its log and starts.
            "server.config.strict_validation.enabled": "false",
            **settings,
        }
        lines = "".join(f"{name}={value}\n" for name, value in written.items())
        (self.folder / "conf" / "neo4j.conf").write_text(lines)

    def _begin(self, version: str, password: str | None) -> str:
        password = password or _new_password()
        (self.folder / "data" / "dbms" / "auth.ini").write_text(_credentials(password))
        self._remember(version, password)
        return password

    def _resume(self, version: str, password: str | None) -> str:
        known = self._recall()
        if not (password or known.get("password")):
            raise LocalStackError(
                f"{self.folder} holds a database, but {self._record.name} with its password is "
                'missing: write {"password": "..."} into that file, or delete the folder to begin '
                "with an empty database."
            )

        written_by = known.get("version", version)
        old, new = _order(written_by), _order(version)
        if new < old or new[0] != old[0] == _LTS:
            raise LocalStackError(
                f"{self.folder} was written by Neo4j {written_by}, which {version} does not open: "
                "start that version, name another folder, or delete this one."
            )

        if not password:
            password = known["password"]
            if password == PUBLISHED_PASSWORD:  # the server gets the new one when it runs
                password = _new_password()
        self._remember(version, password)
        return password

    def _recall(self) -> dict[str, str]:
        for file in (self._record, self.folder / "server.json"):
            with suppress(OSError, ValueError):
                known: dict[str, str] = json.loads(file.read_text())
                if isinstance(known, dict):
                    return known
        return {}

    def _remember(self, version: str, password: str) -> None:
        draft = self._record.with_suffix(".draft")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump({"version": version, "password": password}, file)
        draft.replace(self._record)


_LTS = 5


def _new_password() -> str:
    return secrets.token_urlsafe(18)


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _credentials(password: str) -> str:
    """Return the line that `neo4j-admin dbms set-initial-password` leaves: salted SHA-256."""
    salt = secrets.token_bytes(32)
    digest = hashlib.sha256(salt + password.encode()).digest()
    for _ in range(_ROUNDS - 1):
        digest = hashlib.sha256(digest).digest()
    return f"neo4j:SHA-256,{digest.hex().upper()},{salt.hex().upper()},{_ROUNDS}:\n"

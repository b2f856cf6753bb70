"""The process that keeps the local servers of a data folder while any command uses them.

`python -m drift.local.stack.keeper FOLDER` reads a request, one JSON object, from standard input.
Each line of its output is a JSON object too: `say` is for people, `failed` is why it gives up. It
ends at once, with 0, where another keeper holds the folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from drift.core.errors import LocalStackError
from drift.local.stack.child_server import Server
from drift.local.stack.children import ending
from drift.local.stack.locks import flock, try_lock
from drift.local.stack.loopback import is_free
from drift.local.stack.model_process import ModelProcess
from drift.local.stack.neo4j.home import Memory, home_in
from drift.local.stack.neo4j.server import Neo4jServer
from drift.local.stack.record import Record, lock_of, read_record, users_of, write_record
from drift.local.stack.valkey_server import ValkeyServer

USUAL_PORTS = {"neo4j": 17687, "valkey": 16379, "model": 18080}
"""Those of local.settings.json.example, away from what else may run here; when one is not free,
that of last time or any free one."""

MAX_RESTARTS = 3
WINDOW_S = 60.0
"""A server that ends more than MAX_RESTARTS times in this time is given up."""
LOOK_EVERY_S = 0.1


def main() -> int:
    """Keep the servers until nobody uses them; return 1 when they are given up."""
    folder, request = Path(sys.argv[1]), json.load(sys.stdin)
    lock = try_lock(lock_of(folder))
    if lock is None:
        return 0

    os.set_inheritable(lock, True)  # the servers and their guards hold it too
    with contextlib.suppress(OSError):  # a full disk: it is for people who wait
        os.truncate(lock, 0)
        os.write(lock, str(os.getpid()).encode())

    keeper = Keeper(folder, request)
    threading.Thread(target=keeper.end_without_users, daemon=True).start()
    try:
        keeper.keep()
    except (LocalStackError, OSError) as error:
        if not keeper.unused.is_set():  # else a start was broken off
            _tell(failed=str(error))
            return 1
    finally:
        keeper.end()
    return 0


class Keeper:
    """The servers of one data folder: started beside each other, kept running, ended."""

    def __init__(self, folder: Path, request: Mapping[str, Any]) -> None:
        """Take what to start; nothing is started yet."""
        self._folder = folder
        self._request = dict(request)
        self._last = read_record(folder).ports
        self._servers = _servers(folder, request, self._last)
        self._restarts = {one.name: deque[float](maxlen=MAX_RESTARTS) for one in self._servers}
        self.unused = threading.Event()
        """Set when no command uses the servers any more."""

    def end_without_users(self) -> None:
        """End the servers as soon as no command uses them, or their folder was removed.

        The lock of the users is held from then on, so that nobody joins servers that end.
        """
        with contextlib.suppress(OSError):  # the folder was removed: nothing is made in it again
            users = os.open(users_of(self._folder), os.O_RDWR)
            while lock_of(self._folder).exists() and os.fstat(users).st_nlink and not flock(users):
                time.sleep(LOOK_EVERY_S)
        self.unused.set()
        for server in self._servers:
            server.ask_to_end()

    def keep(self) -> None:
        """Start the servers, and again what ends by itself; return when nobody uses them.

        Raises:
            LocalStackError: a server cannot be started, or is given up.
        """
        write_record(self._folder, Record(self._last))  # a killed keeper has left more
        self._start()
        self._publish()
        while not self.unused.wait(LOOK_EVERY_S):
            self._restart_ended()

    def end(self) -> None:
        """End the servers."""
        if lock_of(self._folder).exists() and users_of(self._folder).exists():  # not removed
            with contextlib.suppress(LocalStackError):
                write_record(self._folder, Record(read_record(self._folder).ports))
        with ThreadPoolExecutor(len(self._servers)) as pool:
            list(pool.map(lambda server: server.stop(), self._servers))

    def _start(self) -> None:
        with ThreadPoolExecutor(len(self._servers)) as pool:
            starts = [pool.submit(self._start_one, server) for server in self._servers]
            try:
                for start in wait(starts, return_when=FIRST_EXCEPTION).done:
                    start.result()
            except BaseException:
                for server in self._servers:  # nobody waits for those that are not ready yet
                    server.ask_to_end()
                raise

    def _start_one(self, server: Server) -> None:
        began = time.monotonic()
        server.start()
        _tell(say=f"The {server.name} server answers, after {time.monotonic() - began:.1f} s.")

    def _publish(self) -> None:
        record = Record(
            {**self._last, **{one.name: one.port for one in self._servers}},
            {name: value for one in self._servers for name, value in one.env.items()},
            {one.name: one.pid for one in self._servers if one.pid},
            self._request,
        )
        write_record(self._folder, record)

    def _restart_ended(self) -> None:
        for server in self._servers:
            if (status := server.exit_status()) is not None and not self.unused.is_set():
                self._restart(server, f"(pid {server.pid}) ended with {ending(status)}")
                self._publish()  # before it is said: who hears it may read that
                _tell(say=f"The {server.name} server answers again (pid {server.pid}).")

    def _restart(self, server: Server, how: str) -> None:
        now, restarts = time.monotonic(), self._restarts[server.name]
        log = server.child.log if server.child else "gone"
        if len(restarts) == MAX_RESTARTS and now - restarts[0] < WINDOW_S:
            raise LocalStackError(
                f"The {server.name} server {how}, for the fourth time within {WINDOW_S:.0f} s: it "
                f"is given up. Its log is {log}."
            )

        restarts.append(now)
        _tell(say=f"The {server.name} server {how}. Its log is {log}. It is started again.")
        server.restart()


def _servers(folder: Path, request: Mapping[str, Any], last: Mapping[str, int]) -> Sequence[Server]:
    """Return the servers that a request asks for, each at its port or one that it would have."""
    ports, version = request["ports"], request["version"]
    preferred = {
        name: port if is_free(port) else last.get(name, port) for name, port in USUAL_PORTS.items()
    }
    neo4j = Neo4jServer(
        version,
        folder=home_in(folder, version),
        port=ports.get("neo4j"),
        preferred_port=preferred["neo4j"],
        cache=Path(request["cache"]) if request["cache"] else None,
        java_home=Path(request["java_home"]) if request["java_home"] else None,
        memory=Memory(**request["memory"]) if request["memory"] else None,
        say=lambda line: _tell(say=line),
    )
    servers = [
        neo4j,
        ValkeyServer(folder / "valkey", ports.get("valkey"), preferred_port=preferred["valkey"]),
        ModelProcess(folder / "model", ports.get("model"), preferred_port=preferred["model"]),
    ]
    return [one for one in servers if one.name in request["parts"]]


def _tell(**said: str) -> None:
    """Tell the commands, each line in one write: several threads do."""
    line = json.dumps({**said, "keeper": os.getpid()}) + "\n"
    with contextlib.suppress(OSError):  # a full disk ends no server
        os.write(sys.stdout.fileno(), line.encode())


if __name__ == "__main__":
    sys.exit(main())

"""The process that runs the servers of a data folder for all commands that share them.

It ends with the last of them.

`python -m drift.local.stack.process --lock FD` takes an order (`drift.local.stack.order`) on
standard input and leaves its parent at once. `FD` is the descriptor of the locked file `lock`. What
it has to tell stands in `stack.json` and `remarks.log`. A command holds a shared lock while it uses
the servers; when this process gets that lock for itself, nobody does any more, and it ends them.
Neither asks for a pid, so that nothing depends on how a command has ended.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from drift.core.errors import LocalStackError
from drift.local.stack.keeper import Keeper
from drift.local.stack.loopback import is_free
from drift.local.stack.model_process import ModelProcess
from drift.local.stack.neo4j.home import Memory
from drift.local.stack.neo4j.server import Neo4jServer
from drift.local.stack.order import USUAL_PORTS, Order, Places
from drift.local.stack.record import Record, read_ports, remove_record, write_ports, write_record
from drift.local.stack.server import Server
from drift.local.stack.valkey_server import ValkeyServer

_LOOK_EVERY_S = 0.1
_ALIVE_S = 10.0
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class StackProcess:
    """The servers of one order, from their start to their end."""

    def __init__(self, order: Order, lock: int) -> None:
        """Make the servers.

        They and this process hold the descriptor `lock` until they have ended.
        """
        self._order = order
        self._folder = Path(order.folder)
        self._places = Places(self._folder)
        self._commands = self._places.commands
        self._told_to_end = threading.Event()
        self._publishing = threading.Lock()
        self._keepers: list[Keeper] = []
        self._servers = [server for server in self._all_servers() if server.name in order.parts]
        for server in self._servers:
            server.keep_open = (lock,)

    def run(self) -> int:
        """Run the servers until nobody uses them.

        Return 0, or 1 when they failed, which the note then says.
        """
        alive = self._places.process
        if not alive.acquire(_ALIVE_S):  # commands that look at it hold it for a moment
            return 1
        for number in _SIGNALS:
            signal.signal(number, lambda *_: self._told_to_end.set())

        failure = ""
        try:
            self._start_servers()
            while not self._is_over():
                time.sleep(_LOOK_EVERY_S)
        except LocalStackError as error:
            failure = error.detail
        remove_record(self._folder)
        self._end_servers()
        if failure:
            sys.stderr.write(f"{failure}\n")
            self._note(failure)
        return 1 if failure else 0

    def _is_over(self) -> bool:
        """Say whether the last command has gone; from then on none can come.

        Raises:
            LocalStackError: a server is given up, or somebody told this process to end.
        """
        for keeper in self._keepers:
            if keeper.failure:
                raise keeper.failure
        if self._told_to_end.is_set():
            raise LocalStackError(
                "The process that ran the local servers was told to end, by a signal."
            )
        return self._commands.held or self._commands.try_acquire()

    def _start_servers(self) -> None:
        failures: list[Exception] = []
        with ThreadPoolExecutor(len(self._servers)) as pool:
            starts = [pool.submit(self._start_one, server, failures) for server in self._servers]
            try:
                while not all(start.done() for start in starts) and not self._is_over():
                    time.sleep(_LOOK_EVERY_S / 2)
            finally:  # nobody waits for those that are not ready yet
                for server, start in zip(self._servers, starts, strict=True):
                    if not start.done():
                        server.ask_to_end()
        if self._commands.held:
            return
        if failures:
            error = failures[0]
            raise (
                error
                if isinstance(error, LocalStackError)
                else LocalStackError(f"{type(error).__name__}: {error}")
            )
        write_ports(self._folder, {server.name: server.port for server in self._servers})
        self._publish()
        self._keepers = [Keeper(server, self._say, self._publish) for server in self._servers]
        for keeper in self._keepers:
            keeper.start()

    def _start_one(self, server: Server, failures: list[Exception]) -> None:
        """Start it; the first failure ends the other starts, which fail for that reason later."""
        began = time.monotonic()
        try:
            server.start()
        except Exception as error:  # noqa: BLE001 - told by the caller, in its own thread
            failures.append(error)
            for other in self._servers:
                other.ask_to_end()
        else:
            self._say(f"The {server.name} server answers, after {time.monotonic() - began:.1f} s.")

    def _end_servers(self) -> None:
        for keeper in self._keepers:
            keeper.stop()
        with ThreadPoolExecutor(len(self._servers)) as pool:
            list(pool.map(lambda server: server.stop(), self._servers))

    def _all_servers(self) -> list[Server]:
        order, last = self._order, read_ports(self._folder)
        preferred = {
            name: port if is_free(port) else last.get(name, port)
            for name, port in USUAL_PORTS.items()
        }
        return [
            Neo4jServer(
                order.neo4j_version,
                folder=self._folder / f"neo4j-{order.neo4j_version.split('.')[0]}",
                port=order.ports.get("neo4j"),
                preferred_port=preferred["neo4j"],
                password=order.password,
                cache=Path(order.cache),
                java_home=Path(order.java_home) if order.java_home else None,
                memory=Memory(order.heap, order.pagecache),
                say=self._say,
            ),
            ValkeyServer(
                self._folder / "valkey",
                order.ports.get("valkey"),
                preferred_port=preferred["valkey"],
            ),
            ModelProcess(
                self._folder / "model", order.ports.get("model"), preferred_port=preferred["model"]
            ),
        ]

    def _publish(self) -> None:
        """Leave the settings of the servers for commands."""
        with self._publishing:
            self._note()

    def _note(self, failure: str = "") -> None:
        env = {name: value for server in self._servers for name, value in server.env.items()}
        pids = {server.name: server.pid for server in self._servers if server.pid}
        ports = {server.name: server.port for server in self._servers}
        write_record(self._folder, Record(env, pids, ports, self._order.neo4j_version, failure))

    def _say(self, line: str) -> None:
        with self._places.remarks.open("a") as file:
            file.write(f"{' '.join(line.splitlines())}\n")


def main() -> int:
    """Take the order, leave the parent, and run the servers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lock", type=int, required=True)
    lock = parser.parse_args().lock
    order = Order.from_json(sys.stdin.buffer.read())
    if os.fork():
        os._exit(0)  # the command that waits for this one need not bury the other
    return StackProcess(order, lock).run()


if __name__ == "__main__":
    sys.exit(main())

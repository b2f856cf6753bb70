"""The servers of a data folder in the hands of their owner: started, kept running, ended."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

from drift.core.errors import LocalStackError
from drift.local.say import Say
from drift.local.stack.children import ending
from drift.local.stack.server import Server

MAX_RESTARTS = 3
WINDOW_S = 60.0
"""A server that ends more than MAX_RESTARTS times in this time is given up."""


class Supervisor:
    """Runs servers beside each other; its methods block."""

    def __init__(self, servers: Sequence[Server], say: Say) -> None:
        """Take servers that were not started."""
        self.servers = servers
        self._say = say
        self._restarts = {server.name: deque[float](maxlen=MAX_RESTARTS) for server in servers}

    def start(self) -> None:
        """Start the servers; returns when all answer.

        Raises:
            LocalStackError: the first that cannot be started, in its words; none runs then.
        """
        with ThreadPoolExecutor(len(self.servers)) as pool:
            starts = [pool.submit(self._start_one, server) for server in self.servers]
            try:
                for start in wait(starts, return_when=FIRST_EXCEPTION).done:
                    start.result()
            except BaseException:
                self.ask_to_end()  # nobody waits for those that are not ready yet
                wait(starts)
                self.stop()
                raise

    def restart_ended(self) -> list[str]:
        """Start the servers again that have ended by themselves, and return what to say of it.

        That is true once the caller has written down where they are.

        Raises:
            LocalStackError: a server cannot be started again, or is given up.
        """
        return [
            self._restart(server, ending(status))
            for server in self.servers
            if (status := server.exit_status()) is not None
        ]

    def ask_to_end(self) -> None:
        """Tell the servers to end without waiting; starts under way, in other threads, fail."""
        for server in self.servers:
            server.ask_to_end()

    def stop(self) -> None:
        """End the servers."""
        with ThreadPoolExecutor(len(self.servers)) as pool:
            list(pool.map(lambda server: server.stop(), self.servers))

    def leave(self) -> None:
        """Leave the servers to those who use them."""
        for server in self.servers:
            if server.child:
                server.child.leave()

    def _start_one(self, server: Server) -> None:
        began = time.monotonic()
        server.start()
        self._say(f"The {server.name} server answers, after {time.monotonic() - began:.1f} s.")

    def _restart(self, server: Server, how: str) -> str:
        now = time.monotonic()
        restarts = self._restarts[server.name]
        what = f"The {server.name} server (pid {server.pid}) ended with {how}"
        log = server.child.log if server.child else "gone"
        if len(restarts) == MAX_RESTARTS and now - restarts[0] < WINDOW_S:
            raise LocalStackError(
                f"{what}, for the fourth time within {WINDOW_S:.0f} s: it is given up. Its log is "
                f"{log}."
            )

        restarts.append(now)
        self._say(f"{what}. Its log is {log}. It is started again.")
        server.restart()
        return f"The {server.name} server answers again (pid {server.pid})."

"""Keeps a server running: when it ends by itself, it says so and starts it again, a few times."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from drift.core.errors import LocalStackError
from drift.local.say import Say
from drift.local.stack.children import ending
from drift.local.stack.server import Server

MAX_RESTARTS = 3
WINDOW_S = 60.0
"""A server that ends more than MAX_RESTARTS times in this time is given up."""

_LOOK_EVERY_S = 0.2


class Keeper:
    """Watches one started server in a thread of its own."""

    def __init__(self, server: Server, say: Say, changed: Callable[[], None]) -> None:
        """`changed` is called after each restart, from the thread."""
        self.failure: LocalStackError | None = None
        self._server = server
        self._say = say
        self._changed = changed
        self._ending = threading.Event()
        self._restarts: deque[float] = deque(maxlen=MAX_RESTARTS)
        self._thread = threading.Thread(target=self._run, name=f"keep-{server.name}", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> None:
        """Stop watching; a restart under way is broken off."""
        self._ending.set()
        self._server.ask_to_end()
        self._thread.join()

    def _run(self) -> None:
        while not self._ending.wait(_LOOK_EVERY_S):
            status = self._server.exit_status()
            if status is None or self._ending.is_set():
                continue
            try:
                self._again(
                    f"The {self._server.name} server (pid {self._server.pid}) ended with "
                    f"{ending(status)}"
                )
            except LocalStackError as error:
                if not self._ending.is_set():
                    self.failure = error
                return

    def _again(self, what: str) -> None:
        now = time.monotonic()
        full = len(self._restarts) == MAX_RESTARTS
        log = self._server.child.log if self._server.child else "gone"
        if full and now - self._restarts[0] < WINDOW_S:
            raise LocalStackError(
                f"{what}, for the fourth time within {WINDOW_S:.0f} s: it is given up. Its log is "
                f"{log}."
            )
        self._restarts.append(now)
        self._say(f"{what}. Its log is {log}. It is started again.")
        self._server.restart()
        self._changed()  # before it is said: who hears it reads the note
        self._say(f"The {self._server.name} server answers again (pid {self._server.pid}).")

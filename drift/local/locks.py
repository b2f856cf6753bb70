"""A lock on a file that ends with the processes that hold it, however they end."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
from pathlib import Path

from drift.local.children import wait_until


class FileLock:
    """An exclusive lock; it is held while any process holds its descriptor."""

    def __init__(self, path: Path) -> None:
        """Name the file; nothing is opened yet."""
        self.path = path
        self.descriptor = -1

    @property
    def held(self) -> bool:
        """Say whether this object holds the lock."""
        return self.descriptor >= 0

    def try_acquire(self) -> bool:
        """Take the lock if nobody holds it; write our pid into the file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return False
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        self.descriptor = descriptor
        return True

    def is_free(self) -> bool:
        """Say whether nobody holds the lock at this moment."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY)
        except OSError:
            return True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return False
        finally:
            os.close(descriptor)
        return True

    def acquire(self, timeout_s: float, cancelled: threading.Event | None = None) -> bool:
        """Wait for the lock, at most `timeout_s` seconds; False when it is still held or the wait was cancelled."""
        deadline = time.monotonic() + timeout_s
        while not self.try_acquire():
            if time.monotonic() >= deadline or (cancelled and cancelled.is_set()):
                return False
            wait_until(deadline)
        return True

    def release(self) -> None:
        """Let go; processes that inherited the descriptor may still hold the lock."""
        if self.held:
            os.close(self.descriptor)
            self.descriptor = -1

    def holder(self) -> int | None:
        """Return the pid that last took the lock, as far as the file says."""
        with contextlib.suppress(OSError, ValueError):
            return int(self.path.read_text())
        return None

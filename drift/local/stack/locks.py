"""Locks on files that end with the processes that hold them, however they end."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from drift.core.errors import LocalStackError


def try_lock(path: Path, *, shared: bool = False) -> int | None:
    """Return the descriptor of a file whose lock is taken now; None when somebody else has it.

    The lock is held while any process has the descriptor open.

    Raises:
        LocalStackError: the file cannot be opened or locked at all.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise LocalStackError(
            f"The file {path} cannot be used ({error.strerror}): free the way, or name another "
            f"folder."
        ) from error

    try:
        if flock(descriptor, shared=shared):
            return descriptor
    except OSError as error:
        os.close(descriptor)
        raise LocalStackError(
            f"The file system of {path} cannot lock files ({error.strerror}): name a folder on "
            f"another one."
        ) from error

    os.close(descriptor)
    return None


def flock(descriptor: int, *, shared: bool = False) -> bool:
    """Take the lock of an open file, if nobody else has it; say whether it was taken."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_NB | (fcntl.LOCK_SH if shared else fcntl.LOCK_EX))
    except BlockingIOError:
        return False
    return True


def is_unlocked(path: Path) -> bool:
    """Say whether nobody holds the lock of a file, which may not be there."""
    if not path.exists():
        return True
    descriptor = try_lock(path, shared=True)
    unlock(descriptor)
    return descriptor is not None


def unlock(descriptor: int | None) -> None:
    """Let go of a lock, if it was taken; processes that inherited it may still hold it."""
    if descriptor is not None:
        os.close(descriptor)

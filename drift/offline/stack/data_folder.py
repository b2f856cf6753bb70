"""Whether the folder of the local servers' data can be used, before anything starts in it."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from drift.errors import LocalStackError

MIN_FREE_BYTES = 200_000_000
"""What an empty database and its logs want, with room for some documents."""

_FILES = ("lock", "process.lock", "commands.lock", "stack.json", "ports.json")
_SOME_BYTES = b"\0" * 65536


class DataFolderError(LocalStackError):
    """The data folder cannot be used as it is; nothing was started."""


def check_data_folder(folder: Path) -> int:
    """Return how many bytes are free for the folder, made or not yet; nothing is left in it.

    Raises:
        DataFolderError: it is no folder, cannot be written, holds folders in the place of files, or
            its disk is full.
    """
    folder = folder.absolute()
    if os.fsencode(folder).decode(errors="replace").encode() != os.fsencode(folder):
        raise _refused(folder, "its path is not valid UTF-8")
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    try:
        if not there.is_dir():
            raise _refused(folder, f"{there} is no folder")
        for name in _FILES:
            if (folder / name).is_dir():
                raise _refused(folder, f"its `{name}` is a folder and must be a file: remove it")
        _write_something(there)
        free = shutil.disk_usage(there).free
    except OSError as error:
        raise _refused(folder, error.strerror or str(error)) from error
    if free < MIN_FREE_BYTES and not (folder / "stack.json").exists():
        raise _refused(
            folder,
            f"its disk has {free // 1_000_000:,} MB free, and {MIN_FREE_BYTES // 1_000_000} are "
            f"needed",
        )
    return free


def _write_something(folder: Path) -> None:
    """Write and remove a small file.

    Rights, read-only disks, quotas and full disks all show in that.
    """
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".try-") as file:
        file.write(_SOME_BYTES)
        file.flush()
        os.fsync(file.fileno())


def _refused(folder: Path, why: str) -> DataFolderError:
    return DataFolderError(
        f"The data folder {folder} cannot be used: {why}. Name another one with --data-dir."
    )

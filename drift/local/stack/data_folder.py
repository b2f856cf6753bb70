"""Which folder holds the local servers' data, and whether it can be used, before any starts."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from drift.core.errors import LocalStackError
from drift.local import PROJECT
from drift.local.say import Say
from drift.local.stack.record import running_record

NAME = ".drift"
"""The data folder of a folder and of all below it."""
MIN_FREE_BYTES = 200_000_000
"""What an empty database and its logs want, with room for some documents."""

_FILES = ("lock", "stack.json")
_SOME_BYTES = b"\0" * 65536


class DataFolderError(LocalStackError):
    """The data folder cannot be used as it is; nothing was started."""


def find_data_folder(here: Path, users_own: Path, say: Say) -> Path:
    """Return the data folder for who works in a folder, made or not yet.

    That is the nearest `.drift` of that folder or of one above it, as git looks for its own. A
    clone of this project has one of its own, also before it is made. Elsewhere it is the user's
    own. One of another user is passed over, and said: what stands in it names servers.
    """
    for folder in (here, *here.parents):
        found = folder / NAME
        if folder == PROJECT:
            return found

        try:
            if not found.is_dir():
                continue
            if found.stat().st_uid == os.geteuid():
                return found
        except OSError:  # nobody may look into this folder
            continue

        say(
            f"Passed over {found}, which belongs to another user: --data-dir takes it all the same."
        )
    return users_own


def users_data_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of the user's own data, where programs keep them on this system."""
    if sys.platform == "darwin":
        data = Path.home() / "Library/Application Support"
    else:
        named = Path(environment.get("XDG_DATA_HOME", ""))
        data = named if named.is_absolute() else Path.home() / ".local/share"
    return data / "drift-neo4j"


def make_data_folder(folder: Path) -> None:
    """Make the folder where it is missing: other users may not read what is stored, nor git."""
    new = not folder.exists()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # another command may be as fast
    if new:
        (folder / ".gitignore").write_text("*\n")


def check_holds_graph(folder: Path) -> None:
    """Refuse a folder in which no graph was ever stored, for who only reads.

    Raises:
        DataFolderError: nothing was stored there.
    """
    if any(folder.glob("neo4j-*")):
        return
    raise DataFolderError(
        f"Nothing was ingested yet: the data folder {folder.absolute()} holds no graph. "
        f"`drift ingest FOLDER --project NAME` fills it, and `drift ingest --sample` with the "
        f"Python reference manual. A data folder elsewhere is named with --data-dir."
    )


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

    if free < MIN_FREE_BYTES and not running_record(folder):
        raise _refused(
            folder,
            f"its disk has {free // 1_000_000:,} MB free, and {MIN_FREE_BYTES // 1_000_000} are "
            f"needed",
        )

    return free


def _write_something(folder: Path) -> None:
    """Write a small file: rights, read-only disks, quotas and full disks all show in that."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".try-") as file:
        file.write(_SOME_BYTES)
        file.flush()
        os.fsync(file.fileno())


def _refused(folder: Path, why: str) -> DataFolderError:
    return DataFolderError(
        f"The data folder {folder} cannot be used: {why}. Name another one with --data-dir."
    )

"""Original files in a folder."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from drift.core.errors import DocumentStoreError
from drift.originals import NOT_ANSWERING

PART_BYTES = 1 << 18
_Done = TypeVar("_Done")


class FolderStore:
    """Keeps files in a folder that is made where it is missing, for its owner alone."""

    def __init__(self, folder: Path) -> None:
        """Make nothing yet."""
        self.folder = folder

    async def size(self, name: str) -> int | None:
        """Return how many bytes a file has; None where it is not kept."""
        found = await _done((self.folder / name).stat)
        return found and found.st_size

    async def read(self, name: str, begin: int, end: int) -> AsyncIterator[bytes]:
        """Yield a part of a file; nothing where it is not kept."""
        if file := await _done(lambda: (self.folder / name).open("rb")):
            with file:
                file.seek(begin)
                while part := await _done(partial(file.read, min(end - file.tell(), PART_BYTES))):
                    yield part

    async def put(self, name: str, content: bytes) -> None:
        """Keep a file, in the place of one of this name; who breaks it off waits for it."""
        work = asyncio.ensure_future(_done(partial(self._put, self.folder / name, content)))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            await asyncio.wait({work})  # no file comes once the project is another's to write
            raise

    async def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        await _done((self.folder / name).unlink)

    async def close(self) -> None:
        """Do nothing: no file is open."""

    def _put(self, path: Path, content: bytes) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.mkdir(exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise


async def _done(work: Callable[[], _Done]) -> _Done | None:
    """Return what work on the disk gives, which is done in a thread; None where nothing is."""
    try:
        return await asyncio.to_thread(work)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DocumentStoreError(NOT_ANSWERING) from error

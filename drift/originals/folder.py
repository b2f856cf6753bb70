"""Original files in a folder."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from drift.core.errors import ContentNotKeptError, DocumentStoreError

PART_BYTES = 1 << 18


class FolderStore:
    """Keeps files below a folder that its owner alone can read; a file is there whole or not."""

    def __init__(self, folder: Path) -> None:
        """Make nothing yet."""
        self._folder = folder

    async def size(self, name: str) -> int | None:
        """Return how many bytes a file has."""
        return await asyncio.to_thread(self._size, name)

    async def read(self, name: str, begin: int, end: int) -> AsyncIterator[bytes]:
        """Yield a part of a file."""
        with _answering():
            try:
                file = await asyncio.to_thread((self._folder / name).open, "rb")
            except FileNotFoundError as error:
                raise ContentNotKeptError from error
        try:
            file.seek(begin)
            left = end - begin
            with _answering():
                while part := await asyncio.to_thread(file.read, min(left, PART_BYTES)):
                    left -= len(part)
                    yield part
        finally:
            file.close()

    async def put(self, name: str, content: bytes) -> None:
        """Keep a file, in the place of one of this name."""
        await asyncio.to_thread(self._put, name, content)

    async def names(self, within: str) -> set[str]:
        """Return the names of all files below a folder, also of such as were never finished."""
        return await asyncio.to_thread(self._names, within)

    async def remove(self, names: Collection[str]) -> None:
        """Remove files, as far as they are there."""
        await asyncio.to_thread(self._remove, names)

    async def close(self) -> None:
        """Do nothing: no file is open."""

    def _size(self, name: str) -> int | None:
        with _answering(), suppress(FileNotFoundError):
            return (self._folder / name).stat().st_size
        return None

    def _put(self, name: str, content: bytes) -> None:
        path = self._folder / name
        with _answering():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
                file.write(content)
            Path(file.name).replace(path)

    def _names(self, within: str) -> set[str]:
        with _answering():
            found = (self._folder / within).rglob("*")
            return {one.relative_to(self._folder).as_posix() for one in found if one.is_file()}

    def _remove(self, names: Collection[str]) -> None:
        with _answering():
            for path in (self._folder / name for name in names):
                path.unlink(missing_ok=True)
                with suppress(OSError):  # others are in it
                    path.parent.rmdir()
                    path.parent.parent.rmdir()


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DocumentStoreError from error

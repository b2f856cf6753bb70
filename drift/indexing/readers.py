"""The processes that read the files of a server: a few at once, a few more that wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import BoundedSemaphore

from drift.core.errors import BusyError, IngestError, StoppingError
from drift.indexing.documents import Skipped, SourceDocument
from drift.indexing.reading_process import MEMORY_MB, ReadingProcess
from drift.indexing.records import cut_up
from drift.telemetry import parts

AT_ONCE, WAITING = 2, 6


class Readers:
    """Reads files beside the event loop and its own threads; building it starts nothing."""

    def __init__(self, memory_mb: int = MEMORY_MB, seconds: float = 20.0) -> None:
        """Let each process take so much memory and time for a file, while somebody waits."""
        self._seconds = seconds
        self._processes = [ReadingProcess(memory_mb) for _ in range(AT_ONCE)]
        self._idle = list(self._processes)
        self._threads = ThreadPoolExecutor(AT_ONCE, "reading")
        self._room = BoundedSemaphore(AT_ONCE + WAITING)

    async def read(
        self, name: str, work: Callable[[], SourceDocument | Skipped]
    ) -> SourceDocument | Skipped:
        """Return the document that the work gives, with its pieces, or why it is none.

        The work is picklable; nothing that it does or takes costs anybody else.

        Raises:
            BusyError: as many files as may wait do so.
            StoppingError: the processes were closed meanwhile.
        """
        if not self._room.acquire(blocking=False):
            parts.refused(BusyError.code)
            raise BusyError("As many files as fit are being read; try again later.")

        # The room is free when the work has ended, also where nobody waits for it any more.
        reading = self._threads.submit(self._read, name, work)
        reading.add_done_callback(lambda _: self._room.release())
        try:
            return await asyncio.wrap_future(reading)
        except IngestError as error:
            raise StoppingError from error

    def close(self) -> None:
        """End all processes at once, whatever they are at."""
        for process in self._processes:
            process.close()
        self._threads.shutdown(wait=False)

    def _read(
        self, name: str, work: Callable[[], SourceDocument | Skipped]
    ) -> SourceDocument | Skipped:
        process = self._idle.pop()  # there are as many as threads
        try:
            return process.guarded(name, partial(_cut, work), self._seconds)
        finally:
            self._idle.append(process)


def _cut(work: Callable[[], SourceDocument | Skipped]) -> SourceDocument | Skipped:
    read = work()
    return read if isinstance(read, Skipped) else cut_up(read)

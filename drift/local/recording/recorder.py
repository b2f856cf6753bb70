"""Writes requests and their calls into a file, a line as each ends."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import BinaryIO

from drift.core.errors import DriftError
from drift.local.recording.tape import Exchange, Json, Kind, RecordingError, Request, asking

_MOST_ROUNDS = 1000
"""After so many rounds of the event loop it is not waited any longer until nothing is to do."""


@dataclass(slots=True)
class Recorder:
    """Asks the servers, and writes what they reply.

    Its clock stands still between calls, which begin and end one by one, each when all that the one
    before has led to is done: so that a replay can take the same course, and read the same times.
    """

    file: BinaryIO
    started: float = field(default_factory=time.monotonic)
    moment: float = field(default_factory=time.time)
    _now: float = 0.0
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def monotonic(self) -> float:
        """Return the seconds of the recording."""
        return self._now

    def time(self) -> float:
        """Return the seconds since 1970."""
        return self.moment + self._now

    async def call(self, kind: Kind, asked: Json, ask: Callable[[], Awaitable[Json]]) -> Json:
        """Return what a server replies, as a replay will."""
        begin, ended = self._now, {}
        try:
            begin = await self._next()
            try:
                ended = {"reply": await ask()}
            except Exception as error:
                ended = {"error": _error(error)}
                raise
            finally:
                await self._next()
        except asyncio.CancelledError:
            self._tick()
            ended = {}
            raise
        finally:
            call = Exchange(kind, asked, begin, self._now, asking.get(), **ended)
            self.write({"call": {k: v for k, v in asdict(call).items() if v is not None}})
        return json.loads(json.dumps(ended["reply"]))

    async def begin(self, request: Request) -> None:
        """Note when a request begins."""
        request.begin = await self._next()

    def end(self, request: Request) -> None:
        """Write a request with its answer."""
        self.write({"request": asdict(request)})

    def write(self, line: Mapping[str, Json]) -> None:
        """Write a line at once, so that a process that is killed leaves whole ones."""
        try:
            self.file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            self.file.flush()
        except OSError as error:
            raise RecordingError(f"The recording cannot be written: {error.strerror}.") from error

    async def _next(self) -> float:
        """Return the time once nothing but servers is waited for, in one's turn."""
        async with self._turn:
            ready = getattr(asyncio.get_running_loop(), "_ready", ())
            for _ in range(_MOST_ROUNDS):
                await asyncio.sleep(0)
                if not ready:
                    break
            return self._tick()

    def _tick(self) -> float:
        self._now = round(max(time.monotonic() - self.started, self._now + 1e-6), 6)
        return self._now


def _error(error: Exception) -> Json:
    detail = error.detail if isinstance(error, DriftError) else ""
    return {"type": type(error).__name__, "detail": detail}

"""One build for all who ask while it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class SharedBuild(Generic[T]):
    """Something that is made beside those who wait for it: whoever leaves does not end that."""

    def __init__(self, build: Callable[[], Coroutine[Any, Any, T]]) -> None:
        """Remember how it is made; nothing is yet."""
        self._build = build
        self.task: asyncio.Task[T] | None = None

    async def get(self) -> T:
        """Return what was made, by a build of now where there is none or it has failed."""
        task = self.here()
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._begin()
        return await asyncio.shield(task)

    def start(self) -> asyncio.Task[T]:
        """Return the build that goes on, or a new one."""
        task = self.here()
        return self._begin() if task is None or task.done() else task

    def here(self) -> asyncio.Task[T] | None:
        """Return the last build of this loop."""
        is_here = self.task and self.task.get_loop() is asyncio.get_running_loop()
        return self.task if is_here else None

    def forget(self) -> None:
        """Make it anew when somebody asks next."""
        self.task = None

    def _begin(self) -> asyncio.Task[T]:
        # It is not only of whoever asks first: its lines in the log and its cost are nobody's.
        self.task = asyncio.get_running_loop().create_task(self._build(), context=Context())
        # Nobody may wait for it, and then asyncio would tell of its error.
        self.task.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self.task

"""A loop whose clock jumps to the next timer, so that a test of waiting takes no time."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Jumps(selectors.DefaultSelector):
    """Waits for nothing: the time that the loop would sleep is added to its clock."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise AssertionError("Nothing that is under way can ever end.")
        self.now += timeout
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumps = _Jumps()
        super().__init__(self._jumps)

    def time(self) -> float:
        return self._jumps.now


def in_virtual_time(story: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end; seconds pass as soon as nothing else is left to do."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(story)

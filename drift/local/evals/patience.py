"""Questions of an evaluation on a machine that has no time for some of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from drift.core.errors import DriftError
from drift.local.machine import SLOW_FAILURES, said_of_slowness
from drift.local.say import Say

QUESTION_S = 360.0
"""How long the graph may take for one search of a question."""
PAUSES_S = (1.0, 5.0, 20.0)
"""A question whose search fails is asked again after each of them."""
MOST_IN_A_ROW = 3
"""After so many questions that could not be measured, one behind the other, none is asked."""

_T = TypeVar("_T")


class Patience:
    """Asks again where a server fails, and keeps the ids of what it gave up, by set."""

    def __init__(self, say: Say) -> None:
        """Nothing was asked yet."""
        self.unmeasured: dict[str, list[str]] = {}
        self._say = say
        self._in_a_row = 0
        self._last: DriftError | None = None

    async def measured(self, of: str, id_: str, measure: Callable[[], Awaitable[_T]]) -> _T | None:
        """Return what is measured of a set's question, None where servers fail it every time."""
        pauses = iter(PAUSES_S)
        while self._in_a_row < MOST_IN_A_ROW:
            try:
                found = await measure()
            except SLOW_FAILURES as error:
                self._last, pause = error, next(pauses, None)
                if pause is None:
                    break
                said = said_of_slowness(error.code, error.detail)
                self._say(f"Question {id_} is asked again in {pause:.0f} s: {said}")
                await asyncio.sleep(pause)
            else:
                self._in_a_row = 0
                return found

        self._in_a_row += 1
        self.unmeasured.setdefault(of, []).append(id_)
        return None

    @contextmanager
    def whole(self, of: str, ids: Iterable[str]) -> Iterator[None]:
        """Give up all questions of a set, where a server fails what comes before them."""
        try:
            yield
        except SLOW_FAILURES as error:
            self._last = error
            self.unmeasured[of] = list(ids)
            self._say(f"{of} is left out: {said_of_slowness(error.code, error.detail)}")

    def end(self, found: int) -> None:
        """Say what could not be measured; raise the last failure where nothing was found."""
        if self._last and not found:
            raise self._last
        for of, ids in self.unmeasured.items():
            self._say(f"{of}: {len(ids)} questions are in no figure: {', '.join(ids)}.")

"""A server that fails: asked seldom meanwhile, and told once when that begins and when it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class Trouble:
    """What keeps a server from answering, empty while nothing does.

    `say_began` gets each new problem, `say_ended` is called when the server answers again. In
    trouble it is asked by one request in `pause_s` seconds of the `clock`.
    """

    say_began: Callable[[str], None]
    say_ended: Callable[[], None]
    pause_s: float
    clock: Callable[[], float]
    problem: str = ""
    _again_at: float = 0.0

    def lets_try(self) -> bool:
        """Tell whether to ask the server now; whoever is told so does ask."""
        if self.problem and self.clock() < self._again_at:
            return False
        self._again_at = self.clock() + self.pause_s
        return True

    def began(self, problem: str) -> None:
        """Note that the server fails now."""
        if problem != self.problem:
            self.say_began(problem)
        self.problem, self._again_at = problem, self.clock() + self.pause_s

    def ended(self) -> None:
        """Note that the server answers now."""
        if self.problem:
            self.problem = ""
            self.say_ended()

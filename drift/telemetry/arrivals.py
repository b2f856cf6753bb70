"""When a request came, from where its seconds count, and what becomes known of it on its way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from drift.core.clock import seconds as now
from drift.core.deadline import Deadline


@dataclass(slots=True)
class Arrival:
    """A request that came at a moment of the monotonic clock; `known` goes into its line.

    `building_s` are the seconds that it waited for the service to be built, `status` is that of an
    answer which was sent whole.
    """

    at: float = field(default_factory=now)
    building_s: float = 0.0
    status: int | None = None
    known: dict[str, object] = field(default_factory=dict)


_arrival: ContextVar[Arrival | None] = ContextVar("drift_arrival", default=None)


@contextmanager
def arriving() -> Iterator[Arrival]:
    """Let a request come; one inside another has seconds of its own, and tells the same line."""
    outer = _arrival.get()
    token = _arrival.set(Arrival(known=outer.known if outer else {}))
    try:
        yield current()
    finally:
        _arrival.reset(token)


def current() -> Arrival:
    """Return the request that came; in a program without one, this moment's."""
    return _arrival.get() or Arrival()


def tell(**known: object) -> None:
    """Say what is known of the request; never words of a question, a document or a key."""
    current().known.update(known)


def deadline(seconds: float) -> Deadline:
    """Return a deadline that began when the request came, but for a cold start."""
    arrival = current()
    return Deadline(seconds, started=arrival.at + arrival.building_s)

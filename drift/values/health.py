"""What a health check finds out about the servers behind a search."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Self


class Level(StrEnum):
    """How much a server does for requests."""

    OK = "ok"
    DEGRADED = "degraded"
    """Requests are answered, and something of them is missing."""
    FAILING = "failing"
    """Requests cannot be answered."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """How one server stands, and why it is not well; `reason` is empty where it is."""

    level: Level
    reason: str = ""

    @classmethod
    def ok(cls) -> Self:
        """Return that of a server that answers."""
        return cls(Level.OK)

    @classmethod
    def degraded(cls, reason: str) -> Self:
        """Return that of a server without which requests are answered all the same."""
        return cls(Level.DEGRADED, reason)

    @classmethod
    def failing(cls, reason: str) -> Self:
        """Return that of a server without which no request is answered."""
        return cls(Level.FAILING, reason)

    @property
    def is_ok(self) -> bool:
        """Tell whether nothing is wrong."""
        return self.level is Level.OK

    @property
    def serves(self) -> bool:
        """Tell whether requests are answered, if with less."""
        return self.level is not Level.FAILING

    def __str__(self) -> str:
        """Return it in words: `ok`, `degraded: ` with the reason, or the reason alone."""
        match self.level:
            case Level.OK:
                return "ok"
            case Level.DEGRADED:
                return f"degraded: {self.reason}"
            case Level.FAILING:
                return self.reason


@dataclass(frozen=True, slots=True)
class IndexState:
    """One index as the server reports it; `dimensions` only for vector indexes."""

    name: str
    kind: Literal["vector", "fulltext"]
    online: bool
    dimensions: int | None = None


@dataclass(frozen=True, slots=True)
class GraphHealth:
    """What a health check found out about the graph.

    `missing` names configured indexes that do not exist.
    """

    server: str
    indexes: tuple[IndexState, ...]
    missing: tuple[str, ...] = ()

"""Health checks of the servers behind a search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self


class Level(StrEnum):
    """How well a server serves requests."""

    OK = "ok"
    DEGRADED = "degraded"
    """Requests are answered, and something of them is missing."""
    FAILING = "failing"
    """Requests cannot be answered."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """The state of one server, with the reason or a note."""

    level: Level
    reason: str = ""

    @classmethod
    def ok(cls, reason: str = "") -> Self:
        """Return the state of a server that answers."""
        return cls(Level.OK, reason)

    @classmethod
    def degraded(cls, reason: str) -> Self:
        """Return the state of a failing server that requests can do without."""
        return cls(Level.DEGRADED, reason)

    @classmethod
    def failing(cls, reason: str) -> Self:
        """Return the state of a failing server that every request needs."""
        return cls(Level.FAILING, reason)

    @classmethod
    def joined(cls, several: Sequence[Self]) -> Self:
        """Combine the states of required servers: the worst level, all reasons."""
        levels = [one.level for one in several]
        reasons = [one.reason for one in several if one.reason]
        worst = next((level for level in reversed(Level) if level in levels), Level.OK)
        return cls(worst, ". ".join(reason.removesuffix(".") for reason in reasons))

    @property
    def is_ok(self) -> bool:
        """Tell whether nothing is wrong."""
        return self.level is Level.OK

    @property
    def serves(self) -> bool:
        """Tell whether requests are answered, perhaps with less."""
        return self.level is not Level.FAILING

    def __str__(self) -> str:
        """Return it in words: `ok`, `degraded`, each with its reason, or the reason alone."""
        match self.level:
            case Level.OK:
                return f"ok: {self.reason}" if self.reason else "ok"
            case Level.DEGRADED:
                return f"degraded: {self.reason}"
            case Level.FAILING:
                return self.reason


@dataclass(frozen=True, slots=True)
class Index:
    """One index of the graph, as its server lists it.

    `kind` is the server's, in lower case: vector, fulltext, range, text or point. `percent` says
    how far it is built, `is_unique` that it belongs to a constraint; only vector indexes have
    `dimensions` and a `similarity`.
    """

    name: str
    kind: str
    labels: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    state: str = "ONLINE"
    percent: float = 100.0
    is_unique: bool = False
    dimensions: int | None = None
    similarity: str | None = None

    @property
    def online(self) -> bool:
        """Tell whether it answers."""
        return self.state == "ONLINE"

    @property
    def has_failed(self) -> bool:
        """Tell whether the index has failed for good and has to be dropped."""
        return self.state == "FAILED"

    @property
    def place(self) -> str:
        """Its kind, labels and properties: `RANGE index on :A(b, c)`."""
        kind, labels = self.kind.upper(), "|".join(self.labels)
        return f"{kind} index on :{labels}({', '.join(self.properties)})"

    def has_other_dimensions(self, wanted: int) -> bool:
        """Tell whether it holds vectors that are not of `wanted` floats."""
        return self.dimensions is not None and self.dimensions != wanted


@dataclass(frozen=True, slots=True)
class Lack:
    """Something without which requests find less: its `cost`, and what to do (`mend`)."""

    name: str
    problem: str
    cost: str
    mend: str = "run `python -m drift prepare`"

    def __str__(self) -> str:
        """Return both as one clause."""
        return f"{self.problem}, so that {self.cost}"


@dataclass(frozen=True, slots=True)
class GraphHealth:
    """The health of the graph.

    `indexes` are the configured ones that exist, `missing` names the others, `broken` says which
    have failed, or why nothing can be asked. `lacking` is what searches can do without. `behind`
    says how many documents changed since knowledge was derived; empty for none.
    `notes` are told whatever else is. `failing` tells of requests that have failed in a row.
    """

    server: str
    indexes: tuple[Index, ...]
    missing: tuple[str, ...] = ()
    lacking: tuple[Lack, ...] = ()
    broken: tuple[str, ...] = ()
    behind: str = ""
    notes: tuple[str, ...] = ()
    failing: str = ""

    def readiness(self, dimensions: int | None) -> Readiness:
        """Return how the indexes stand, for vectors of `dimensions` floats where that is known."""
        spared = {lack.name for lack in self.lacking}
        problems = [f"{name} is missing" for name in self.missing if name not in spared]
        problems += self.broken
        for index in self.indexes:
            if not index.online and not index.has_failed and index.name not in spared:
                problems.append(f"{index.name} is not online")
            if dimensions is not None and index.has_other_dimensions(dimensions):
                problems.append(
                    f"{index.name} has {index.dimensions} dimensions, VECTOR_INDEX_DIMENSIONS is "
                    f"{dimensions}"
                )

        if problems:
            return Readiness.failing("; ".join([*problems, *self.notes]))
        if self.lacking:
            return Readiness.degraded("; ".join([*self._lacks(), *self.notes]))

        return Readiness.ok("; ".join(self.notes))

    def _lacks(self) -> Iterator[str]:
        """Yield the lacks grouped by their mend, which follows once."""
        for mend in dict.fromkeys(lack.mend for lack in self.lacking):
            yield "; ".join(str(lack) for lack in self.lacking if lack.mend == mend) + f": {mend}"

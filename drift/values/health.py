"""What a health check finds out about the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


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

"""The facts about cited passages that their confidence is made of."""

from __future__ import annotations

from dataclasses import dataclass

from drift.model.found_nodes import ScoreThreshold
from drift.model.graph import Vector

MOST_PASSAGES = 100
"""The most chunks that are looked at for one answer."""
MOST_WITNESSES = 5
"""Other documents that are counted for one passage."""


@dataclass(frozen=True, slots=True)
class PassagesQuery:
    """Which chunks are asked about, up to MOST_PASSAGES; an empty vector compares nothing."""

    project_id: str
    chunk_ids: tuple[str, ...]
    vector: Vector = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """A cited chunk in its graph; None where the graph does not say.

    `similarity` is the raw cosine, -1 to 1, of its vector and the question's. `updated_at` is when
    its document last changed, in milliseconds since 1970. `witnesses` are the ids of up to
    MOST_WITNESSES other documents of which a chunk names two of its entities.
    """

    chunk_id: str
    similarity: float | None = None
    updated_at: int | None = None
    witnesses: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Passages:
    """The passages that the project holds, and its threshold where one was measured."""

    passages: tuple[Passage, ...] = ()
    threshold: ScoreThreshold | None = None

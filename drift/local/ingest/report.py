"""The reports of an ingestion while it runs and when it is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from drift.contracts.answer import CostOut
from drift.graph.writing.records import CommunityRecord, ProjectState
from drift.indexing.documents import Skipped
from drift.local.ingest.kinds import Ignored

Report = Callable[[str, int, int], None]
"""Takes a stage, how many are done, and how many there are."""

STAGES = (
    "read",
    "embed and write chunks",
    "derive knowledge",
    "ask the model",
    "embed knowledge",
    "write knowledge",
)
"""In order. The first two are always reported, the others when there is something to do."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Adds up the seconds of each stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time of the block to the stage."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.add(stage, time.perf_counter() - began)

    def add(self, stage: str, seconds: float) -> None:
        """Add to the time of a stage; what another took for it is less than nothing."""
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds


def say_nothing(stage: str, done: int, total: int) -> None:
    """Report to nobody."""


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """Tokens that the models of a run took, as their providers count them, and what they cost.

    `uncounted` are calls whose tokens nobody told. `cost` is None where a price is not known.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0
    cost: CostOut | None = None

    def __str__(self) -> str:
        """Say it in a few words; nothing where no model counts tokens."""
        tokens = self.prompt_tokens + self.completion_tokens
        if not tokens:
            return ""
        cost = f", {self.cost.amount:.2f} {self.cost.currency}" if self.cost else ""
        return f"{'at least ' if self.uncounted else ''}{tokens:,} tokens{cost}"


@dataclass(frozen=True, slots=True)
class Reach:
    """How many of a project's chunks the search comes to by its knowledge.

    `told` are in topics with a summary, which the primer reads, and `linked` are those that an
    entity leads to that is none of the web `addresses`. Of the `topics` and the `groups` above
    them a chat model wrote `reports` and `group_reports`, and `empty` ones that say nothing;
    `reported` are the chunks of the first.
    """

    topics: int = 0
    groups: int = 0
    told: int = 0
    reports: int = 0
    group_reports: int = 0
    empty: int = 0
    reported: int = 0
    linked: int = 0
    addresses: int = 0

    @classmethod
    def of_reports(cls, reported: Sequence[CommunityRecord], empty: int = 0) -> Reach:
        """Return it for the communities that a model reported on, and so many empty reports."""
        topics = [one for one in reported if not one.level]
        return cls(
            reports=len(topics),
            group_reports=len(reported) - len(topics),
            empty=empty,
            reported=len({id_ for one in topics for id_ in one.chunk_ids}),
        )


@dataclass(slots=True)
class IngestReport:
    """The result of a run; the counts of knowledge are zero when nothing had changed.

    `chunks` were written by this run; all other numbers are counted by the graph. `communities`
    counts them by level, and `reach` is what they are worth to the search. `held_documents` and
    `held_chunks` are what the project holds at the end, from all sources. `kept` names files that
    could not be read this time, and whose earlier text stays in the graph. `moved` were stored
    under another name or source, and are unchanged. `left` counts what another source still holds,
    which has no file any more, beside what was found in this one. `notes` say how documents were
    read, where that is worth knowing.
    """

    source: str
    project_id: str
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    skipped: tuple[Skipped, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    chunks: int = 0
    entities: int = 0
    relations: int = 0
    communities: dict[int, int] = field(default_factory=dict)
    reach: Reach = field(default_factory=Reach)
    held_documents: int = 0
    held_chunks: int = 0
    created: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    usage: ModelUsage = field(default_factory=ModelUsage)

    def tell(self, held: ProjectState, reach: Reach | None) -> None:
        """Tell what the project holds at the end, and what its knowledge reaches if it is new."""
        self.held_documents, self.held_chunks = len(held.documents), held.chunks
        if reach is not None:
            self.reach = reach
            self.entities, self.relations = held.entities, held.relations
            self.communities = dict(held.communities)

    @property
    def wrote(self) -> bool:
        """True when the graph was changed."""
        changes = (self.added, self.changed, self.removed, self.moved, self.communities)
        return any(changes)

    @property
    def chunks_per_second(self) -> float:
        """Chunks written a second, over all stages; zero when none was written."""
        total = sum(self.seconds.values())
        return self.chunks / total if total else 0.0

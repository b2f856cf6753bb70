"""What an ingestion tells while it runs and when it is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from drift.local.ingest.documents import Skipped
from drift.local.ingest.sources import Ignored

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


def say_nothing(stage: str, done: int, total: int) -> None:
    """Report to nobody."""


@dataclass(slots=True)
class IngestReport:
    """What a run did; the counts of knowledge are zero when nothing had changed.

    `chunks` were written by this run; all other numbers are counted by the graph. `communities`
    counts them by level. `held_documents` and `held_chunks` are what the project holds at the end,
    from all sources. `kept` names files that could not be read this time, and whose earlier text
    stays in the graph. `moved` were stored under another source, and are unchanged. `left` counts
    what another source still holds, which has no file any more, beside what was found in this one.
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
    skipped: tuple[Skipped, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    chunks: int = 0
    entities: int = 0
    relations: int = 0
    communities: dict[int, int] = field(default_factory=dict)
    held_documents: int = 0
    held_chunks: int = 0
    created: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)

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

"""What the runs over a project work with."""

from __future__ import annotations

from dataclasses import dataclass

from drift.graph.writing.lease import MAX_WAIT_S
from drift.indexing.reading_process import Guard, guarded
from drift.indexing.records import embedding_of
from drift.local.ingest.by_model.writing import ByModel
from drift.local.ingest.changes import SourceChanges
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.ingest.report import Report, say_nothing
from drift.local.ingest.scheduling import InProcess, Stages
from drift.local.ingest.sources import Source
from drift.local.say import Say
from drift.ports import Embedder


@dataclass(frozen=True, slots=True)
class IngestContext:
    """The graph, the models and the stages of a run, and who is told of it.

    `model` makes the vectors, of so many `dimensions`. Another run over the project is waited for
    up to `wait_s` seconds, of which `say` is told. The work on each document is done by the
    `stages`, or here under the `guard`. Without `by_model` only what a model wrote before is used.
    """

    graph: Neo4jWriter
    embedder: Embedder
    dimensions: int
    model: str = ""
    report: Report = say_nothing
    say: Say = lambda _: None
    wait_s: float = MAX_WAIT_S
    guard: Guard = guarded
    stages: Stages | None = None
    by_model: ByModel | None = None

    @property
    def embedding(self) -> str:
        """What names the vectors."""
        return embedding_of(self.model, self.dimensions)

    def changes(self, source: Source, project_id: str, *, force: bool = False) -> SourceChanges:
        """Return what a source changes in a project; nothing is read yet."""
        stages = self.stages or InProcess(self.guard)
        return SourceChanges(source, project_id, self.embedding, self.report, force, stages)

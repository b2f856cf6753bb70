"""In how many questions about a place the chunk asked for is shown, with positions and without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from drift.core.deadline import Deadline
from drift.local.evals.place.novellas import PlaceQuestion, read_index, read_questions, with_vectors
from drift.local.evals.recall.measure import Bench
from drift.local.say import Say
from drift.model.graph import Candidates, Chunk, FollowupQuery
from drift.model.records import DocumentBatch, KnowledgeBatch
from drift.search.ranking import ranked

CUTS = (5, 10)
QUESTION_TIMEOUT_S = 60.0
METHODS = {"ours": "the follow-up with its position", "without": "the same without a position"}


@dataclass(frozen=True, slots=True)
class PlaceResult:
    """A question, and for each method the rank of the first chunk asked for, None for none."""

    question: PlaceQuestion
    ranks: dict[str, int | None]

    def shown(self, method: str, cut: int) -> bool:
        """Return whether the chunk asked for is among the first `cut`."""
        rank = self.ranks[method]
        return rank is not None and rank <= cut


@dataclass(frozen=True, slots=True)
class Novella:
    """An index, its questions, and the project that holds it."""

    name: str
    batch: DocumentBatch
    questions: tuple[PlaceQuestion, ...]

    @property
    def project_id(self) -> str:
        """The project of this index alone."""
        return f"place-{self.name}"


def read_novella(index: Path, questions: Path) -> Novella:
    """Return an index with its questions; its name is that of the file of questions.

    Raises:
        IngestError: when one of them cannot be read.
    """
    return Novella(questions.stem, read_index(index), read_questions(questions))


async def measure_novella(novella: Novella, bench: Bench, say: Say) -> list[PlaceResult]:
    """Write the index into its project, without a graph, and ask every question.

    Raises:
        GraphUnavailableError, GraphMisconfiguredError: as the ports do.
    """
    await bench.writer.prepare(bench.embedder.dimensions)
    batch = novella.batch
    vectors = await bench.embedder.passages([chunk.text for chunk in batch.chunks])
    await bench.writer.write_documents(novella.project_id, with_vectors(batch, tuple(vectors)))
    await bench.writer.write_knowledge(novella.project_id, KnowledgeBatch((), (), (), novella.name))
    say(f"{novella.name}: {len(batch.documents)} documents, {len(batch.chunks)} chunks")

    asked = await bench.embedder.questions([question.text for question in novella.questions])
    results = []
    for question, vector in zip(novella.questions, asked, strict=True):
        query = FollowupQuery(
            novella.project_id, question.text, vector, (), position=question.position
        )
        found = await bench.soft.followup(query, Deadline.after(QUESTION_TIMEOUT_S))
        results.append(PlaceResult(question, ranks_of(question, found)))
    return results


def ranks_of(question: PlaceQuestion, found: Candidates) -> dict[str, int | None]:
    """Return the rank of the chunk asked for in the evidence, with and without a position."""
    return {
        "ours": _rank(question, ranked(found).chunks),
        "without": _rank(question, ranked(replace(found, pinned=())).chunks),
    }


def _rank(question: PlaceQuestion, chunks: Sequence[Chunk]) -> int | None:
    ranks = (rank for rank, chunk in enumerate(chunks, 1) if question.is_answered_by(chunk.text))
    return next(ranks, None)

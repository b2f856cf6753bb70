"""A folder of documents with its questions: ingested as a user would, then asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from drift.core.deadline import Deadline
from drift.local.evals.evidence.ceiling import ceilings
from drift.local.evals.evidence.document_questions import DocumentQuestion, read_document_questions
from drift.local.evals.evidence.figures import QuestionResult, figures
from drift.local.evals.evidence.gold_passages import GoldPassage, RawDocuments
from drift.local.evals.evidence.rankings import ProjectRankings
from drift.local.evals.recall.measure import Bench
from drift.local.evals.recall.question_graph import QuestionEmbedder
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.sources import Source, read_source
from drift.local.say import Say
from drift.model.calls import Embeddings

_HALVES = {"all": slice(None), "tuned": slice(0, None, 2), "confirmed": slice(1, None, 2)}


@dataclass(frozen=True, slots=True)
class Topic:
    """A folder of documents, its questions, and the project that holds it."""

    project_id: str
    source: Source
    questions: tuple[DocumentQuestion, ...]


class PassageEmbedder:
    """The measured model as ingestion wants it: a port that embeds texts to be found."""

    def __init__(self, model: QuestionEmbedder) -> None:
        """Take the model."""
        self._model = model

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        """Return one vector a text; the deadline does not interrupt a model in this process."""
        deadline.require()
        return Embeddings(tuple(await self._model.passages(texts)))


def read_topic(documents: Path, questions: Path, half: str = "all") -> Topic:
    """Return the folder with its questions; the project is named after the folder that holds them.

    `half` is `all`, `tuned` (the first question and every second after it: what constants were
    chosen on) or `confirmed` (the others: only looked at to confirm).

    Raises:
        IngestError: when the folder or the questions cannot be read.
    """
    place = documents.resolve()
    name = place.parent.name if place.name == "documents" else place.name
    chosen = read_document_questions(questions)[_HALVES[half]]
    return Topic(f"evidence-{name}", read_source(documents), chosen)


async def measure_topic(
    topic: Topic, bench: Bench, say: Say, *, ingested: bool = False
) -> list[QuestionResult]:
    """Ingest the folder, unless the project is `ingested` already, and ask every question.

    Raises:
        IngestError, GraphUnavailableError, GraphMisconfiguredError: as ingestion and ports do.
    """
    if not ingested:
        done = await ingest(
            topic.source,
            topic.project_id,
            bench.writer,
            PassageEmbedder(bench.embedder),
            bench.embedder.dimensions,
            embedding_model=bench.embedder.name,
            say=say,
        )
        say(f"{topic.project_id}: {done.held_documents} documents, {done.held_chunks} chunks")

    rankings = ProjectRankings(topic.project_id, bench.soft, bench.query, bench.fulltext_index)
    await rankings.load()
    raw = RawDocuments({document.id: document.text for document in topic.source.documents})
    vectors = await bench.embedder.questions([question.text for question in topic.questions])

    results = []
    for question, vector in zip(topic.questions, vectors, strict=True):
        gold = _located(question, raw)
        ranked = await rankings.of(question.text, vector)
        results.append(
            QuestionResult(
                question.type,
                {method: figures(chunks, question, gold) for method, chunks in ranked.items()},
                ceilings(ranked, question, gold),
            )
        )
    return results


def _located(question: DocumentQuestion, raw: RawDocuments) -> list[GoldPassage]:
    found = (raw.locate(s, question.text, question.documents) for s in question.statements)
    return [passage for passage in found if passage is not None]

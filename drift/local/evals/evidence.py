"""A folder of documents with its questions: ingested as a user would, then asked.

Every ranking is over the chunks and indexes of the same project: baselines score with the vectors
and the full-text index that the search itself uses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from drift.core.deadline import Deadline
from drift.local.evals.comparison import half_and_half, reciprocal_ranks
from drift.local.evals.document_questions import DocumentQuestion, read_document_questions
from drift.local.evals.embedders import TextEmbedder
from drift.local.evals.evidence_figures import QuestionResult, RankedChunk, ceilings, figures
from drift.local.evals.gold_passages import RawDocuments, words_of
from drift.local.evals.measured_search import MeasuredSearch
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.sources import Source, read_source
from drift.local.say import Say
from drift.model.calls import Embeddings
from drift.model.graph import FollowupQuery, Vector
from drift.search.ranking import fuse

MAX_RANKED = 300
"""Chunks of a ranking: enough for twenty distinct documents."""
QUESTION_TIMEOUT_S = 60.0
_HALVES = {"all": slice(None), "tuned": slice(0, None, 2), "confirmed": slice(1, None, 2)}


@dataclass(frozen=True, slots=True)
class Topic:
    """A folder of documents, its questions, and the project that holds it."""

    project_id: str
    source: Source
    questions: tuple[DocumentQuestion, ...]


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
    topic: Topic, search: MeasuredSearch, say: Say, *, ingested: bool = False
) -> list[QuestionResult]:
    """Ingest the folder, unless the project is `ingested` already, and ask every question.

    Raises:
        IngestError, GraphUnavailableError, GraphMisconfiguredError: as ingestion and ports do.
    """
    embedder = search.embedder
    if not ingested:
        done = await ingest(
            topic.source,
            topic.project_id,
            search.writer,
            PassageEmbedder(embedder),
            embedder.dimensions,
            embedding_model=embedder.name,
            say=say,
        )
        say(f"{topic.project_id}: {done.held_documents} documents, {done.held_chunks} chunks")

    rankings = Rankings(topic.project_id, search)
    await rankings.load()
    raw = RawDocuments({document.id: document.text for document in topic.source.documents})
    vectors = await embedder.questions([question.text for question in topic.questions])

    results = []
    for question, vector in zip(topic.questions, vectors, strict=True):
        located = (raw.locate(s, question.text, question.documents) for s in question.statements)
        gold = [passage for passage in located if passage]
        ranked = await rankings.rank(question.text, vector)
        shown = {method: figures(chunks, question, gold) for method, chunks in ranked.items()}
        results.append(QuestionResult(question.type, shown, ceilings(ranked, question, gold)))

    return results


class PassageEmbedder:
    """The measured model as ingestion wants it: a port that embeds texts to be found."""

    def __init__(self, model: TextEmbedder) -> None:
        """Take the model."""
        self._model = model

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        """Return one vector a text; the deadline does not interrupt a model in this process."""
        deadline.require()
        return Embeddings(tuple(await self._model.passages(texts)))


class Rankings:
    """One project's chunks in memory, and every ranking of them."""

    def __init__(self, project_id: str, search: MeasuredSearch) -> None:
        """Take the search that is measured; `load` comes first."""
        self._project_id = project_id
        self._search = search
        self._chunks: dict[str, RankedChunk] = {}
        self._vectors: np.ndarray[Any, np.dtype[np.float32]] = np.empty((0, 0), dtype=np.float32)

    async def load(self) -> None:
        """Read the project's chunks and their vectors."""
        rows = await self._search.baselines.chunks(self._project_id)
        self._chunks = {
            row["id"]: RankedChunk(row["document"], words_of(row["text"]), len(row["text"]))
            for row in rows
        }
        vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
        self._vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    async def rank(self, question: str, vector: Vector) -> dict[str, list[RankedChunk]]:
        """Return the chunks of each method, best first, at most MAX_RANKED."""
        cosines = await asyncio.to_thread(self._cosines, vector)
        worded = await self._search.baselines.worded(self._project_id, question, MAX_RANKED)
        query = FollowupQuery(self._project_id, question, vector, ())
        found = await self._search.soft.followup(query, Deadline.after(QUESTION_TIMEOUT_S))
        nearest = sorted(cosines, key=lambda id_: -cosines[id_])[:MAX_RANKED]

        rankings = {
            "vector": nearest,
            "bm25": list(worded),
            "rrf": reciprocal_ranks(nearest, list(worded)),
            "mix": half_and_half({id_: cosines[id_] for id_ in {*nearest, *worded}}, worded),
            "ours": [chunk.id for chunk in fuse(found.chunks, MAX_RANKED)],
        }

        return {
            name: [self._chunks[id_] for id_ in ids[:MAX_RANKED]] for name, ids in rankings.items()
        }

    def _cosines(self, vector: Vector) -> dict[str, float]:
        asked = np.array(vector, dtype=np.float32)
        cosines = self._vectors @ (asked / np.linalg.norm(asked))
        return dict(zip(self._chunks, cosines.tolist(), strict=True))

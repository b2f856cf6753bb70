"""A folder of documents with its questions: ingested as a user would, then asked.

Every ranking is over the chunks and indexes of the same project: baselines score with the vectors
and the full-text index that the search itself uses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from drift.core.deadline import Deadline
from drift.indexing.documents import Skipped, SourceDocument
from drift.local.evals.comparison import half_and_half, reciprocal_ranks
from drift.local.evals.evidence_figures import QuestionResult, RankedChunk, ceilings, figures
from drift.local.evals.gold_passages import GoldPassage, RawDocuments, words_of
from drift.local.evals.measured_search import MeasuredSearch
from drift.local.evals.patience import QUESTION_S, Patience
from drift.local.evals.questions import DocumentQuestion, read_document_questions
from drift.local.ingest.context import IngestContext
from drift.local.ingest.files import SourceFile
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.sources import Source, read_source
from drift.local.say import Say
from drift.model.graph import Candidates, FollowupQuery, PrimerQuery, Vector
from drift.search.ranking import MAX_CHUNKS, fuse, ranked

MAX_RANKED = 300
"""Chunks of a ranking: enough for twenty distinct documents."""
SHOWN_TOPICS = 5
"""As many as a primer is shown."""
_HALVES = {"all": slice(None), "tuned": slice(0, None, 2), "confirmed": slice(1, None, 2)}


@dataclass(frozen=True, slots=True)
class Corpus:
    """A folder of documents, its questions, and the project that holds it.

    `raw` are the texts of the files by document: what cleaning leaves out is missed there.
    """

    project_id: str
    source: Source
    raw: Mapping[str, str]
    questions: Sequence[DocumentQuestion]


def read_topic(documents: Path, questions: Path, half: str = "all") -> Corpus:
    """Return the folder with its questions; the project is named after the folder that holds them.

    `half` is `all`, `tuned` (the first question and every second after it: what constants were
    chosen on) or `confirmed` (the others: only looked at to confirm).

    Raises:
        IngestError: when the folder or the questions cannot be read.
    """
    place = documents.resolve()
    name = place.parent.name if place.name == "documents" else place.name
    chosen = read_document_questions(questions)[_HALVES[half]]
    source = read_source(documents)
    folder = documents if documents.is_dir() else documents.parent
    raw = {one.id: _raw(folder / one.id) or _text_of(one) for one in source.documents}
    return Corpus(f"evidence-{name}", source, raw, chosen)


def _text_of(document: SourceDocument | SourceFile) -> str:
    read = document if isinstance(document, SourceDocument) else document.read()
    return "" if isinstance(read, Skipped) else read.text


def _raw(file: Path) -> str:
    """Return the text of a file; empty where it is markup, in whose words a window is not told."""
    is_text = file.suffix.lower() in {".md", ".markdown", ".rst", ".txt", ""}
    return file.read_text("utf-8", "replace") if is_text and file.is_file() else ""


async def measure_topic(
    topic: Corpus, search: MeasuredSearch, patience: Patience, say: Say, *, ingested: bool = False
) -> list[QuestionResult]:
    """Ingest the folder, unless the project is `ingested` already, and ask every question.

    Failures of servers stand in `patience`.

    Raises:
        IngestError, GraphMisconfiguredError: as ingestion and ports do.
    """
    results: list[QuestionResult] = []
    with patience.whole(topic.project_id, (question.id for question in topic.questions)):
        if not ingested:
            await _ingest(topic, search, say)

        rankings = await Rankings.load(topic.project_id, search)
        raw = RawDocuments(topic.raw)
        vectors = await search.embedder.questions([question.text for question in topic.questions])
        for question, vector in zip(topic.questions, vectors, strict=True):
            located = (raw.locate(s, question.text, question.documents) for s in question.said)
            gold = [passage for passage in located if passage]
            asked = partial(rankings.measure, question, vector, gold)
            if found := await patience.measured(topic.project_id, question.id, asked):
                results.append(found)

    return results


async def _ingest(topic: Corpus, search: MeasuredSearch, say: Say) -> None:
    done = await ingest(
        topic.source,
        topic.project_id,
        IngestContext(
            search.writer,
            search.embedder.of_passages,
            search.embedder.dimensions,
            model=search.embedder.name,
            say=say,
        ),
    )
    say(f"{topic.project_id}: {done.held_documents} documents, {done.held_chunks} chunks")


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of a project: their chunks, and the vectors of those that have one."""

    project_id: str
    chunks: Mapping[int, Sequence[RankedChunk]]
    named: tuple[int, ...]
    vectors: np.ndarray[Any, np.dtype[np.float32]]

    @classmethod
    async def load(
        cls, project_id: str, search: MeasuredSearch, chunks: Mapping[str, RankedChunk]
    ) -> Topics:
        """Read the topics of a project whose `chunks` are known by id."""
        rows = await search.baselines.topics(project_id)
        held = {row["id"]: [chunks[id_] for id_ in row["chunks"]] for row in rows}
        told = [row for row in rows if row["embedding"]]
        vectors = np.array([row["embedding"] for row in told], dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True) if told else 1
        return cls(project_id, held, tuple(row["id"] for row in told), vectors / lengths)

    async def chosen(
        self, search: MeasuredSearch, best: Sequence[str], vector: Vector
    ) -> dict[str, Collection[int]]:
        """Return the topics by each of TOPIC_WAYS; `best` are ids of the question's best chunks."""
        query = PrimerQuery(self.project_id, tuple(best[:MAX_CHUNKS]), vector, SHOWN_TOPICS)
        voted = await search.soft.topics(query, Deadline.after(QUESTION_S))
        near = np.argsort(-self.vectors @ np.array(vector, dtype=np.float32), kind="stable")
        return {
            "votes": [one.id for one in voted if one.id in self.chunks],  # type: ignore[misc]
            "vector": [self.named[place] for place in near[:SHOWN_TOPICS]],
        }

    def figures(
        self, topics: Collection[int], question: DocumentQuestion, gold: Sequence[GoldPassage]
    ) -> dict[str, float]:
        """Return the shares of documents, passages and the project's chunks that topics hold."""
        held = [chunk for topic in topics for chunk in self.chunks[topic]]
        shown = figures(held, question, gold, at=len(held))
        share = len(held) / max(1, sum(map(len, self.chunks.values())))
        found = {"documents": shown["top10"], "chunks": share}
        return found | ({"passages": shown["passages10"]} if gold else {})


@dataclass(frozen=True, slots=True)
class Rankings:
    """One project's chunks in memory, and every ranking of them."""

    project_id: str
    search: MeasuredSearch
    chunks: Mapping[str, RankedChunk]
    vectors: np.ndarray[Any, np.dtype[np.float32]]
    topics: Topics

    @classmethod
    async def load(cls, project_id: str, search: MeasuredSearch) -> Rankings:
        """Read the project's chunks, their vectors and its topics."""
        rows = await search.baselines.chunks(project_id)
        chunks = {
            row["id"]: RankedChunk(row["document"], words_of(row["text"]), len(row["text"]))
            for row in rows
        }
        vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        topics = await Topics.load(project_id, search, chunks)
        return cls(project_id, search, chunks, vectors, topics)

    async def measure(
        self, question: DocumentQuestion, vector: Vector, gold: Sequence[GoldPassage]
    ) -> QuestionResult:
        """Return what every ranking shows of a question's evidence."""
        ids = await self.rank(question.text, vector)
        ranked = {method: [self.chunks[id_] for id_ in own] for method, own in ids.items()}
        shown = {method: figures(chunks, question, gold) for method, chunks in ranked.items()}
        chosen = await self.topics.chosen(self.search, ids["ours"], vector)
        held = {way: self.topics.figures(t, question, gold) for way, t in chosen.items()}
        return QuestionResult(question.type, shown, ceilings(ranked, question, gold), held)

    async def rank(self, question: str, vector: Vector) -> dict[str, Sequence[str]]:
        """Return the ids of the chunks of each method, best first, at most MAX_RANKED."""
        cosines = await asyncio.to_thread(self._cosines, vector)
        worded = await self.search.baselines.worded(self.project_id, question, MAX_RANKED)
        query = FollowupQuery(self.project_id, question, vector, ())
        found = await self.search.soft.followup(query, Deadline.after(QUESTION_S))
        nearest = sorted(cosines, key=lambda id_: -cosines[id_])[:MAX_RANKED]

        rankings = {
            "vector": nearest,
            "bm25": list(worded),
            "rrf": reciprocal_ranks(nearest, list(worded)),
            "mix": half_and_half({id_: cosines[id_] for id_ in {*nearest, *worded}}, worded),
            "ours": _read_first(question, found),
        }
        return {name: ids[:MAX_RANKED] for name, ids in rankings.items()}

    def _cosines(self, vector: Vector) -> dict[str, float]:
        asked = np.array(vector, dtype=np.float32)
        cosines = self.vectors @ (asked / np.linalg.norm(asked))
        return dict(zip(self.chunks, cosines.tolist(), strict=True))


def _read_first(question: str, found: Candidates) -> list[str]:
    """Return the ids of the chunks that a search reads, then those of its other candidates."""
    read = ranked(found, question).chunks
    return list(dict.fromkeys(chunk.id for chunk in (*read, *fuse(found.chunks, MAX_RANKED))))

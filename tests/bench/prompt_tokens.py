"""What the prompts of a request cost over indexes of GraphRAG, in memory, with the stand-in.

An index is a folder with `documents.jsonl` and `chunks.jsonl`, as for `place`, and beside them
`entities.jsonl`, `related.jsonl` and `communities.jsonl`. Its questions are lines with `question`.
A prompt's tokens are its length / 4.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from drift.contracts.request import Depth, ProjectRequest
from drift.core.deadline import Deadline
from drift.graph.writing.records import (
    CommunityRecord,
    EntityRecord,
    KnowledgeBatch,
    RelationRecord,
)
from drift.llm.local_embedding import embed
from drift.local.evals.lines import Line, read_lines
from drift.local.model_server.extractive import reply
from drift.model.calls import ChatReply, Embeddings, Prompt, TextCallback
from drift.model.graph import Vector
from drift.model.limits import Limits
from drift.ports import Ports
from drift.search.drift import DriftSearch
from drift.search.progress import Progress
from tests.bench.command import Options, read_options, run, show
from tests.bench.place import read_index
from tests.fakes import ListSink
from tests.fakes_graph import FakeGraph


class _Question(Line):
    question: str


class _Entity(Line):
    id: str
    title: str
    description: str | None
    chunk_ids: list[str]


class _Relation(Line):
    source_id: str | None
    target_id: str | None
    description: str
    weight: float


class _Community(Line):
    community: int
    graphrag_level: int
    parent: int
    title: str
    summary: str
    entity_ids: list[str]
    chunk_ids: list[str]


class StandIn:
    """The stand-in model as a port; it keeps what each prompt costs."""

    longest_prompt = None

    def __init__(self) -> None:
        """Begin with nothing asked."""
        self.tokens: list[float] = []

    async def complete(
        self, prompt: Prompt, _deadline: Deadline, _hear: TextCallback | None = None
    ) -> ChatReply:
        self.tokens.append((len(prompt.system) + len(prompt.user)) / 4)
        return ChatReply(reply(prompt.name, prompt.user))

    async def embed(self, texts: Sequence[str], _deadline: Deadline) -> Embeddings:
        return Embeddings(_vectors(texts))


def _vectors(texts: Iterable[str]) -> tuple[Vector, ...]:
    return tuple(tuple(map(float, vector)) for vector in embed(list(texts)))


def read_knowledge(folder: Path) -> KnowledgeBatch:
    """Return entities, relations and communities of an index; level 0 is the lowest here."""
    entities = read_lines(folder / "entities.jsonl", _Entity)
    relations = read_lines(folder / "related.jsonl", _Relation)
    communities = read_lines(folder / "communities.jsonl", _Community)
    known, deepest = {e.id for e in entities}, max(c.graphrag_level for c in communities)
    summaries = [f"{c.title}\n{c.summary}" for c in communities]
    return KnowledgeBatch(
        tuple(
            EntityRecord(e.id, e.title, e.description or "", tuple(e.chunk_ids)) for e in entities
        ),
        tuple(
            RelationRecord(r.source_id, r.target_id, r.description, r.weight)
            for r in relations
            if r.source_id in known and r.target_id in known
        ),
        tuple(
            CommunityRecord(
                c.community,
                deepest - c.graphrag_level,
                c.parent if c.parent >= 0 else None,
                c.title,
                summary,
                tuple(c.entity_ids),
                tuple(c.chunk_ids),
                vector,
            )
            for c, summary, vector in zip(communities, summaries, _vectors(summaries), strict=True)
        ),
        "index",
    )


async def measure(index: Path, questions: Sequence[str], depth: Depth) -> list[dict[str, Any]]:
    """Ask every question, and return how many calls it took and what their prompts cost."""
    graph, batch = FakeGraph(), read_index(index)
    vectors = _vectors(chunk.text for chunk in batch.chunks)
    chunks = [replace(c, embedding=v) for c, v in zip(batch.chunks, vectors, strict=True)]
    await graph.write_documents("p", replace(batch, chunks=tuple(chunks)))
    await graph.write_knowledge("p", read_knowledge(index))

    rows = []
    for question in questions:
        model = StandIn()
        search = DriftSearch(Ports(graph, model, model), Limits())
        async with Progress("p", "r", ListSink()) as progress:
            request = ProjectRequest(query=question, project_id="p", depth=depth)
            await search.retrieve(request, progress, Deadline.after(600))
        rows.append(
            {"question": question, "calls": len(model.tokens), "tokens": round(sum(model.tokens))}
        )
    return rows


async def bench(asked: Options) -> None:
    """Ask each index its questions, and tell the median over all of them."""
    rows: list[dict[str, Any]] = []
    for index, path in zip(asked.index, asked.questions, strict=True):
        questions = [one.question for one in read_lines(path, _Question)]
        rows += await measure(index, questions, asked.depth)

    tokens = [row["tokens"] for row in rows]
    told = {"median": statistics.median(tokens), "most": max(tokens), "questions": len(rows)}
    show({**told, "results": rows}, asked)


if __name__ == "__main__":
    options = read_options(
        __doc__,
        index=([Path], "the folder of an index"),
        questions=([Path], "its questions"),
        depth=("drift", "how far a search goes", "quick", "auto", "drift"),
    )
    run(bench, options)

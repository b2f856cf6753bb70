"""How much of a question's evidence the five topics hold that a primer is shown."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from drift.core.deadline import Deadline
from drift.local.evals.document_questions import DocumentQuestion
from drift.local.evals.evidence_figures import RankedChunk, figures
from drift.local.evals.gold_passages import GoldPassage
from drift.local.evals.measured_search import MeasuredSearch
from drift.local.evals.patience import QUESTION_S
from drift.model.graph import TopicsQuery, Vector
from drift.search.ranking import MAX_CHUNKS

SHOWN_TOPICS = 5


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
        query = TopicsQuery(self.project_id, tuple(best[:MAX_CHUNKS]), SHOWN_TOPICS)
        voted = await search.soft.topics(query, Deadline.after(QUESTION_S))
        near = np.argsort(-self.vectors @ np.array(vector, dtype=np.float32), kind="stable")
        return {
            "votes": [one.community.id for one in voted if one.community.id in self.chunks],  # type: ignore[misc]
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

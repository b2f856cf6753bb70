"""The rankings that are compared, all over the chunks and indexes of the same project.

Baselines score with the vectors and the full-text index that the search itself uses. Each gives up
to MAX_RANKED chunks, enough for twenty distinct documents.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from drift.core.deadline import Deadline
from drift.graph.parameters import wanted_words
from drift.local.evals.evidence.figures import RankedChunk
from drift.local.evals.evidence.gold_passages import words_of
from drift.local.evals.recall.measure import Query, reciprocal_ranks
from drift.model.graph import FollowupQuery, Vector
from drift.ports import GraphStore
from drift.search.ranking import fuse

MAX_RANKED = 300
QUESTION_TIMEOUT_S = 60.0

_CHUNKS, _WORDED = (
    (files(__package__) / "baselines" / name).read_text("utf-8")
    for name in ("chunks.cypher", "worded.cypher")
)


class ProjectRankings:
    """One project's chunks in memory, and every ranking of them."""

    def __init__(
        self, project_id: str, graph: GraphStore, query: Query, fulltext_index: str
    ) -> None:
        """Take the search that is measured, and a way to read the project; `load` comes first."""
        self._project_id = project_id
        self._graph = graph
        self._query = query
        self._fulltext_index = fulltext_index
        self._ids: list[str] = []
        self._places: dict[str, int] = {}
        self._chunks: dict[str, RankedChunk] = {}
        self._vectors = np.empty((0, 0), dtype=np.float32)

    async def load(self) -> int:
        """Read the project's chunks and their vectors, and return how many there are."""
        rows = await self._query(_CHUNKS, {"project_id": self._project_id})
        self._ids = [row["id"] for row in rows]
        self._places = {id_: place for place, id_ in enumerate(self._ids)}
        self._chunks = {row["id"]: _ranked_chunk(row) for row in rows}
        vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
        self._vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return len(rows)

    async def of(self, question: str, vector: Vector) -> dict[str, list[RankedChunk]]:
        """Return the chunks of each method, best first."""
        cosines = await asyncio.to_thread(self._cosines, vector)
        worded = await self._worded(question)
        nearest = [self._ids[place] for place in np.argsort(-cosines, kind="stable")[:MAX_RANKED]]

        rankings = {
            "vector": nearest,
            "bm25": list(worded),
            "rrf": reciprocal_ranks(nearest, list(worded)),
            "mix": half_and_half(self._between(nearest, worded, cosines), worded),
            "ours": await self._search(question, vector),
        }
        return {
            name: [self._chunks[id_] for id_ in ids[:MAX_RANKED]] for name, ids in rankings.items()
        }

    def _cosines(self, vector: Vector) -> np.ndarray[Any, np.dtype[np.float32]]:
        asked = np.array(vector, dtype=np.float32)
        return self._vectors @ (asked / np.linalg.norm(asked))

    def _between(
        self,
        nearest: Sequence[str],
        worded: Mapping[str, float],
        cosines: np.ndarray[Any, np.dtype[np.float32]],
    ) -> dict[str, float]:
        return {id_: float(cosines[self._places[id_]]) for id_ in {*nearest, *worded}}

    async def _worded(self, question: str) -> dict[str, float]:
        terms = wanted_words(question)
        if not terms:
            return {}
        rows = await self._query(
            _WORDED,
            {
                "project_id": self._project_id,
                "index": self._fulltext_index,
                "terms": terms,
                "most": MAX_RANKED,
            },
        )
        return {row["id"]: row["score"] for row in rows}

    async def _search(self, question: str, vector: Vector) -> list[str]:
        query = FollowupQuery(self._project_id, question, vector, ())
        found = await self._graph.followup(query, Deadline.after(QUESTION_TIMEOUT_S))
        return [chunk.id for chunk in fuse(found.chunks, MAX_RANKED)]


def _ranked_chunk(row: Mapping[str, Any]) -> RankedChunk:
    return RankedChunk(row["document"], words_of(row["text"]), len(row["text"]))


def half_and_half(cosines: Mapping[str, float], bm25: Mapping[str, float]) -> list[str]:
    """Return the ids of both, best first by half the cosine and half the BM25 score.

    Cosines are scaled between the least and the greatest of them, BM25 by its greatest.
    """
    if not cosines:
        return []
    low, high = min(cosines.values()), max(cosines.values())
    greatest = max(bm25.values(), default=1.0)
    span = (high - low) or 1.0
    scores = {
        id_: (cosine - low) / span + bm25.get(id_, 0.0) / greatest
        for id_, cosine in cosines.items()
    }
    return sorted(scores, key=lambda id_: (-scores[id_], id_))

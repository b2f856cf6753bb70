"""Recall on questions whose supporting passages are known, beside the baselines to beat.

Every method answers the same questions over the same database: the full-text index and the vectors
that the search itself uses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from drift.core.deadline import Deadline
from drift.graph.parameters import wanted_words
from drift.local.evals.recall.interval import paired_interval
from drift.local.evals.recall.question_graph import QuestionEmbedder, load_set, project_of
from drift.local.evals.recall.question_sets import LabelledQuestion, QuestionSet
from drift.local.ingest.writers import GraphWriter
from drift.local.say import Say
from drift.model.graph import CommunityId, FollowupQuery, PrimerQuery, Vector
from drift.ports import GraphStore
from drift.search.ranking import ranked

CUTS = (2, 5, 10)
POOL = 60
"""Rows of a leg that are fused."""
PRIMER_COMMUNITIES = 5
QUESTION_TIMEOUT_S = 60.0
_RRF = 60

METHODS = {
    "vector": "cosine alone",
    "bm25": "the full-text index alone",
    "hybrid": "reciprocal ranks of both",
    "hard": "ours inside the primer's communities only",
    "soft": "ours, preferring the primer's communities",
    "ours": "ours over the whole project",
    "ideal_vector": "cosine, sub-questions as follow-ups",
    "ideal_hard": "hard, sub-questions as follow-ups",
    "ideal_soft": "soft, sub-questions as follow-ups",
    "ideal_ours": "ours, sub-questions as follow-ups",
}
"""In the order they are shown; the last four only where a set has sub-questions, whose results are
taken in turns."""

_BY_VECTOR, _BY_WORDS = (
    (files(__package__) / "baselines" / name).read_text("utf-8")
    for name in ("by_vector.cypher", "by_words.cypher")
)

Query = Callable[[str, Mapping[str, Any]], Awaitable[Sequence[Mapping[str, Any]]]]
"""Runs one reading statement and returns its rows."""

Recalls = tuple[float, ...]
"""Recall at each of CUTS, 0..1."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What is measured: the search in both scopes over one database.

    `query` asks that database for the baselines.
    """

    soft: GraphStore
    hard: GraphStore
    writer: GraphWriter
    query: Query
    fulltext_index: str
    embedder: QuestionEmbedder


@dataclass(frozen=True, slots=True)
class SetResult:
    """One set: for each method, the recall of each of its questions in order."""

    name: str
    questions: int
    recalls: Mapping[str, Sequence[Recalls]]


async def measure(sets: Iterable[QuestionSet], bench: Bench, say: Say) -> list[SetResult]:
    """Load what is not loaded and measure every set; errors as the ports raise them."""
    await bench.writer.prepare(bench.embedder.dimensions)
    results = []
    for own in sets:
        say(f"{own.name}: {len(own.passages)} passages, {len(own.questions)} questions")
        if await load_set(own, bench.writer, bench.embedder):
            say(f"{own.name}: loaded")
        results.append(await _measure_set(own, bench))
    return results


async def _measure_set(own: QuestionSet, bench: Bench) -> SetResult:
    vectors = await bench.embedder.questions([question.text for question in own.questions])
    steps = iter(
        await bench.embedder.questions(
            [step for question in own.questions for step in question.steps]
        )
    )
    recalls: defaultdict[str, list[Recalls]] = defaultdict(list)
    for question, vector in zip(own.questions, vectors, strict=True):
        step_vectors = [next(steps) for _ in question.steps]
        contest = _Contest(bench, project_of(own), question, vector, step_vectors)
        for method, ids in (await contest.answers()).items():
            recalls[method].append(recalls_of(ids, question.supporting))
    complete = {name: recalls[name] for name in METHODS if len(recalls[name]) == len(own.questions)}
    return SetResult(own.name, len(own.questions), complete)


@dataclass(frozen=True, slots=True)
class _Contest:
    """One question put to every method."""

    bench: Bench
    project_id: str
    question: LabelledQuestion
    vector: Vector
    steps: Sequence[Vector]

    async def answers(self) -> dict[str, list[str]]:
        """Return the ids that each method finds, best first."""
        scope = await self._communities()
        text, vector = self.question.text, self.vector
        nearest, worded = await self._nearest(vector), await self._worded(text)
        found = {
            "vector": nearest,
            "bm25": worded,
            "hybrid": reciprocal_ranks(nearest, worded),
            "hard": await self._search(self.bench.hard, text, vector, scope),
            "soft": await self._search(self.bench.soft, text, vector, scope),
            "ours": await self._search(self.bench.soft, text, vector),
        }
        return found | (await self._ideal(scope) if self.steps else {})

    async def _ideal(self, scope: tuple[CommunityId, ...]) -> dict[str, list[str]]:
        steps = list(zip(self.question.steps, self.steps, strict=True))
        hard, soft = self.bench.hard, self.bench.soft
        return {
            "ideal_vector": in_turns([await self._nearest(vector) for _, vector in steps]),
            "ideal_hard": in_turns([await self._search(hard, *step, scope) for step in steps]),
            "ideal_soft": in_turns([await self._search(soft, *step, scope) for step in steps]),
            "ideal_ours": in_turns([await self._search(soft, *step) for step in steps]),
        }

    async def _communities(self) -> tuple[CommunityId, ...]:
        query = PrimerQuery(self.project_id, self.question.text, self.vector, PRIMER_COMMUNITIES)
        found = await self.bench.soft.primer(query, Deadline.after(QUESTION_TIMEOUT_S))
        return tuple(community.id for community in found.communities)

    async def _search(
        self, graph: GraphStore, text: str, vector: Vector, scope: tuple[CommunityId, ...] = ()
    ) -> list[str]:
        query = FollowupQuery(self.project_id, text, vector, scope)
        found = ranked(await graph.followup(query, Deadline.after(QUESTION_TIMEOUT_S)))
        return [chunk.id for chunk in found.chunks]

    async def _nearest(self, vector: Vector) -> list[str]:
        return await self._ids(_BY_VECTOR, vector=list(vector))

    async def _worded(self, text: str) -> list[str]:
        terms = wanted_words(text)
        return (
            await self._ids(_BY_WORDS, index=self.bench.fulltext_index, terms=terms)
            if terms
            else []
        )

    async def _ids(self, statement: str, **own: object) -> list[str]:
        rows = await self.bench.query(
            statement, {"project_id": self.project_id, "most": POOL, **own}
        )
        return [str(row["id"]) for row in rows]


# --------------------------------------------------------------------------------------------- pure
def recalls_of(found: Sequence[str], supporting: frozenset[str]) -> Recalls:
    """Return the share of the supporting passages among the first 2, 5 and 10 found.

    It is 1 when none are needed.
    """
    return tuple(
        len(supporting & set(found[:cut])) / len(supporting) if supporting else 1.0 for cut in CUTS
    )


def reciprocal_ranks(*legs: Sequence[str]) -> list[str]:
    """Return the ids of all legs, best first by the sum of 1 / (60 + rank).

    Source: Cormack, Clarke, Büttcher, "Reciprocal rank fusion" (SIGIR 2009).
    """
    votes: defaultdict[str, float] = defaultdict(float)
    for leg in legs:
        for rank, id_ in enumerate(leg, start=1):
            votes[id_] += 1 / (_RRF + rank)
    return sorted(votes, key=lambda id_: (-votes[id_], id_))


def in_turns(lists: Sequence[Sequence[str]]) -> list[str]:
    """Return the first of every list, then the second of every list, and so on, each id once."""
    longest = max(map(len, lists), default=0)
    return list(
        dict.fromkeys(own[rank] for rank in range(longest) for own in lists if rank < len(own))
    )


def report(results: Sequence[SetResult]) -> dict[str, Any]:
    """Return the measurements as one document, in percent.

    `pooled` is over the questions of all sets, with the methods that every set has.
    """
    common = [name for name in METHODS if all(name in result.recalls for result in results)]
    pooled = {name: [r for result in results for r in result.recalls[name]] for name in common}
    at_five = CUTS.index(5)
    gains = [
        ours[at_five] - plain[at_five]
        for ours, plain in zip(pooled["ours"], pooled["hybrid"], strict=True)
    ]
    return {
        "sets": [
            {
                "name": result.name,
                "questions": result.questions,
                "methods": {name: _means(own) for name, own in result.recalls.items()},
            }
            for result in results
        ],
        "pooled": {
            "methods": {name: _means(own) for name, own in pooled.items()},
            "ours_minus_hybrid": {
                "r5": _percent(sum(gains) / max(1, len(gains))),
                "ci95": [_percent(end) for end in paired_interval(gains)],
            },
        },
    }


def _means(recalls: Sequence[Recalls]) -> dict[str, float]:
    return {
        f"r{cut}": _percent(sum(own[place] for own in recalls) / max(1, len(recalls)))
        for place, cut in enumerate(CUTS)
    }


def _percent(share: float) -> float:
    return round(100 * share, 1)

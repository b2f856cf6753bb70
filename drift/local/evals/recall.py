"""Recall on questions whose supporting passages are known, beside the baselines to beat.

Every method answers the same questions over the same database: the full-text index and the vectors
that the search itself uses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from drift.core.deadline import Deadline
from drift.local.evals.comparison import lead, mean, reciprocal_ranks
from drift.local.evals.measured_search import MeasuredSearch
from drift.local.evals.patience import QUESTION_S, Patience
from drift.local.evals.question_graph import load_set, project_of
from drift.local.evals.questions import LabelledQuestion, QuestionSet
from drift.local.say import Say
from drift.model.graph import CommunityId, FollowupQuery, PrimerQuery, Vector
from drift.ports import GraphStore
from drift.search.ranking import ranked

CUTS = (2, 5, 10)
POOL = 60
"""Rows of a leg that are fused."""
PRIMER_COMMUNITIES = 5

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

Recalls = tuple[float, ...]
"""Recall at each of CUTS, 0..1."""


@dataclass(frozen=True, slots=True)
class SetResult:
    """One set: for each method, the recall of each of its questions in order."""

    name: str
    questions: int
    recalls: Mapping[str, Sequence[Recalls]]


async def measure_sets(
    sets: Iterable[QuestionSet], search: MeasuredSearch, patience: Patience, say: Say
) -> list[SetResult]:
    """Load what is not loaded and measure every set; what servers fail stands in `patience`.

    Raises:
        DriftError: the graph is not usable, or nothing could be measured.
    """
    await search.writer.prepare(search.embedder.dimensions)
    results = []
    for own in sets:
        say(f"{own.name}: {len(own.passages)} passages, {len(own.questions)} questions")
        with patience.whole(own.name, (question.id for question in own.questions)):
            if await load_set(own, search.writer, search.embedder):
                say(f"{own.name}: loaded")
            results.append(await _measure_set(own, search, patience))

    patience.end(sum(result.questions for result in results))
    return [result for result in results if result.questions]


async def _measure_set(own: QuestionSet, search: MeasuredSearch, patience: Patience) -> SetResult:
    vectors = await search.embedder.questions([question.text for question in own.questions])
    texts = [step for question in own.questions for step in question.steps]
    steps = iter(await search.embedder.questions(texts))
    methods = _Methods(search, project_of(own))

    measured, recalls = 0, defaultdict[str, list[Recalls]](list)
    for question, vector in zip(own.questions, vectors, strict=True):
        own_steps = [next(steps) for _ in question.steps]
        asked = partial(methods.answer, question, vector, own_steps)
        found = await patience.measured(own.name, question.id, asked)
        measured += found is not None
        for method, ids in (found or {}).items():
            recalls[method].append(recall_at_cuts(ids, question))

    complete = {name: recalls[name] for name in METHODS if len(recalls[name]) == measured}
    return SetResult(own.name, measured, complete)


@dataclass(frozen=True, slots=True)
class _Methods:
    """The findings of every method in a project, best first."""

    search: MeasuredSearch
    project_id: str

    async def answer(
        self, question: LabelledQuestion, vector: Vector, steps: Sequence[Vector]
    ) -> dict[str, list[str]]:
        """Return the ids of the question, and where it has sub-questions of those, in turns."""
        query = PrimerQuery(self.project_id, (), vector, PRIMER_COMMUNITIES)
        primed = await self.search.soft.primer(query, Deadline.after(QUESTION_S))
        scope = tuple(community.id for community in primed)

        worded = await self.search.baselines.worded(self.project_id, question.text, POOL)
        found = await self._ask(question.text, vector, scope)
        hybrid = reciprocal_ranks(found["vector"], list(worded))
        found = {**found, "bm25": list(worded), "hybrid": hybrid}
        if not steps:
            return found

        # within the question's own scope
        asked = zip(question.steps, steps, strict=True)
        parts = [await self._ask(text, step, scope) for text, step in asked]
        ideal = {f"ideal_{name}": in_turns([part[name] for part in parts]) for name in parts[0]}
        return found | ideal

    async def _ask(
        self, text: str, vector: Vector, scope: tuple[CommunityId, ...]
    ) -> dict[str, list[str]]:
        return {
            "vector": await self.search.baselines.nearest(self.project_id, vector, POOL),
            "hard": await self._follow(self.search.hard, text, vector, scope),
            "soft": await self._follow(self.search.soft, text, vector, scope),
            "ours": await self._follow(self.search.soft, text, vector, ()),
        }

    async def _follow(
        self, graph: GraphStore, text: str, vector: Vector, scope: tuple[CommunityId, ...]
    ) -> list[str]:
        query = FollowupQuery(self.project_id, text, vector, scope)
        found = ranked(await graph.followup(query, Deadline.after(QUESTION_S)), text)
        return [chunk.id for chunk in found.chunks]


# --------------------------------------------------------------------------------------------- pure
def recall_at_cuts(found: Sequence[str], question: LabelledQuestion) -> Recalls:
    """Return the share of the supporting passages at each cut, 1 when none are needed."""
    wanted = question.supporting
    if not wanted:
        return (1.0,) * len(CUTS)
    return tuple(len(wanted & set(found[:cut])) / len(wanted) for cut in CUTS)


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
    gain, interval = lead(
        [recalls[at_five] for recalls in pooled["ours"]],
        [recalls[at_five] for recalls in pooled["hybrid"]],
    )

    return {
        "sets": [
            {"name": one.name, "questions": one.questions, "methods": _means(one.recalls)}
            for one in results
        ],
        "pooled": {"methods": _means(pooled), "ours_minus_hybrid": {"r5": gain, "ci95": interval}},
    }


def _means(methods: Mapping[str, Sequence[Recalls]]) -> dict[str, dict[str, float]]:
    cuts = list(enumerate(CUTS))
    return {
        name: {f"r{cut}": mean([own[place] for own in recalls]) for place, cut in cuts}
        for name, recalls in methods.items()
    }

"""A question about all documents together: looks at topics, with passages below each of them.

Map and reduce after the global search of GraphRAG (Edge et al. 2024, arXiv:2404.16130), but over
passages: a summary tells a model what there is, and a passage alone bears a statement out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from drift.answer.conclusion import Conclusion
from drift.answer.streaming import Telling
from drift.core.deadline import task_group
from drift.model.graph import Chunk, Community, Evidence, Vector, WholeEvidence, document_of
from drift.model.reading import AboutProject, about_id
from drift.model.tree import Tree
from drift.prompting import budget
from drift.prompting.elements import RequestHandles
from drift.search.quick import Look, read_once
from drift.search.scope import LOSES_ONLY_THE_STEP, Scope

TOPICS_A_LOOK, FIRST = 6, 10
"""Topics beyond which there is another look, and passages of the question's own that come first."""
MOST_LOOKS = 4
"""Calls side by side, which read the topics of a large project."""
MOST_NAMED = 5
"""Topics that were not read, which an answer names."""


@dataclass(frozen=True, slots=True)
class Whole:
    """What is read of a project: what it knows of itself, its topics, and the question's own finds.

    `own` are the passages that the question itself finds, best first.
    """

    project: AboutProject
    found: WholeEvidence
    own: tuple[Chunk, ...]

    def parts(self, most: int) -> Iterator[tuple[tuple[Community, ...], tuple[Chunk, ...]]]:
        """Yield the topics and chunks of up to `most` looks, a topic's in one of them."""
        topics = self.found.topics
        looks = min(most, -(-len(topics) // TOPICS_A_LOOK)) or 1
        look_of: dict[str, int] = {}
        for place, topic in enumerate(topics):
            look_of |= dict.fromkeys(topic.members - look_of.keys(), place % looks)
        about, chunks = self.project.chunk(), self._in_order()
        for number in range(looks):
            some = [chunk for chunk in chunks if look_of.get(chunk.id, 0) == number]
            first = [about] if about and not number else []
            if some or first:
                yield topics[number::looks], (*first, *some)

    def _in_order(self) -> tuple[Chunk, ...]:
        """Return the chunks to read: the best, one of each other topic and document, the rest."""
        first, further = self.own[:FIRST], self.own[FIRST:]
        topics = [topic for topic in self.found.topics if topic.samples]
        samples = chain.from_iterable(topic.samples for topic in topics)
        behind = (*further, *sorted(samples, key=lambda chunk: -chunk.score))
        known = {chunk.id for chunk in first}
        of_topics = [topic.samples[0] for topic in topics if known.isdisjoint(topic.members)]
        read = {document_of(chunk) for chunk in (*first, *of_topics)}
        of_documents = {document_of(chunk): chunk for chunk in reversed(behind)}
        others = (chunk for chunk in behind if of_documents[document_of(chunk)] is chunk)
        others = (chunk for chunk in others if document_of(chunk) not in read)
        return tuple({one.id: one for one in (*first, *of_topics, *others, *behind)}.values())

    def told(self, looks: Sequence[Look]) -> str:
        """Return the sentence that tells how much these have read, and what was not."""
        shown = {id_ for look in looks for id_ in look.node.chunk_ids}
        topics = self.found.topics
        unread = [one for one in topics if shown.isdisjoint(one.members)]
        passages = len(shown - {about_id(self.project.id)})
        told = f"Read for it: {passages} of {self.project.chunks} passages"
        if not self.found.known:
            return f"{told}."
        told = f"{told}, from {len(topics) - len(unread)} of {self.found.known} topics."
        names = "; ".join([one.title for one in unread if one.title][:MOST_NAMED])
        return f"{told} Not read, for example: {names}." if names else told


@dataclass(frozen=True, slots=True)
class ReadWhole:
    """The findings of looks at the whole, and how much they have read.

    A single look has its `conclusion`; of several, one is still to be made.
    """

    tree: Tree
    told: str
    about_id: str
    conclusion: Conclusion | None = None

    def told_of(self, concluded: Conclusion) -> Conclusion:
        """Return an answer that says how much was read, unless it is made of counts alone."""
        ids = {fact.citation.chunk_id for one in concluded.statements for fact in one.facts}
        if ids == {self.about_id}:
            return concluded
        return replace(concluded, uncertainty=(*concluded.uncertainty, self.told))


async def look_at_whole(
    scope: Scope, own: tuple[Chunk, ...], vector: Vector, telling: Telling
) -> ReadWhole | None:
    """Return what looks at the whole have found, beside the question's `own` passages.

    That is one look for `quick`; a single one is told while it is written. Those that are late are
    left out. None where nothing was found, or the whole cannot be read, which is then logged.
    """
    try:
        async with task_group() as group:
            knowing = group.create_task(scope.about())
            finding = group.create_task(scope.whole(vector))
    except LOSES_ONLY_THE_STEP as error:
        scope.lose("whole_unread", error, code=error.code)
        return None

    project = knowing.result()
    whole = Whole(project, finding.result(), own)
    parts = list(whole.parts(1 if scope.is_quick else MOST_LOOKS))
    is_answer = len(parts) == 1
    tasks = [
        asyncio.create_task(
            _look(scope, *part, telling if is_answer else Telling(), at - len(parts))
        )
        for at, part in enumerate(parts)
    ]
    try:
        await asyncio.wait(tasks, timeout=scope.deadline.until_aggregation())
    finally:
        late = [task for task in tasks if task.cancel()]
        await asyncio.gather(*late, return_exceptions=True)
    if late:
        scope.lose("whole_unread", code="deadline")
        scope.end("max_seconds", scope.deadline.total_s)
    looks = [look for task in tasks if task not in late and (look := task.result())]
    tree = Tree()
    for look in looks:
        if look.found:
            tree.take(look.node, look.evidence.chunks, look.counts)
    if not tree.nodes:
        return None
    concluded = looks[0].conclusion if is_answer else None
    return ReadWhole(tree, whole.told(looks), about_id(project.id), concluded)


async def _look(
    scope: Scope,
    topics: tuple[Community, ...],
    chunks: tuple[Chunk, ...],
    telling: Telling,
    number: int,
) -> Look | None:
    """Return the look at one part of the whole; None where it fails, which is then logged."""
    handles = RequestHandles().including(chunk.id for chunk in chunks)
    most = scope.limits.max_whole_tokens
    reading = budget.whole(scope.question, topics, chunks, handles, most)
    try:
        look, _ = await read_once(
            scope, Evidence(reading.shown), reading, handles, telling, is_last=True
        )
    except LOSES_ONLY_THE_STEP as error:
        scope.lose("whole_unread", error, code=error.code)
        return None
    question = replace(look.node.question, id=number)
    return replace(look, node=replace(look.node, question=question))

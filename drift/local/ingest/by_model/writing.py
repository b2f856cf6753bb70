"""The story of what a model writes: the estimate, then reports, then facts, all of it kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from drift.local.ingest.batch_embedder import BatchEmbedder
from drift.local.ingest.by_model import Tier
from drift.local.ingest.by_model.asking import CALLS_AT_ONCE, Asking, do_all
from drift.local.ingest.by_model.estimate import Estimate, estimate
from drift.local.ingest.by_model.facts import REPLY_SHARE, Facts
from drift.local.ingest.by_model.merging import merge, merge_alike
from drift.local.ingest.by_model.replies import Keep, Replies
from drift.local.ingest.by_model.reports import Reports
from drift.local.ingest.graph_records import (
    ChunkRecord,
    CommunityRecord,
    EntityRecord,
    KnowledgeBatch,
    ModelReply,
)
from drift.local.say import Say
from drift.ports import ChatModel

Done = Callable[[int, int], None]
"""Takes how many calls are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class ByModel:
    """What a model is to write, and within how many tokens; None for as many as it takes.

    `about` turns an estimate into words. Without a model only what was replied before is used.
    """

    chat: ChatModel
    model: str
    tier: Tier
    most_tokens: int | None = None
    about: Callable[[Estimate], str] = lambda estimate: f"about {estimate.tokens:,} tokens"

    @property
    def mark(self) -> str:
        """What stands in a project's fingerprint once all of it is written."""
        return f"{self.tier}:{self.model}"

    def covers(self, fingerprint: str) -> bool:
        """Tell whether a project with this fingerprint holds all of it."""
        return fingerprint.partition(" ")[2] in {self.mark, f"graph:{self.model}"}


@dataclass(slots=True)
class Written:
    """Knowledge with what a model wrote; `is_whole` when nothing is left to ask."""

    knowledge: KnowledgeBatch
    is_whole: bool


async def write_by_model(  # noqa: PLR0913 - one argument a collaborator
    knowledge: KnowledgeBatch,
    chunks: Sequence[ChunkRecord],
    held: Sequence[ModelReply],
    *,
    keep: Keep,
    embedder: BatchEmbedder,
    by_model: ByModel | None,
    done: Done,
    say: Say,
) -> Written:
    """Return the knowledge with reports and facts: those that are kept, and those asked for now.

    Args:
        knowledge: the topics, with their extracted summaries.
        chunks: all chunks of the project.
        held: the replies that the project has.
        keep: stores replies as they arrive.
        embedder: gives entities their vectors.
        by_model: what to ask for; None to ask for nothing.
        done: is told how far the calls are.
        say: is given the estimate, and what was not written.
    """
    replies = Replies(held, keep, by_model.model if by_model else None)
    reports = Reports({chunk.id: chunk for chunk in chunks}, replies)
    facts = Facts(replies)
    if by_model is not None:
        await _ask_for_the_rest(by_model, reports, facts, knowledge, done=done, say=say)

    told = reports.told(knowledge.communities)
    communities = tuple(told.get(c.community, c) for c in knowledge.communities)
    read = facts.told(chunks)
    entities, relations = merge(read)
    vectors = await embedder.embed([f"{one.title}: {one.description}" for one in entities])
    placed = zip(entities, vectors, strict=True)
    entities, relations = merge_alike([replace(e, embedding=v) for e, v in placed], relations)
    is_whole = told.keys() >= _speaking(communities) and not (
        by_model is not None and _reads(by_model) and len(read) < len(chunks)
    )
    made = replace(
        knowledge,
        entities=entities,
        relations=relations,
        communities=tuple(_with_entities(communities, entities)),
    )
    return Written(made, is_whole)


async def _ask_for_the_rest(  # noqa: PLR0913 - one argument a collaborator
    by_model: ByModel,
    reports: Reports,
    facts: Facts,
    knowledge: KnowledgeBatch,
    *,
    done: Done,
    say: Say,
) -> None:
    """Ask for what no reply is kept of, after the estimate is said."""
    communities, chunks = knowledge.communities, tuple(reports.chunks.values())
    lacking = _speaking(communities) - reports.told(communities).keys()
    read = facts.told(chunks)
    unread = [chunk for chunk in chunks if chunk.id not in read] if _reads(by_model) else []
    expected = _estimate(by_model.tier, communities, lacking, unread, reports)
    if not expected.calls:
        return

    say(f"Asking {by_model.model} for knowledge: {by_model.about(expected)}.")
    asking, counter = Asking(by_model.chat, by_model.most_tokens), _Counter(expected.calls, done)
    await _ask_for_reports(reports, knowledge, asking, lacking, counter)
    await do_all(facts.calls(_in_budget(asking, knowledge, unread), asking), counter.one)
    _say_what_is_left(asking, say)


def _speaking(communities: Sequence[CommunityRecord]) -> set[int]:
    """Return the communities that have sentences: a report on a table or a menu guides nobody."""
    return {one.community for one in communities if one.centroid}


def _reads(by_model: ByModel) -> bool:
    return by_model.tier == "graph"


def _estimate(
    tier: Tier,
    communities: Sequence[CommunityRecord],
    lacking: set[int],
    unread: Sequence[ChunkRecord],
    reports: Reports,
) -> Estimate:
    missing = [one for one in communities if one.community in lacking]
    sizes = [
        sum(len(reports.chunks[id_].text) for id_ in one.chunk_ids)
        for one in missing
        if not one.level
    ]
    groups = len(missing) - len(sizes)
    return estimate(tier, sizes, groups, [len(one.text) for one in unread], CALLS_AT_ONCE)


@dataclass(slots=True)
class _Counter:
    expected: int
    done: Done
    calls: int = 0

    def one(self) -> None:
        self.calls += 1
        self.done(self.calls, max(self.calls, self.expected))


async def _ask_for_reports(
    reports: Reports,
    knowledge: KnowledgeBatch,
    asking: Asking,
    lacking: set[int],
    counter: _Counter,
) -> None:
    """Ask for the reports level by level: those above are made of those below."""
    communities = knowledge.communities
    await do_all(reports.topics(communities, asking, lacking), counter.one)
    for level in range(1, 1 + max((one.level for one in communities), default=0)):
        told = reports.told(communities)
        known = [told.get(one.community, one) for one in communities]
        await do_all(reports.groups(known, asking, lacking, level), counter.one)


def _in_budget(
    asking: Asking, knowledge: KnowledgeBatch, unread: Sequence[ChunkRecord]
) -> list[ChunkRecord]:
    """Return the chunks that the budget lets read, in their order.

    They are chosen in rounds: the chunk of each topic that is nearest to its centroid, then next.
    """
    if asking.most_tokens is None:
        return list(unread)

    left = asking.most_tokens - asking.tokens.prompt - asking.tokens.completion
    there = {chunk.id: chunk for chunk in unread}
    chosen: set[str] = set()
    for chunk_id in _rounds(knowledge.communities):
        if chunk_id in there:
            left -= int(len(there[chunk_id].text) / 4 * (1.15 + REPLY_SHARE))
            if left < 0:
                break
            chosen.add(chunk_id)

    if len(chosen) < len(unread):
        asking.left_out = len(unread) - len(chosen)
    return [chunk for chunk in unread if chunk.id in chosen]


def _rounds(communities: Sequence[CommunityRecord]) -> Iterator[str]:
    for turn in zip_longest(*(one.chunk_ids for one in communities if not one.level)):
        yield from filter(None, turn)


def _say_what_is_left(asking: Asking, say: Say) -> None:
    used = f"{asking.calls:,} calls took {asking.tokens.prompt:,} tokens of prompts and "
    used += f"{asking.tokens.completion:,} of replies"
    if asking.unusable:
        used += f"; of {asking.unusable:,} no reply could be used, and nothing is guessed there"
    say(f"{used}.")
    if asking.stopped or asking.left_out:
        why = asking.stopped or f"the budget left out {asking.left_out:,} chunks"
        say(f"Not all of it was asked for: {why}. The same command goes on from there.")


def _with_entities(
    communities: Sequence[CommunityRecord], entities: Sequence[EntityRecord]
) -> Iterator[CommunityRecord]:
    """Yield the communities, each entity in the topic that holds most of its chunks."""
    topic_of: Mapping[str, int] = {
        id_: one.community for one in communities for id_ in one.chunk_ids
    }
    held: dict[int, list[str]] = {}
    for entity in entities:
        topics = Counter(topic_of[id_] for id_ in entity.chunk_ids if id_ in topic_of)
        for topic, _ in topics.most_common(1):
            held.setdefault(topic, []).append(entity.id)

    for one in communities:
        yield replace(one, entity_ids=tuple(held.get(one.community, ())))

"""The story of what a model writes: the estimate, then reports, then facts, all of it kept."""

from __future__ import annotations

from asyncio import to_thread
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, zip_longest

from drift.graph.writing.records import (
    ChunkRecord,
    CommunityRecord,
    EntityRecord,
    KnowledgeBatch,
    ModelReply,
)
from drift.indexing.batch_embedder import BatchEmbedder
from drift.local.ingest.by_model import Tier
from drift.local.ingest.by_model.asking import CALLS_AT_ONCE, Asked, Asking, PlannedCall, do_all
from drift.local.ingest.by_model.estimate import Estimate, estimate, likely_topics
from drift.local.ingest.by_model.facts import KIND, REPLY_SHARE, Facts
from drift.local.ingest.by_model.merging import merge
from drift.local.ingest.by_model.replies import Keep, Replies
from drift.local.ingest.by_model.reports import KINDS, Reports
from drift.local.ingest.report import Reach
from drift.local.say import Say
from drift.model.graph import Vector

EVERY_KIND = (*KINDS, KIND)
"""What replies are kept as today; those of former prompts are not used."""

Done = Callable[[int, int], None]
"""Takes how many calls are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class ByModel:
    """What a model is to write, and within how many tokens; None for as many as it takes.

    `about` turns an estimate into words. Without a model only what was replied before is used.
    """

    chat: Asked
    model: str
    tier: Tier
    most_tokens: int | None = None
    about: Callable[[Estimate], str] = lambda estimate: f"about {estimate.tokens:,} tokens"
    calls_at_once: int = CALLS_AT_ONCE

    @property
    def mark(self) -> str:
        """What stands in a project's fingerprint once all of it is written, by which prompts."""
        kinds = EVERY_KIND if self.tier == "facts" else KINDS
        return f"{'+'.join(kinds)}:{self.model}"

    def covers(self, fingerprint: str) -> bool:
        """Tell whether a project with this fingerprint holds all of it."""
        return fingerprint.partition(" ")[2] in {self.mark, replace(self, tier="facts").mark}


async def write_by_model(  # noqa: PLR0913 - one argument a collaborator
    knowledge: KnowledgeBatch,
    chunks: Sequence[ChunkRecord],
    held: Sequence[ModelReply],
    known: Mapping[str, Vector],
    *,
    keep: Keep,
    embedder: BatchEmbedder,
    by_model: ByModel | None,
    done: Done,
    say: Say,
) -> tuple[KnowledgeBatch, bool, Reach]:
    """Return the knowledge with reports and facts: those that are kept, and those asked for now.

    Beside it whether nothing is left to ask, and how much of it the model wrote.
    `known` are the vectors of the project's entities, by what was embedded, and `held` the replies
    that it has; new ones are kept as they arrive. `say` is given the estimate, and what was not
    written.
    """
    replies = Replies(held, keep, by_model.model if by_model else None)
    reports = Reports({chunk.id: chunk for chunk in chunks}, replies)
    facts = Facts(replies)
    if by_model is not None:
        await _ask_for_the_rest(by_model, reports, facts, knowledge.communities, done, say)

    # In threads, so that the loop goes on renewing the lease on the project.
    told = await to_thread(reports.told, knowledge.communities)
    communities = tuple(told.get(c.community, c) for c in knowledge.communities)
    read = await to_thread(facts.told, chunks)
    entities, relations = await to_thread(merge, read)
    embedded = await embed_entities(entities, known, embedder)
    is_whole = told.keys() >= _speaking(communities) and not (
        by_model is not None and by_model.tier == "facts" and len(read) < len(chunks)
    )
    made = replace(knowledge, relations=relations, communities=communities)
    before = {one.community: one for one in knowledge.communities}
    changed = [one for name, one in told.items() if one != before[name]]
    reach = Reach.of_reports(changed, len(told) - len(changed))
    return await to_thread(with_entities, made, embedded), is_whole, reach


def with_entities(knowledge: KnowledgeBatch, entities: Sequence[EntityRecord]) -> KnowledgeBatch:
    """Return the knowledge with these entities too, each in the topic of most of its chunks."""
    every = (*knowledge.entities, *entities)
    topic_of = {id_: one.community for one in knowledge.communities for id_ in one.chunk_ids}
    held: dict[int, list[str]] = {}
    for entity in every:
        topics = Counter(topic_of[id_] for id_ in entity.chunk_ids if id_ in topic_of)
        for topic, _ in topics.most_common(1):
            held.setdefault(topic, []).append(entity.id)

    communities = (
        replace(one, entity_ids=tuple(held.get(one.community, ()))) for one in knowledge.communities
    )
    return replace(knowledge, entities=every, communities=tuple(communities))


async def embed_entities(
    entities: Sequence[EntityRecord], known: Mapping[str, Vector], embedder: BatchEmbedder
) -> list[EntityRecord]:
    """Return entities with their vectors; what is `known` by its text is not embedded again."""
    texts = [embedded_text(one.title, one.description) for one in entities]
    new = [text for text in dict.fromkeys(texts) if text not in known]
    made = dict(zip(new, await embedder.embed(new), strict=True))
    return [
        replace(entity, embedding=known.get(text) or made[text])
        for entity, text in zip(entities, texts, strict=True)
    ]


def embedded_text(title: str, description: str) -> str:
    """Return what is embedded of an entity."""
    return f"{title}: {description}"


async def _ask_for_the_rest(  # noqa: PLR0913, PLR0917 - one argument a collaborator
    by_model: ByModel,
    reports: Reports,
    facts: Facts,
    communities: Sequence[CommunityRecord],
    done: Done,
    say: Say,
) -> None:
    """Ask for what no reply is kept of, after the estimate is said."""
    asking = Asking(by_model.chat, by_model.most_tokens, by_model.calls_at_once)
    missing = await to_thread(_missing, by_model.tier, asking, reports, facts, communities)
    lacking, unread, expected = missing
    if not expected.calls:
        return

    say(f"Asking {by_model.model} for knowledge: {by_model.about(expected)}.")
    numbers = count(1)

    def told_one() -> None:
        number = next(numbers)
        done(number, max(number, expected.calls))

    async def ask(calls: Iterable[PlannedCall]) -> None:
        await do_all(calls, told_one, asking.at_once)

    await ask(reports.topics(communities, asking, lacking))
    # Level by level: the reports above are made of those below.
    for level in range(1, 1 + max((one.level for one in communities), default=0)):
        told = await to_thread(reports.told, communities)
        known = [told.get(one.community, one) for one in communities]
        await ask(reports.groups(known, asking, lacking, level))
    await ask(facts.calls(_in_budget(asking, communities, unread), asking))
    _say_what_is_left(asking, say)


def _missing(
    tier: Tier,
    asking: Asking,
    reports: Reports,
    facts: Facts,
    communities: Sequence[CommunityRecord],
) -> tuple[set[int], list[ChunkRecord], Estimate]:
    """Return the communities and chunks that no reply is kept of, and about what they take.

    Groups are told by what stands in place of the reports below them.
    """
    chunks = tuple(reports.chunks.values())
    lacking = _speaking(communities) - reports.told(communities).keys()
    read = facts.told(chunks)
    unread = [one for one in chunks if one.id not in read] if tier == "facts" else []
    levels = range(1, 1 + max((one.level for one in communities), default=0))
    told = [*reports.topics(communities, asking, lacking)]
    told += chain(*(reports.groups(communities, asking, lacking, level) for level in levels))
    builds = [one.build for one in facts.calls(unread, asking)]
    return lacking, unread, estimate([one.build for one in told], builds, asking.at_once)


def expected_of_new(by_model: ByModel, chunks: Sequence[ChunkRecord]) -> Estimate:
    """Return about what documents take whose topics are not found yet; each chunk has its title."""

    async def keep(_: Sequence[ModelReply]) -> None:
        """Keep nothing."""

    replies = Replies((), keep, by_model.model)
    asking = Asking(by_model.chat, at_once=by_model.calls_at_once)
    reports = Reports({chunk.id: chunk for chunk in chunks}, replies)
    return _missing(by_model.tier, asking, reports, Facts(replies), likely_topics(chunks))[-1]


def _speaking(communities: Sequence[CommunityRecord]) -> set[int]:
    """Return the communities that have sentences: a report on a table or a menu guides nobody."""
    return {one.community for one in communities if one.says}


def _in_budget(
    asking: Asking, communities: Sequence[CommunityRecord], unread: Sequence[ChunkRecord]
) -> list[ChunkRecord]:
    """Return the chunks that the budget lets read, in their order, chosen in rounds of topics."""
    if asking.most_tokens is None:
        return list(unread)

    left = asking.most_tokens - asking.tokens.prompt - asking.tokens.completion
    there = {chunk.id: chunk for chunk in unread}
    chosen: set[str] = set()
    turns = zip_longest(*(one.chunk_ids for one in communities if not one.level))
    for chunk_id in chain.from_iterable(turns):
        if chunk_id in there:
            left -= int(len(there[chunk_id].text) / 4 * (1.15 + REPLY_SHARE))
            if left < 0:
                break
            chosen.add(chunk_id)

    asking.left_out = len(unread) - len(chosen)
    return [chunk for chunk in unread if chunk.id in chosen]


def _say_what_is_left(asking: Asking, say: Say) -> None:
    used = f"{asking.calls:,} calls took {asking.tokens.prompt:,} tokens of prompts and "
    used += f"{asking.tokens.completion:,} of replies"
    if asking.unusable:
        used += f"; of {asking.unusable:,} no reply could be used, and nothing is guessed there"
    say(f"{used}.")
    if asking.stopped or asking.left_out:
        why = asking.stopped or f"the budget left out {asking.left_out:,} chunks"
        say(f"Not all of it was asked for: {why}. The same command goes on from there.")

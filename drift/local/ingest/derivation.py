"""What a project's documents make together, derived once they are written, where it has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from drift.core.deadline import task_group
from drift.core.errors import IngestError, UpstreamError
from drift.graph.writing.records import (
    ChunkDefinitions,
    ChunkRecord,
    DocumentRecord,
    KnowledgeBatch,
    Member,
    ModelReply,
)
from drift.indexing.batch_embedder import BatchEmbedder
from drift.indexing.documents import Skipped
from drift.indexing.links import URL
from drift.local.ingest.by_model.replies import outdated, part_of
from drift.local.ingest.by_model.writing import (
    EVERY_KIND,
    embed_entities,
    with_entities,
    write_by_model,
)
from drift.local.ingest.changes import SourceChanges
from drift.local.ingest.communities import between
from drift.local.ingest.context import IngestContext
from drift.local.ingest.defined_entities import defined_entities
from drift.local.ingest.first_questions import (
    AMONG,
    MOST_QUESTIONS,
    FirstQuestion,
    first_questions,
)
from drift.local.ingest.knowledge import assign, derive, fingerprint
from drift.local.ingest.neo4j.project import Neo4jProject
from drift.local.ingest.places import require_own_graph
from drift.local.ingest.report import STAGES, Clock, IngestReport, Reach
from drift.local.ingest.stamps import Stamps

DERIVE, ASK, EMBED, KNOWLEDGE = STAGES[2:]


@dataclass(slots=True)
class Derivation:
    """Derives the knowledge of a project that a run holds.

    `stamp` is the fingerprint of the knowledge once that is known, and `reach` what was derived, if
    anything was.
    """

    changes: SourceChanges
    context: IngestContext
    writer: Neo4jProject
    stamp: str = ""
    reach: Reach | None = None
    clock: Clock = field(init=False)
    calls: BatchEmbedder = field(init=False)

    def __post_init__(self) -> None:
        context, stages = self.context, self.changes.stages
        self.clock = Clock(self.result.seconds)
        self.calls = BatchEmbedder(
            context.embedder, context.dimensions, stages.at_once, stages.texts_a_call
        )

    @property
    def project_id(self) -> str:
        """The project that is written."""
        return self.changes.project_id

    @property
    def result(self) -> IngestReport:
        """What the run did so far."""
        return self.changes.result

    async def derive(
        self, seen: Sequence[DocumentRecord], removed: Sequence[str], held: str
    ) -> None:
        """Derive what the documents that questions see make together, unless it is there already.

        What is to be `removed` goes in the moment in which the knowledge without it is the
        project's. `held` is the fingerprint of the knowledge that is there. IngestError when the
        topics cannot be found, or the graph was imported.
        """
        report = self.context.report
        self.stamp = fingerprint(seen, self.context.embedding)
        if self._is_written(held) and not (self.changes.force or removed):
            self.stamp = held
            return

        require_own_graph(self.project_id, seen)
        with self.clock.timed(DERIVE):
            report(DERIVE, 0, 1)
            every, facts = await self.context.graph.read_members(self.project_id)
            gone = set(removed)
            members = [one for one in every if one.document_id not in gone]
            replies = await self.context.graph.read_replies(self.project_id)
            is_known = any(reply.kind in EVERY_KIND for reply in replies)
            is_read_whole = is_known or self.context.by_model is not None
            async with task_group() as group:
                topics = group.create_task(self._topics(members, is_read_whole=is_read_whole))
                entities = group.create_task(asyncio.to_thread(defined_entities, members, facts))

            knowledge, chunks = topics.result()
            report(DERIVE, 1, 1)

        reach = Reach()
        if is_read_whole:
            with self.clock.timed(ASK):
                knowledge, reach = await self._with_replies(knowledge, chunks, replies)

        with self.clock.timed(EMBED):
            if defined := entities.result():
                knowledge = await asyncio.to_thread(with_entities, knowledge, defined)
            knowledge = replace(knowledge, embedding_model=self.context.model)
            knowledge = await self._with_questions(knowledge, members, chunks, facts)
            compared = await self.writer.compare(knowledge)
            knowledge = await self._embed_new(knowledge, compared.kept)

        with self.clock.timed(KNOWLEDGE):
            report(KNOWLEDGE, 0, 1)
            await self.writer.write_knowledge(knowledge, removed, compared)
            if replies:
                await self._drop_replies(replies, chunks)
            report(KNOWLEDGE, 1, 1)

        self.reach = reach_of(knowledge, reach)

    def _is_written(self, held: str) -> bool:
        """Tell whether the knowledge is there, with all that a model is asked to write."""
        is_same = held.partition(" ")[0] == self.stamp
        return is_same and (self.context.by_model is None or self.context.by_model.covers(held))

    async def _topics(
        self, members: Sequence[Member], *, is_read_whole: bool
    ) -> tuple[KnowledgeBatch, list[ChunkRecord]]:
        """Return the topics of these chunks, and the chunks read: of changed topics, or all."""
        project_id, dimensions = self.project_id, self.context.dimensions
        kept = None
        if not self.changes.force:
            kept = await self.context.graph.read_topics(project_id, self.context.model)

        # In threads, so that the loop goes on renewing the lease on the project.
        assignment = None
        if kept is not None:
            new = [one for one in members if one.chunk_id not in kept.topic_of]
            read = await self.context.graph.read_chunks(project_id, new, dimensions)
            assignment = await asyncio.to_thread(assign, members, read, kept)

        wanted = members
        if assignment is not None and not is_read_whole:
            placed = zip(members, assignment.topics, strict=True)
            wanted = [one for one, topic in placed if topic in assignment.affected]
        chunks = await self.context.graph.read_chunks(project_id, wanted, dimensions)

        work = partial(derive, members, chunks, self.stamp, kept, assignment)
        knowledge = await asyncio.to_thread(self.context.guard, "knowledge", work, None)
        if isinstance(knowledge, Skipped):
            raise IngestError(
                f"The knowledge of project {project_id} {knowledge.reason}. Its documents "
                f"are stored, and the next run derives it again."
            )
        return knowledge, [chunks[one.chunk_id][0] for one in wanted]

    async def _embed_new(self, knowledge: KnowledgeBatch, kept: Stamps) -> KnowledgeBatch:
        """Return the knowledge with the vectors of what is not as it was before."""
        new = len(knowledge.communities) - len(kept.communities)
        self.context.report(EMBED, 0, new)

        bare = [e for e in knowledge.entities if not e.embedding and e.id not in kept.entities]
        if bare:
            # By title: what moved with its file has another id, and says the same.
            titles = list({entity.title for entity in bare})
            known = await self.context.graph.read_entity_vectors(
                self.project_id, self.context.model, titles
            )
            made = {one.id: one for one in await embed_entities(bare, known, self.calls)}
            entities = tuple(made.get(entity.id, entity) for entity in knowledge.entities)
            knowledge = replace(knowledge, entities=entities)

        embedded = await embed_communities(self.calls, knowledge, kept.communities)
        self.context.report(EMBED, new, new)
        return embedded

    async def _with_questions(
        self,
        knowledge: KnowledgeBatch,
        members: Sequence[Member],
        chunks: Sequence[ChunkRecord],
        facts: Sequence[ChunkDefinitions],
    ) -> KnowledgeBatch:
        """Return the knowledge with questions to begin with, whose passages a search finds first.

        Those of before stay while their chunks do, and new ones fill their places. Chunks that were
        cut elsewhere keep their ids with other words: no question to a changed document stays.
        """
        changed = {*self.result.changed}
        stay = {one.chunk_id for one in members if one.document_id not in changed}
        held = [line.partition("\n")[::2] for line in knowledge.questions]
        kept = [one for one in held if one[0] in stay]
        asked = {text for _, text in kept}
        topics = [one for one in knowledge.communities if not one.level]
        made = partial(first_questions, topics, {one.id: one for one in chunks}, facts)
        made_new = await asyncio.to_thread(made) if len(kept) < MOST_QUESTIONS else []
        new = [one for one in made_new if one[1] not in asked]
        try:
            kept += await self._found_first(new) if new else []
        except UpstreamError as error:
            self.context.say(f"No questions to begin with are made: {error}")
        return replace(knowledge, questions=tuple(map("\n".join, kept[:MOST_QUESTIONS])))

    async def _found_first(self, asked: Sequence[FirstQuestion]) -> list[FirstQuestion]:
        """Return the questions whose passages stand among the first that a search finds."""
        texts = [text for _, text in asked]
        vectors = await self.calls.embed(texts)
        found = await self.context.graph.first_found(self.project_id, texts, vectors)
        pairs = zip(asked, found, strict=True)
        return [one for one, ids in pairs if one[0] in ids[:AMONG]]

    async def _with_replies(
        self,
        knowledge: KnowledgeBatch,
        chunks: Sequence[ChunkRecord],
        held: Sequence[ModelReply],
    ) -> tuple[KnowledgeBatch, Reach]:
        """Return the knowledge with what a model writes and wrote before, and how much that is.

        A chunk of no topic says what several documents say: nothing is asked of it.
        """
        in_topics = {id_ for one in knowledge.communities for id_ in one.chunk_ids}
        known = await self.context.graph.read_entity_vectors(self.project_id, self.context.model)
        knowledge, is_whole, reach = await write_by_model(
            knowledge,
            [chunk for chunk in chunks if chunk.id in in_topics],
            held,
            known,
            keep=self.writer.keep_replies,
            embedder=self.calls,
            by_model=self.context.by_model,
            done=partial(self.context.report, ASK),
            say=self.context.say,
        )
        if self.context.by_model is not None and is_whole:
            self.stamp = f"{self.stamp} {self.context.by_model.mark}"
        return replace(knowledge, fingerprint=self.stamp), reach

    async def _drop_replies(
        self, held: Sequence[ModelReply], chunks: Sequence[ChunkRecord]
    ) -> None:
        """Remove the replies that are of no use; those about documents that are off stay."""
        texts = [chunk.text for chunk in chunks]
        texts += await self.context.graph.read_texts_off(self.project_id)
        await self.writer.drop_replies(outdated(held, EVERY_KIND, map(part_of, texts)))


def reach_of(knowledge: KnowledgeBatch, by_model: Reach) -> Reach:
    """Return how many chunks the search comes to by this knowledge, with what a model wrote."""
    topics = [one for one in knowledge.communities if not one.level]
    named = [one for one in knowledge.entities if one.label != URL]
    return replace(
        by_model,
        topics=len(topics),
        groups=len(knowledge.communities) - len(topics),
        told=len({id_ for one in topics if one.says for id_ in one.chunk_ids}),
        linked=len({id_ for entity in named for id_ in entity.chunk_ids}),
        addresses=len(knowledge.entities) - len(named),
    )


async def embed_communities(
    embedder: BatchEmbedder, knowledge: KnowledgeBatch, kept: Collection[int] = frozenset()
) -> KnowledgeBatch:
    """Return the knowledge with the vectors of its communities, but of those that are kept."""
    new = [c for c in knowledge.communities if c.says and c.community not in kept]
    vectors = await embedder.embed([community.summary for community in new])
    made = dict(zip((c.community for c in new), vectors, strict=True))
    return replace(
        knowledge,
        communities=tuple(
            replace(c, embedding=between(made[c.community], c.mean)) if c.community in made else c
            for c in knowledge.communities
        ),
    )

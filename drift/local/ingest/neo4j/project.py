"""A project in Neo4j: what the holder of a project's lease may do to all that is made of it.

Each step happens whole or not at all.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from itertools import chain

from drift.core.deadline import task_group
from drift.core.errors import GraphMisconfiguredError, IngestError
from drift.graph.connection import Statement
from drift.graph.writing.documents import REVEAL_TIMEOUT_S, ProjectDocuments
from drift.graph.writing.records import KnowledgeBatch, ModelReply
from drift.graph.writing.rows import ROWS, require_one_length
from drift.local.ingest.neo4j import knowledge_statements as statements
from drift.local.ingest.neo4j.knowledge_rows import knowledge_steps, reply_row, retire_steps
from drift.local.ingest.stamps import Comparison, Stamps, stamps_of

READERS_WAIT_S = 30.0
"""No question's statement takes longer."""
_LOOK_EVERY_S = 0.05

_KNOWLEDGE = ("__Entity__", "__Community__")


class Neo4jProject(ProjectDocuments):
    """Writes of one project while its lease is held; LeaseLostError when it is not."""

    async def write_knowledge(
        self,
        batch: KnowledgeBatch,
        removed: Sequence[str] = (),
        compared: Comparison | None = None,
    ) -> None:
        """Make the project's knowledge exactly this, and set the fingerprint.

        What is new of it is written beside what is there. One transaction makes that the project's,
        together with what stays, and removes the documents that are to go; then what is old is
        removed. References to chunks or entities that the project does not hold are left out.
        IngestError where vectors differ in length, or somebody else removed what was written; the
        old knowledge stays. `compared` is what `compare` told of it, where the caller asked.
        """
        vectors = [entity.embedding for entity in batch.entities]
        vectors += [community.embedding for community in batch.communities]
        require_one_length(vectors)

        await self.settle()
        begun = (await self.once(statements.BEGIN_KNOWLEDGE, self._named))[0]
        generations = {"generation": begun["generation"], "visible": begun["visible"]}
        compared = compared or await self.compare(batch)
        # What is replaced is marked first: an edge to its successor finds one node of the name.
        mean = self._version.named("mean")
        steps = chain(retire_steps(compared), knowledge_steps(batch, compared, mean))
        # Each is made in a thread, so that the loop goes on renewing the lease.
        while step := await asyncio.to_thread(next, steps, None):
            text, rows, size = step
            await self.rows(text, rows, size, **generations)

        await self._switch(generations, batch, removed)
        await self.settle()

    async def compare(self, batch: KnowledgeBatch) -> Comparison:
        """Compare knowledge with what questions see, none of which is kept for other vectors."""
        models = [batch.embedding_model] if batch.embedding_model else None
        values = {**self._named, "embedding_models": models}
        async with task_group() as group:
            new = group.create_task(asyncio.to_thread(stamps_of, batch))
            row = (await self.once(statements.READ_STAMPS, values))[0]
        return Comparison(new.result(), Stamps(dict(row["entities"]), dict(row["communities"])))

    async def keep_replies(self, replies: Sequence[ModelReply]) -> None:
        """Keep what a model replied; a run that breaks afterwards has it."""
        await self.rows(statements.KEEP_REPLIES, [reply_row(reply) for reply in replies], ROWS)

    async def drop_replies(self, keys: Sequence[str]) -> None:
        """Remove replies by their keys."""
        await self.rows(statements.DROP_REPLIES, [{"key": key} for key in keys], ROWS)

    async def settle(self) -> None:
        """Remove what is left of generations that no question sees, or of runs that broke.

        IngestError when the project is half restored or deleted.
        """
        unsettled = await self.once(statements.UNSETTLED, self._named)
        if not unsettled:
            return
        if unsettled[0]["is_restoring"] or unsettled[0]["is_deleting"]:
            half = "restored" if unsettled[0]["is_restoring"] else "deleted"
            raise IngestError(
                f"Project {self.project_id} is half {half}, and cannot be used: restore its folder "
                f"once more, or remove what is left (drift projects delete)."
            )

        await self._readers_left()
        values = {**self._named, "generation": unsettled[0]["generation"]}
        for label in _KNOWLEDGE:
            await self.until_none(statements.drop_other_generations(label), values)

        async def work(run: Statement) -> None:
            for label in _KNOWLEDGE:
                await run(statements.reinstate(label), self._named)
            await run(statements.SETTLE, self._named)

        await self._lease.transaction(work, REVEAL_TIMEOUT_S)

    async def _switch(
        self, generations: Mapping[str, int], batch: KnowledgeBatch, removed: Sequence[str]
    ) -> None:
        """Make a generation the project's, after a look whether it is all there."""
        values = {**self._named, **generations, "fingerprint": batch.fingerprint}
        values |= {"embedding_model": batch.embedding_model, "clustered": batch.clustered}
        values["questions"] = list(batch.questions)
        entities = len({entity.id for entity in batch.entities})
        communities = len({community.community for community in batch.communities})

        async def work(run: Statement) -> None:
            await self._remove(run, removed)
            stored = (await run(statements.KNOWLEDGE_STATE, values)).records[0]
            counts = {
                "entities": stored["entities"],
                "relations": stored["relations"],
                "communities": sum(number for _, number in stored["communities"]),
            }
            if (counts["entities"], counts["communities"]) != (entities, communities):
                raise IngestError(
                    f"The graph holds {counts['entities']} entities and {counts['communities']} "
                    f"communities where {entities} and {communities} were written: something else "
                    "changes this project. Its earlier knowledge stays; run this again."
                )

            await run(statements.FRESHEN, values)
            await run(statements.SWITCH, {**values, **counts})

        await self._lease.transaction(work, REVEAL_TIMEOUT_S)

    async def _readers_left(self) -> None:
        """Wait until every question that may still read an older generation has been answered."""
        give_up = time.monotonic() + READERS_WAIT_S
        reading = await self._readers()
        while reading and time.monotonic() < give_up:
            await asyncio.sleep(_LOOK_EVERY_S)
            reading &= await self._readers()

    async def _readers(self) -> set[str]:
        try:
            result = await self._lease.connection.write(statements.SHOW_READERS, {})
        except GraphMisconfiguredError:
            # This user may not look. What vanishes under a question is left out of its answer.
            return set()
        return {record["id"] for record in result.records}

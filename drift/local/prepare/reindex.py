"""Another embedding model: its vectors are built beside the old ones, and used once all are there.

Killed at any point, the old ones answer, and the next run goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from drift.core.errors import IngestError
from drift.graph.connection import Connection
from drift.graph.cypher.legs import PERSONAL
from drift.graph.cypher.schema import Schema, schema_named
from drift.graph.indexes import IndexNames, WantedIndex
from drift.graph.versions import FIRST, VectorVersion, keep_version, read_known_format
from drift.indexing.batch_embedder import BatchEmbedder
from drift.local.ingest.neo4j.ddl import drop_index, vector_indexes
from drift.local.ingest.neo4j.document_vectors import fill_documents
from drift.local.ingest.neo4j.schema import create_missing, wait_until_online
from drift.local.ingest.report import Report
from drift.local.prepare import vector_statements as statements
from drift.local.prepare.filling import Filling, TextCount
from drift.local.prepare.kinds import every_text
from drift.local.say import Say

KINDS: Mapping[str, str] = {
    "__Chunk__": "chunks",
    "__OffChunk__": "chunks that are off",
    "__Entity__": "entities",
    PERSONAL: "own nodes",
    "__Community__": "communities",
    "__Document__": "documents",
}
"""What the labels are called."""


@dataclass(frozen=True, slots=True)
class Reindexing:
    """Works on one graph; building it opens nothing."""

    connection: Connection
    names: IndexNames
    graph_schema: str
    """A value of GRAPH_SCHEMA."""

    @property
    def schema(self) -> Schema:
        """How the graph is built."""
        return schema_named(self.graph_schema)

    async def count(
        self, version: VectorVersion, project_id: str | None = None
    ) -> dict[str, TextCount]:
        """Return the counts of texts to embed, by label, of a project or all; raises as reads."""
        filling = Filling(self.connection, self.schema, version, project_id)
        return {label: await filling.texts(label) for label in every_text(self.schema)}

    async def build(
        self, version: VectorVersion, embedder: BatchEmbedder, *, report: Report, say: Say
    ) -> None:
        """Give every text of every project a vector of this version, and have it used then.

        IngestError where the name, or the model, is that of another version, or texts have such
        vectors of nobody knows which model; GraphMisconfiguredError where a newer release wrote the
        graph; other errors as the ports do. What was written stays.
        """
        now = await self._begun(version)
        wanted = self._indexes(version)
        await create_missing(self.connection, wanted, version.dimensions)

        filling = Filling(self.connection, self.schema, version, means=True)
        texts = await self.count(version)
        done = {label: one.number - one.lacking for label, one in texts.items()}
        total = sum(one.number for one in texts.values())
        has_written = True
        while has_written:  # what was added or changed meanwhile is looked for again
            has_written = False
            for label, one in texts.items():
                for part in await filling.bare(label):
                    number = await filling.write(label, part, embedder)
                    has_written = has_written or number > 0
                    done[label] = min(done[label] + number, one.number)
                    report(KINDS[label], done[label], one.number)
                    built = f"{sum(done.values()):,} of {total:,} texts"
                    await keep_version(self.connection, replace(now, built=built))

        if embedder.lost:
            say(
                f"{embedder.lost:,} texts got a vector of zeros, or one that is not finite, from "
                "the model: no search by vector finds them."
            )
        if self.schema.has_projects:
            await fill_documents(self.connection, version.vector)
        await wait_until_online(self.connection, wanted, version.dimensions, say=say)
        await keep_version(self.connection, version)

    def _indexes(self, version: VectorVersion) -> tuple[WantedIndex, ...]:
        vector = version.vector_in(self.schema)
        return vector_indexes(self.schema, self.names.of(version), vector)

    async def _begun(self, version: VectorVersion) -> VectorVersion:
        """List a version as one that is being built, unless it is whole already."""
        wanted = f"{version.model} with {version.dimensions} floats"
        for known in (await read_known_format(self.connection)).versions:
            is_of = known.is_of(version.model, version.dimensions)
            if known.name == version.name and is_of:
                return known
            if is_of:
                raise IngestError(f"Version {known.name} is of {wanted} already: name that one.")
            if known.name == version.name:
                raise IngestError(
                    f"Version {known.name} is of {known.model} with {known.dimensions} floats, and "
                    f"OAI_EMBED_MODEL_NAME and VECTOR_INDEX_DIMENSIONS name {wanted}: give this "
                    "model another version, or drop that one first."
                )

        texts = (await self.count(version)).values()
        if held := sum(one.number - one.lacking for one in texts):
            raise IngestError(
                f"{held:,} texts have `{version.vector_in(self.schema)}` already, and no version "
                f"{version.name} is listed that says which model made it: give another name to "
                "this one."
            )

        begun = replace(version, state="building", built="nothing yet")
        await keep_version(self.connection, begun)
        return begun

    async def drop(self, name: str, *, say: Say, is_meant: bool = True) -> None:
        """Remove a version: first it is used no more, then its indexes and vectors go.

        IngestError where there is none, a text would be left that no other one has a vector of, or
        it is not meant.
        """
        known = {one.name: one for one in (await read_known_format(self.connection)).versions}
        known[FIRST.name] = FIRST
        if name not in known:
            there = ", ".join(sorted(known))
            raise IngestError(f"There is no version {name} of vectors. There are: {there}.")

        version = known.pop(name)
        if version.state == "whole":
            await self._require_others(name, [v for v in known.values() if v.state == "whole"])
        if not is_meant:
            texts = (await self.count(version)).values()
            raise IngestError(
                f"This removes {sum(one.number - one.lacking for one in texts):,} vectors of "
                f"version {name} and their indexes, with --yes: nothing was removed."
            )

        if version != FIRST:
            await keep_version(self.connection, replace(version, state="building"))
        for one in self._indexes(version):
            await self.connection.write(drop_index(one.name), {})

        vector, labels = version.vector_in(self.schema), [*every_text(self.schema)]
        names = [vector]
        if self.schema.has_projects:  # in a graph of others nothing else is ours
            names += map(version.named, ("embedding_hash", "embedding_model", "mean"))
            labels.append("__Document__")
        for label in labels:
            say(f"Removing {vector} from {KINDS[label]} ...")
            text = statements.remove_properties(self.schema.label(label))
            await self.connection.write_in_batches(text, {"names": names})

        if version == FIRST:
            await self.connection.write(statements.FORGET_MODELS, {})
        else:
            await keep_version(self.connection, version, gone=True)

    async def _require_others(self, name: str, others: Sequence[VectorVersion]) -> None:
        """Check that one of the other versions has a vector of every text."""
        if not others:
            raise IngestError(
                f"{name} is the only version of vectors that is whole, and without it nothing is "
                "found: nothing was removed."
            )

        lacking = {
            other.name: sum(one.lacking for one in (await self.count(other)).values())
            for other in others
        }
        best = min(lacking, key=lacking.__getitem__)
        if lacking[best]:
            mend = f"`drift reindex --model-version {best}`"
            if best == FIRST.name:
                mend = "an ingest with its model (or `drift prepare --embed`)"
            raise IngestError(
                f"Without version {name} {lacking[best]:,} texts have no vector, for version "
                f"{best} lacks them: nothing was removed. They get one by {mend}."
            )

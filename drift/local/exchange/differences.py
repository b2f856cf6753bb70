"""What differs between files, graph and vectors, each with what mends it; some of it is mended."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from drift.graph.cypher.schema import DEFAULT
from drift.graph.versions import VectorVersion
from drift.graph.writing.records import DocumentRecord
from drift.indexing.batch_embedder import BatchEmbedder
from drift.indexing.documents import Skipped
from drift.local.exchange import project_statements as statements
from drift.local.exchange.folder import Row
from drift.local.ingest import pipeline
from drift.local.ingest.context import IngestContext
from drift.local.ingest.files import REPEATS, look_at
from drift.local.ingest.identity import possible_files
from drift.local.ingest.places import is_gone
from drift.local.ingest.run import refuse_two_models
from drift.local.prepare import vector_statements
from drift.local.prepare.filling import Filling

NAMED = 10


@dataclass(frozen=True, slots=True)
class Difference:
    """Something of a project that is not as it should be: what, how much of it, and the first.

    `mend` is the command that mends it; empty for what was mended.
    """

    what: str
    number: int
    mend: str = ""
    examples: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ProjectDifferences:
    """Finds what differs in one project, and mends what needs no file and no decision."""

    project_id: str
    context: IngestContext

    async def found(self) -> list[Difference]:
        """Return the differences, also mended ones; errors as for any write, and of the model."""
        graph, dimensions = self.context.graph, self.context.dimensions
        async with graph.writing(self.project_id, say=self.context.say) as project:
            about: Row = {"project_id": self.project_id, "dimensions": dimensions}
            held = (await project.once(statements.GENERATION, about))[0]
            version = await graph.own.version()
            about |= {"generation": held["generation"], "vector": version.vector}
            row = (await project.once(statements.DIFFERENCES, about))[0]
            state = await graph.project_state(self.project_id)
            refuse_two_models(self.project_id, state, self.context.embedding)
            if row["orphans"]:
                await project.until_none(statements.DROP_ORPHANS, about)
            embedded = await self._embed(version)

        files = await asyncio.to_thread(lambda: list(self._files(state.documents.values())))
        anew = f"drift ingest FOLDER --project {quote(self.project_id)} --force"
        lengths = f"vectors of another length than {dimensions}"
        listed = [
            *files,
            Difference("documents not whole", len(row["broken"]), anew, row["broken"][:NAMED]),
            Difference(lengths, row["others"], anew),
            Difference("chunks without a document", row["orphans"]),
            Difference("chunks or communities without a vector", embedded),
        ]
        is_derived = held["properties"].get("clustered_chunks") is not None
        is_behind = bool(row["orphans"]) or not held["properties"].get("fingerprint")
        if is_derived and is_behind and not row["broken"]:
            listed.append(Difference("knowledge that is behind", 1))
            await pipeline.switch((), self.project_id, self.context, on=True)
        return [one for one in listed if one.number]

    def _files(self, documents: Iterable[DocumentRecord]) -> Iterator[Difference]:
        """Compare stored places of this machine with the files there."""
        gone: dict[str, list[str]] = defaultdict(list)
        changed: dict[str, list[str]] = defaultdict(list)
        for one in documents:
            places = possible_files(one.id, one.source) if one.source.startswith("/") else []
            file = next((place for place in places if not is_gone(place)), None)
            if places and file is None:
                gone[one.source].append(one.id)
            elif file is not None and one.version.content_hash:
                read = look_at(Path(file), one.id)
                is_other = isinstance(
                    read, Skipped
                ) or read.content_hash != one.version.content_hash.removesuffix(REPEATS)
                if is_other and not (isinstance(read, Skipped) and read.unreadable):
                    changed[one.source].append(one.id)

        for what, by_source in (("gone", gone), ("changed", changed)):
            for source, names in by_source.items():
                mend = f"drift ingest {quote(source)} --project {quote(self.project_id)}"
                mend += " --yes" if is_gone(source) else ""
                told = f"documents of {source} whose file is {what}"
                yield Difference(told, len(names), mend, sorted(names)[:NAMED])

    async def _embed(self, version: VectorVersion) -> int:
        """Give chunks and communities the vectors that they lack, and count them."""
        connection = self.context.graph.connection
        filling = Filling(connection, DEFAULT, version, self.project_id, means=True)
        embedder = BatchEmbedder(self.context.embedder, self.context.dimensions)
        written = 0
        for label in vector_statements.TEXTS:
            for part in await filling.bare(label):
                written += await filling.write(label, part, embedder)
        return written

"""A project into a folder, back into the graph, and out of it for good.

What questions would see at once is written where they do not look, and shown when all is there; a
project is hidden before it is removed. So they see all of it or nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from typing import TypeVar

from neo4j.exceptions import DriverError

from drift.core.errors import DriftError, IngestError
from drift.graph.connection import Statement
from drift.graph.indexes import project_key
from drift.graph.node_store import Neo4jNodeStore
from drift.graph.versions import VectorVersion
from drift.graph.writing.clauses import OFF, STAGED
from drift.graph.writing.documents import REVEAL_TIMEOUT_S
from drift.graph.writing.rows import ROWS, ROWS_WITH_VECTORS
from drift.local.exchange import folder as files
from drift.local.exchange import project_statements as statements
from drift.local.exchange.folder import FolderWriter, Manifest, Row
from drift.local.exchange.folder_reading import ExportedFolder, read_manifest
from drift.local.exchange.rules import (
    NOT_OF_PROJECT,
    require_edge,
    require_node,
    require_project,
)
from drift.local.exchange.values import encode_all
from drift.local.ingest import originals
from drift.local.ingest.neo4j.project import Neo4jProject
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.say import Say

AT_ONCE = 20_000
"""Documents, chunks and own nodes that are shown, or hidden, in one transaction: a project of more
is so in several."""

_T = TypeVar("_T")
_FIRST: tuple[str | float, ...] = ("", float("-inf"))
"""What keys stand behind: those that are text, and those that are numbers."""
_OF_PROJECT_KEY = ("__Chunk__", OFF, "__Entity__")
"""What full text finds by a hash of its project."""


# ------------------------------------------------------------------------------------------- export
async def export_project(project_id: str, folder: Path, writer: Neo4jWriter, say: Say) -> Manifest:
    """Write a project into a new folder, as it is at one moment, and return what stands there.

    Raises:
        IngestError: the folder is there already, or a node holds what a folder cannot.
        ProjectBusyError, LeaseLostError, GraphUnavailableError: as for any write.
    """
    with files.made_whole(folder) as beside, ExitStack() as stack:
        async with writer.writing(project_id, say=say) as project:
            about: Row = {"project_id": project_id, "most": ROWS_WITH_VECTORS}
            found = (await project.once(statements.GENERATION, about))[0]
            about["generation"] = found["generation"]
            properties = _of_project(found["properties"])
            versions = [str(one) for one in (await writer.own.said()).versions]
            manifest = Manifest(project_id=project_id, properties=properties, versions=versions)
            await _write_all(project, about, FolderWriter(beside, manifest, stack))
    return manifest


def _of_project(stored: Row) -> Row:
    """Return what an export tells of a project's node; IngestError for what it cannot hold."""
    kept = stored.keys() - NOT_OF_PROJECT - {*statements.OF_COPY}
    properties = {name: stored[name] for name in sorted(kept)}
    try:
        require_project(properties)
        return encode_all(properties)
    except (TypeError, ValueError) as error:
        raise IngestError(
            f"The project's own node holds what an export cannot hold ({error}): change or remove "
            f"it, or store it as text."
        ) from error


async def _write_all(project: Neo4jProject, about: Row, into: FolderWriter) -> None:
    counts = (await project.once(statements.COUNTS, about))[0]["nodes"]
    for kind, key in statements.KINDS.items():
        before: object = None
        async for record in _nodes_of(project, kind, about):
            if record["key"] != before:  # of two with one key the count tells
                _write_node(kind, record, about["generation"], into)
            before = record["key"]
        if (written := into.manifest.nodes[kind]) != counts[kind]:
            raise IngestError(
                f"The project has {counts[kind]:,} nodes {kind}, and only {written:,} of them have "
                f"a `{key}` of their own: give each one, and export again."
            )
    into.end()


async def _nodes_of(project: Neo4jProject, kind: str, about: Row) -> AsyncIterator[Row]:
    """Yield the project's nodes of a kind by their keys, each with its edges."""
    text = statements.page(kind)
    if kind in statements.LISTED:
        found = await project.once(statements.places(kind), about)
        for places in _batches((one["place"] for one in found), ROWS_WITH_VECTORS):
            for record in await project.once(text, {**about, "places": places}):
                yield record
        return

    for first in _FIRST:
        after = first
        while records := await project.once(text, {**about, "after": after}):
            for record in records:
                yield record
            after = records[-1]["key"]


def _write_node(kind: str, record: Row, generation: int, into: FolderWriter) -> None:
    key = record["key"]
    try:
        stored = {n: v for n, v in sorted(record["properties"].items()) if n != "project_id"}
        node = {"kind": kind, "key": key, "labels": record["labels"], "properties": stored}
        node |= {"in_project": record["in_project"]}
        edges = [one | {"from": [kind, key]} for one in record["edges"] if one["to"] is not None]
        require_node(node, generation)
        for edge in edges:
            require_edge(edge)
        vectors = files.vectors_among(kind, stored)
        told = encode_all({n: v for n, v in stored.items() if n not in vectors})
        edges = [one | {"properties": encode_all(one["properties"])} for one in edges]
    except (TypeError, ValueError, DriverError) as error:
        raise IngestError(
            f"{kind} {key}, or an edge of it, holds what an export cannot hold ({error}): change "
            f"or remove it, or store it as text."
        ) from error

    into.node({**node, "properties": told}, vectors)
    into.manifest.left_out += len(record["edges"]) - len(edges)
    for edge in edges:
        into.edge(edge)


# ------------------------------------------------------------------------------------------ restore
async def restore_project(
    folder: Path, project_id: str | None, writer: Neo4jWriter, dimensions: int, say: Say
) -> Manifest:
    """Make a project of an exported folder, and return what the folder says of itself.

    Without an id it has the one that it had.

    Raises:
        IngestError: the folder is none that this release reads, is damaged, or holds what no export
            writes; there is a project of this name; its vectors are of another length than
            `dimensions`. Nothing is changed.
        GraphMisconfiguredError: a vector index of the database is of another length.
        ProjectBusyError, LeaseLostError, GraphUnavailableError: as for any write.
    """
    exported = await asyncio.to_thread(read_manifest, folder, project_id)
    manifest, version = exported.manifest, await writer.own.version()
    if others := manifest.vectors.get(version.vector, {}).keys() - {str(dimensions)}:
        raise IngestError(
            f"Vectors in {folder} have {', '.join(sorted(others))} floats, and those of this "
            f"database {dimensions} (VECTOR_INDEX_DIMENSIONS): it cannot hold them."
        )
    await asyncio.to_thread(exported.check)

    await writer.prepare(dimensions)
    if any(manifest.nodes.get(kind) for kind in statements.OWN):
        await Neo4jNodeStore(writer.connection, writer.own).prepare(dimensions)
    async with writer.writing(exported.project_id, say=say, half_done=True) as project:
        await _Restore(project, exported, (await writer.own.said()).versions).write(say)
    await writer.fill_documents()  # those of an earlier release's folder have no vector
    return manifest


class _Restore:
    def __init__(
        self, project: Neo4jProject, exported: ExportedFolder, versions: Sequence[VectorVersion]
    ) -> None:
        self._project = project
        self._exported = exported
        # A version of the same name may be of another model here.
        there = {*exported.manifest.versions}
        foreign = {VectorVersion(one.split()[0]) for one in there ^ {*map(str, versions)}}
        self._vectors = {one.named(n) for n in ("embedding", "embedding_hash") for one in foreign}
        self._means = {one.named("mean") for one in foreign}
        self._about: Row = {"project_id": project.project_id, "most": AT_ONCE}
        self._ids: dict[tuple[str, object], str] = {}  # in the graph, by kind and key

    async def write(self, say: Say) -> None:
        """Write everything, and show it at the end; what fails on the way leaves nothing."""
        mark = hashlib.sha256(self._exported.manifest.model_dump_json().encode()).hexdigest()
        await self._make_room({**self._about, "restoring": mark}, say)
        try:
            await self._fill()
            while await self._project.transaction(self._show, REVEAL_TIMEOUT_S):
                pass
        except DriftError:
            with suppress(DriftError):
                await self._clear(*reversed(statements.KINDS))  # nobody else has written meanwhile
            raise

    async def _fill(self) -> None:
        for rows in _batches(self._exported.nodes(), ROWS_WITH_VECTORS):
            put = [{**self._row(row), "place": place} for place, row in enumerate(rows)]
            found = await self._project.once(statements.PUT_NODES, {**self._about, "rows": put})
            for record in found:
                row = rows[record["place"]]
                self._ids[row["kind"], row["key"]] = record["id"]

        for rows in _batches(self._exported.edges(self._require_ends), ROWS):
            put = [
                row | {end: self._ids[tuple(row[end])] for end in ("from", "to")} for row in rows
            ]
            await self._project.once(statements.PUT_EDGES, {"rows": put})

    def _require_ends(self, row: Row) -> None:
        if not {tuple(row[end]) for end in ("from", "to")} <= self._ids.keys():
            raise ValueError("it was changed meanwhile")

    async def _make_room(self, about: Row, say: Say) -> None:
        """Remove what a restore of this folder left half-done; refuse what else is there."""
        about |= {"of_lease": statements.OF_LEASE}
        found = (await self._project.once(statements.STANDING, about))[0]
        name = f"project {self._project.project_id}"
        if found["restoring"] == about["restoring"]:
            number = f"{found['edges']:,} nodes, which no question sees"
            say(f"Half of {name} was restored from this folder: its {number}, are removed first.")
            await self._clear()
            found = (await self._project.once(statements.STANDING, about))[0]

        if found["is_there"]:
            raise IngestError(
                f"There is a {name}, and nothing is written over it: restore under another name "
                f"(--project), or remove that one first (drift projects delete)."
            )
        await self._project.once(statements.BEGIN_RESTORE, about)

    async def _clear(self, *kinds: str) -> None:
        """Remove what waits to be shown, and what is shown already of these kinds."""
        await _drop_members(self._project)
        for kind in kinds:
            await self._project.until_none(statements.drop(kind), self._about)
        await self._project.once(statements.FORGET, self._about)

    def _row(self, row: Row) -> Row:
        """Return a node as it is written; what questions would see at once waits to be shown."""
        kind, kept = row["kind"], row["properties"]
        left_out = self._vectors | (self._means if kind == "__Community__" else set())
        properties = {name: value for name, value in kept.items() if name not in left_out}
        properties |= {"project_id": self._project.project_id}
        if "project_key" in properties and kind in _OF_PROJECT_KEY:
            properties["project_key"] = project_key(self._project.project_id)
        vectors = [one for one in row["vectors"] if one["name"] not in left_out]
        labels, edges = row["labels"], [Row()] if row["in_project"] else []
        if kind in statements.SEEN_AT_ONCE:
            edges = [{"labels": labels, "alone": None if row["in_project"] else True}]
            labels = [STAGED]
        told = {"labels": labels, "in_project": edges}
        return {"properties": properties, "vectors": vectors, **told}

    async def _show(self, run: Statement) -> bool:
        if (await run(statements.REVEAL, self._about)).records[0]["revealed"] == AT_ONCE:
            return True
        kept = self._exported.properties
        properties = {name: kept[name] for name in kept.keys() - {*statements.OF_COPY}}
        # Under another name its chunks keep their ids, and those that do not change their vectors.
        properties.setdefault("chunk_namespace", self._exported.manifest.project_id)
        about = {"properties": properties, "generation": kept.get("generation")}
        await run(statements.END_RESTORE, {**self._about, **about})
        return False


def _batches(rows: Iterable[_T], size: int) -> Iterator[list[_T]]:
    waiting = iter(rows)
    while batch := list(islice(waiting, size)):
        yield batch


# ------------------------------------------------------------------------------------------- delete
async def delete_project(project_id: str, writer: Neo4jWriter, say: Say) -> None:
    """Remove a project with everything in it, people's own nodes as well.

    No question sees anything of it from the first write on, up to 20,000 chunks. One that was
    killed is finished by the next.

    Raises:
        ProjectBusyError, LeaseLostError, GraphUnavailableError: as for any write.
        VectorStoreError, DocumentStoreError: what they hold of the project could not be removed;
            do it again.
    """
    about = {"project_id": project_id, "most": AT_ONCE}

    async def hide(run: Statement) -> bool:
        await run(statements.BEGIN_DELETE, about)
        hidden = [(await run(text, about)).records[0]["dropped"] for text in statements.HIDING]
        return AT_ONCE in hidden

    async with writer.writing(project_id, say=say, half_done=True) as project:
        while await project.transaction(hide, REVEAL_TIMEOUT_S):
            pass
        await originals.retain(writer.originals, project_id)
        await _drop_members(project)
        for kind in ("__Entity__", "__Community__"):  # those of others may have no edge to it
            await project.until_none(statements.drop(kind), about)
        if writer.copy is not None:  # what is not to be reached now would have no project later
            await writer.copy.mend(project_id)
        await project.once(statements.FORGET, about)


async def _drop_members(project: Neo4jProject) -> None:
    """Remove the documents of a project with all that was made of them, in parts."""
    for text in (statements.DROP_OFF, statements.DROP_MEMBERS, statements.drop("__ModelReply__")):
        await project.until_none(text, {"project_id": project.project_id})

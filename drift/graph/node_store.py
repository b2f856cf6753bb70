"""NodeStore and LabelledNodes on Neo4j: a node and its vector are one write."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from drift.auth.caller import Project
from drift.core.deadline import Deadline
from drift.core.errors import (
    ConflictError,
    GraphMisconfiguredError,
    NotFoundError,
    ProjectHeldError,
)
from drift.core.logs import log
from drift.graph.connection import WRITE_TIMEOUT_S, Connection, Statement
from drift.graph.cypher import node_writing as statements
from drift.graph.cypher import vector_copy
from drift.graph.cypher.legs import PERSONAL
from drift.graph.indexes import NODE_INDEX, WantedIndex, create_best
from drift.graph.stored_nodes import labelled_row, stored_properties
from drift.graph.vector_copy import VectorCopy
from drift.graph.versions import OwnVectors, VectorVersion, read_known_format, require_known
from drift.model.nodes import Embedded, LabelledNode, OwnNode, StoredNode, Taking

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _NodeEntry:
    """What stands under an id before a write."""

    stored: StoredNode | None
    is_of_ingestion: bool


class Neo4jNodeStore:
    """Works over a connection that somebody else closes; drift.nodes.ports says what each does."""

    def __init__(
        self, connection: Connection, own: OwnVectors | None = None, copy: VectorCopy | None = None
    ) -> None:
        """Open nothing; `own` says which vectors are read and written, else the first ones are.

        A `copy` of the vectors follows each write.
        """
        self._copy = copy
        self._connection = connection
        self._own = own or OwnVectors(connection)
        self._indexed: set[str] = set()
        self._has_taken_over = False

    # -------------------------------------------------------------------------------- one node
    async def find_node(self, project: Project, node_id: str, deadline: Deadline) -> StoredNode:
        """Return what stands under an id."""

        async def work(_run: Statement, entry: _NodeEntry) -> StoredNode:
            return _required(entry, node_id)

        return await self._within(project, node_id, work, deadline)

    async def create_node(
        self, project: Project, node: OwnNode, embedded: Embedded | None, deadline: Deadline
    ) -> None:
        """Make a node."""

        async def work(run: Statement, entry: _NodeEntry) -> None:
            if entry.is_of_ingestion:
                raise _of_ingestion(node.id)

            if entry.stored is not None:
                raise ConflictError(
                    f"The project has a node {node.id!r} already: change it by PUT."
                )

            stored = stored_properties(project, node, embedded, version)
            values = {"properties": stored, "label": node.label}
            await run(statements.CREATE, {"project_id": project.id, **values})

        async with deadline.enforced():
            version = await self._ready(embedded)
            await self._within(project, node.id, work, deadline)

    async def replace_node(
        self,
        project: Project,
        node: OwnNode,
        embedded: Embedded | None,
        kept: str,
        deadline: Deadline,
    ) -> bool:
        """Give a node these properties and no others; tell whether it was written."""

        async def work(run: Statement, entry: _NodeEntry) -> bool:
            stored = _required(entry, node.id)
            if kept and stored.text_hash != kept:
                return False

            properties = stored_properties(project, node, embedded, version)
            values = {"project_id": project.id, "id": node.id, "keeps": bool(kept)}
            await run(statements.REPLACE, {**values, "properties": properties})
            return True

        async with deadline.enforced():
            version = await self._ready(embedded)
            return await self._within(project, node.id, work, deadline)

    async def remove_node(self, project: Project, node_id: str, deadline: Deadline) -> None:
        """Remove a node with its vector and its edges."""

        async def work(run: Statement, entry: _NodeEntry) -> None:
            _required(entry, node_id)
            await run(statements.REMOVE, {"project_id": project.id, "id": node_id})

        await self._within(project, node_id, work, deadline)

    # ------------------------------------------------------------------------- nodes of a label
    async def prepare(self, dimensions: int) -> None:
        """Create the key and the index of people's nodes."""
        await read_known_format(self._connection)
        await self._require_index(dimensions)
        await self._take_over()

    async def projects(self, label: str) -> list[str]:
        """Return the projects that have nodes of a label of people's own."""
        rows = await self._connection.rows(statements.PROJECTS, {"label": label})
        return [row["project_id"] for row in rows]

    async def labelled(
        self, project_id: str, label: str, taking: Taking
    ) -> AsyncGenerator[LabelledNode]:
        """Yield the project's nodes of a label."""
        values = {
            "project_id": project_id,
            "label": label,
            "adopts": taking == "unowned",
            **_names(await self._own.version()),
        }
        text = statements.MARKED if taking == "marked" else statements.LABELLED
        async for row in self._connection.stream(text, values):
            yield LabelledNode(**{**row, "id": row["id"] or row["element_id"]})

    async def require_free(self, project_id: str) -> None:
        """Raise ProjectHeldError while an ingest holds the project."""
        held = await self._connection.read(statements.HELD, {"project_id": project_id})
        if held.records:
            raise ProjectHeldError(project_id)

    async def put(
        self,
        project_id: str,
        nodes: Sequence[tuple[LabelledNode, Embedded | None]],
        deadline: Deadline,
    ) -> int:
        """Give nodes their vectors, or take them away."""
        first_of = {node.id: (node, embedded) for node, embedded in reversed(nodes)}
        version = await self._own.version()
        rows = [labelled_row(node, embedded, version) for node, embedded in first_of.values()]
        about = {"project_id": project_id, "id": "", **_names(version)}

        async def work(run: Statement) -> int:
            await run(statements.LOCK, about)
            _require_writable((await run(statements.STANDING, about)).records[0], project_id)
            result = await run(statements.PUT, {**about, "rows": rows})
            return int(result.records[0]["written"])

        seconds = min(WRITE_TIMEOUT_S, deadline.require())
        return await self._followed(project_id, [*first_of], work, seconds)

    async def _ready(self, embedded: Embedded | None) -> VectorVersion:
        """Return the version that is written, as it is now: the next question may know it."""
        self._own.forget()
        if embedded is not None:
            await self._require_index(len(embedded.vector))
        return await self._own.version()

    async def _require_index(self, dimensions: int) -> None:
        """Create key and index of people's nodes with the first one, if the login may do so."""
        version = await self._own.version()
        name, vector = version.named(NODE_INDEX), version.vector
        if name in self._indexed:
            return

        for wanted in (
            WantedIndex("drift_own_node_key", "constraint", PERSONAL, ("project_id", "id")),
            # A key finds only nodes that have an id.
            WantedIndex("drift_own_node_project", "range", PERSONAL, ("project_id",)),
            WantedIndex(name, "vector", PERSONAL, (vector, "project_id")),
        ):
            try:
                await create_best(self._connection, wanted, dimensions)
            except GraphMisconfiguredError:  # the login may not
                log.warning("node_index_not_created", extra={"label": PERSONAL})
        self._indexed.add(name)

    async def _take_over(self) -> None:
        """Make nodes of an earlier release ours, of all projects; reads each node of its label."""
        await self._connection.write_in_batches(statements.TAKE_OVER, {})
        self._has_taken_over = True

    async def _within(
        self,
        project: Project,
        node_id: str,
        work: Callable[[Statement, _NodeEntry], Awaitable[_T]],
        deadline: Deadline,
    ) -> _T:
        """Do the work in one transaction that has the project to itself, which no ingest holds."""
        about = {"project_id": project.id, "id": node_id, **_names(await self._own.version())}

        async def unit(run: Statement) -> _T:
            await run(statements.LOCK, about)
            row = (await run(statements.STANDING, about)).records[0]
            _require_writable(row, project.id)
            return await work(run, _entry(row))

        async with deadline.enforced():
            with self._connection.outcomes.noted(deadline):
                if not self._has_taken_over:
                    await self._take_over()
                return await self._followed(project.id, [node_id], unit, deadline.require())

    async def _followed(
        self,
        project_id: str,
        ids: Sequence[str],
        work: Callable[[Statement], Awaitable[_T]],
        timeout_s: float,
    ) -> _T:
        """Run a transaction, and have the copy follow what it has written."""
        if self._copy is None:
            return await self._connection.transaction(work, timeout_s)

        async def at(run: Statement) -> str:
            found = await run(vector_copy.STATE, {"project_id": project_id})
            return str(found.records[0]["at"])

        async def watched(run: Statement) -> tuple[str, _T, str]:
            await run(statements.LOCK, {"project_id": project_id})
            return await at(run), await work(run), await at(run)

        before, done, after = await self._connection.transaction(watched, timeout_s)
        await self._copy.changed(project_id, ids, before, after)
        return done


def _entry(row: Mapping[str, Any]) -> _NodeEntry:
    labels = row["labels"]
    if labels is None:
        return _NodeEntry(None, row["is_of_ingestion"])
    own = next((label for label in labels if not label.startswith("__")), "")
    return _NodeEntry(StoredNode(own, str(row["text_hash"] or "")), row["is_of_ingestion"])


def _required(entry: _NodeEntry, node_id: str) -> StoredNode:
    if entry.stored is not None:
        return entry.stored
    if entry.is_of_ingestion:
        raise _of_ingestion(node_id)
    raise NotFoundError("The project has no such node.")


def _of_ingestion(node_id: str) -> ConflictError:
    return ConflictError(
        f"{node_id!r} is of the project's own documents: it is changed by an ingest alone."
    )


def _require_writable(row: Mapping[str, Any], project_id: str) -> None:
    for number in row["formats"]:
        require_known(number)
    if row["is_held"]:
        raise ProjectHeldError(project_id)


def _names(version: VectorVersion) -> dict[str, str]:
    return {"vector": version.vector, "text_hash": version.named("embedding_hash")}

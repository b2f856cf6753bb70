"""The parts of a whole graph that searches miss: nodes that none sees, and vectors of other models.

No request waits for these counts: `doctor` tells of them, and `prepare` mends most.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from drift.core.errors import UpstreamError
from drift.graph.connection import Connection
from drift.graph.cypher import versions
from drift.graph.cypher.schema import Schema
from drift.graph.graph import Neo4jGraph
from drift.graph.vector_models import other_models
from drift.graph.versions import LOCAL, GraphFormat
from drift.local.prepare import unseen_statements as statements
from drift.model.health import GraphHealth, Lack

LOOKED_AT = 10_000
"""People's own nodes of which the model is asked."""
USABLE_AMONG = 1_000
"""Chunks and communities whose embeddings are looked at to see whether anything can be asked."""
COUNTED_NODES = 1_000_000
"""Labels with more nodes are not counted: that would take longer than people wait."""
TIMEOUT_S = 5.0
NOTHING_SAID = GraphFormat()


async def whole_health(graph: Neo4jGraph) -> GraphHealth:
    """Return the health of a graph, with the nodes that no search sees; errors as for `health`."""
    schema, said = await graph.probe.schema(), await graph.own.said()
    unseen = Unseen(graph.connection, schema, graph.own.model, said)
    return await unseen.beside(await graph.health())


async def whole_local_health(graph: Neo4jGraph) -> GraphHealth:
    """Return the same of the local model's vectors."""
    schema = await graph.local_probe.schema()
    return await Unseen(graph.connection, schema).beside(await graph.local_health())


@dataclass(frozen=True, slots=True)
class Unseen:
    """Counts what no search by a schema's vectors sees, with questions of this model."""

    connection: Connection
    schema: Schema
    model: str = ""
    said: GraphFormat = NOTHING_SAID

    async def beside(self, health: GraphHealth) -> GraphHealth:
        """Return a health with what cannot be asked; as it is where that cannot be counted."""
        vectors = (index.dimensions for index in health.indexes if index.dimensions)
        dimensions = next(vectors, None)
        # A count is no reason to call a server down that answers.
        with suppress(UpstreamError):
            lacking, notes, broken = [*health.lacking], [*health.notes], [*health.broken]
            if self.schema.has_projects and not self._is_local:
                notes += await self._of_older_format()
                lacking += await self._outside_projects()
            if self.schema.has_projects and self.schema.is_first:
                lacking += await self._of_other_models()
            if dimensions:
                values = {"dimensions": dimensions, "careful": True, "looked_at": USABLE_AMONG}
                row = (await self._read(statements.usable(self.schema), values))[0]
                lacking += self._of_vectors(row)
                broken += _why_nothing(row, dimensions)
            return replace(health, lacking=tuple(lacking), notes=tuple(notes), broken=tuple(broken))
        return health

    @property
    def _is_local(self) -> bool:
        return self.schema.vector == LOCAL.vector_in(self.schema)

    async def _read(self, text: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        found = await self.connection.read(text, values, TIMEOUT_S)
        return [dict(record) for record in found.records]

    async def _of_older_format(self) -> list[str]:
        if self.said.number is not None:
            return []
        documents = sum(row["documents"] for row in await self._read(versions.OLDER, {}))
        note = (
            f"{documents:,} documents are of the release before: `python -m drift upgrade` keeps "
            "the next ingest from embedding them again"
        )
        return [note] if documents else []

    async def _outside_projects(self) -> list[Lack]:
        row = (await self._read(statements.UNSEEN, {"most": COUNTED_NODES}))[0]
        return [
            Lack(label, _without_project(label, nodes - seen), "no request finds them")
            for label, (nodes, seen) in row.items()
            if seen < nodes <= COUNTED_NODES
        ]

    async def _of_other_models(self) -> list[Lack]:
        if not self.model:
            return []

        found = await self._read(statements.MADE_BY, {"looked_at": LOOKED_AT})
        rows = {record["model"]: record for record in found}
        return [
            Lack(
                f"vectors of {model}",
                f"the vectors of {_named(rows[model])} were made by {model}, not by the questions' "
                f"{self.model}",
                "they are not compared",
                "set OAI_EMBED_MODEL_NAME to the model that made them, or embed them anew, which "
                "`python -m drift ingest` does for its documents and `python -m drift reconcile` "
                "for people's own nodes",
            )
            for model in other_models(rows, self.model)
        ]

    def _of_vectors(self, row: Mapping[str, Any]) -> list[Lack]:
        """Return what the row of `usable` says that searches by vectors lack."""
        lacking = []
        if row["bare"] and not self.schema.is_first:
            lacking.append(self._without_vector(row["bare"]))
        if row["zero"]:
            lacking.append(
                Lack(
                    "vectors of zeros",
                    f"{row['zero']:,} chunks or more have a vector of zeros alone",
                    "nothing finds them but their words",
                    "embed them anew with a model that can: `python -m drift prepare` names them",
                )
            )
        if row["others"] and not row["chunks"]:  # an empty graph lacks nothing yet
            chunk = self.schema.named("__Chunk__")
            problem = f"there is no {chunk} node beside {row['others']:,} others"
            lacking.append(Lack(chunk, problem, "nothing can be asked of this graph"))
        return lacking

    def _without_vector(self, chunks: int) -> Lack:
        if self._is_local:
            return Lack(
                "second vectors",
                f"{chunks:,} chunks or more have no second vector",
                "nothing finds them while the provider of embeddings fails",
                "run `python -m drift prepare --project ... --embed`, or ingest again",
            )
        names = (
            one.name
            for one in self.said.versions
            if one.vector_in(self.schema) == self.schema.vector
        )
        version = next(names, self.schema.vector)
        return Lack(
            f"version {version}",
            f"{chunks:,} chunks or more have no vector of version {version}",
            "nothing finds them but their words",
            f"run `python -m drift reindex --model-version {version}`",
        )


def _why_nothing(row: Mapping[str, Any], dimensions: int) -> list[str]:
    """Return why nothing of a graph that has chunks can be searched; nothing where some can."""
    if row["usable"] or not row["chunks"]:
        return []

    first = "the" if row["chunks"] < USABLE_AMONG else f"the first {USABLE_AMONG:,}"
    embed = " --project ... --embed" if row["bare"] else ""
    why = (
        f"nothing can be asked, since none of {first} chunks has an embedding of {dimensions} "
        f"floats and a text: run `python -m drift prepare{embed}`"
    )
    return [why]


def _named(row: Mapping[str, Any]) -> str:
    names, more = ", ".join(map(str, row["examples"])), row["projects"] - len(row["examples"])
    kind = "project" if row["projects"] == 1 else "projects"
    return f"{kind} {names}" + (f" and {more:,} more" if more > 0 else "")


def _without_project(label: str, nodes: int) -> str:
    verb = "has" if nodes == 1 else "have"
    return f"{nodes:,} of the {label} nodes {verb} no `project_id`"

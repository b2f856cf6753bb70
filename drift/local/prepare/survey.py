"""What a graph holds and lacks, found by reading alone."""

from __future__ import annotations

from collections.abc import Callable

from drift.graph.connection import Connection
from drift.graph.cypher.schema import SchemaName
from drift.local.prepare import statements
from drift.local.prepare.findings import Survey, tally
from drift.local.prepare.kinds import KINDS, NodeKind
from drift.local.prepare.survey_nodes import NodeSurvey
from drift.local.prepare.survey_projects import ProjectSurvey
from drift.local.say import Say

_EXPECTED = {
    "default": "(:__Document__)-[:HAS_CHUNK]->(:__Chunk__ {id, text, "
    "embedding})-[:HAS_ENTITY]->(:__Entity__ {id, title}), and both "
    "-[:IN_COMMUNITY]->(:__Community__ {community, level, summary, embedding})",
    "v1": "(entity)-[:FROM_CHUNK]->(chunk {text, embedding})",
}


class Surveyor:
    """Reads one graph and changes nothing; what it finds stands in `survey`."""

    def __init__(
        self, connection: Connection, schema: SchemaName, dimensions: int, say: Say
    ) -> None:
        """Look through the connection; nothing is read yet."""
        self._connection = connection
        self._schema = schema
        self._say = say
        self.survey = Survey()
        self.projects = ProjectSurvey(connection, self.survey)
        self._nodes = NodeSurvey(connection, schema, dimensions, self.survey)

    async def look(self) -> Survey:
        """Look at everything; errors as for any read."""
        for kind in KINDS[self._schema]:
            await self._look_at(kind)

        if self._schema == "default":
            await self.projects.look_at_project_nodes()
        else:
            await self.projects.refuse_several()

        if not self.survey.nodes["__Chunk__"]:
            await self._look_for_another_graph()
        return self.survey

    async def look_at_vectors(self) -> None:
        """Look at the embeddings alone, once more."""
        self.survey.vectors.clear()
        for kind in KINDS[self._schema]:
            if kind.has_vectors and (await self._nodes.count(kind))["nodes"]:
                await self._nodes.look_at_vectors(kind)

    async def _look_at(self, kind: NodeKind) -> None:
        counts = await self._nodes.count(kind)
        if not counts["nodes"]:
            return

        self._say(f"Looking at {counts['nodes']:,} {kind.label} nodes ...")
        await self._nodes.look_at_properties(kind, counts)
        await self._nodes.look_at_types(kind)
        await self._nodes.look_at_keys(kind)
        await self._nodes.look_at_edges(kind)
        if self._schema == "default":
            await self.projects.look_at(kind.label)
        if kind.has_vectors:
            await self._nodes.look_at_vectors(kind)

    async def _look_for_another_graph(self) -> None:
        """Report that there is no chunk, and what there is instead."""
        labels = await self._counted(statements.LABELS, "label", statements.count_label)
        edges = await self._counted(statements.EDGE_TYPES, "type", statements.count_type)
        if not labels:
            return  # an empty database is no mistake: its graph comes later

        hint = "leave GRAPH_SCHEMA out" if "HAS_CHUNK" in edges else "check NEO4J_DATABASE"
        if self._schema == "default" and "FROM_CHUNK" in edges:
            hint = (
                "set GRAPH_SCHEMA=v1, which reads entities that point to their chunks by FROM_CHUNK"
            )

        self.survey.problems.append(
            f"No chunk was found. Expected {_EXPECTED[self._schema]}. What is there: "
            f"{tally(labels, 'labels')}, {tally(edges, 'edges')}. If that is the graph to search, "
            f"rename its labels and properties, or {hint}."
        )

    async def _counted(
        self, listing: str, column: str, counting: Callable[[str], str]
    ) -> dict[str, int]:
        names = [row[column] for row in await self._connection.rows(listing)]
        counts = {
            name: (await self._connection.rows(counting(name)))[0]["number"] for name in names
        }
        return {name: number for name, number in counts.items() if number}

"""The contents and defects of a graph, found by reading alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from drift.graph.connection import Connection
from drift.graph.cypher.schema import FIRST_VECTOR, Schema
from drift.graph.cypher.search import EDGE_TYPES
from drift.graph.mapping import KNOWN, quoted
from drift.local.prepare import looking_statements as looking
from drift.local.prepare import preparing_statements as statements
from drift.local.prepare.findings import Survey, tally
from drift.local.prepare.kinds import NodeKind, kinds
from drift.local.prepare.likeness import counted, repeated_ids
from drift.local.prepare.survey_nodes import NodeSurvey
from drift.local.prepare.survey_projects import ProjectSurvey
from drift.local.say import Say

_LABELS = ("chunk", "document", "entity", "community")
_EDGES = ("part_of", "mention", "relation", "member", "parent")
_TELLS_APART = "`python -m drift prepare --like auto` finds the GRAPH_SCHEMA that tells them apart."
_FORMAT = "__DriftFormat__"
_OURS_ALONE = frozenset({"__Project__", "__Document__", "__DriftNode__", "__ModelReply__"})
"""Labels that other tools' graphs have not; of those without one nothing of ours is to be made."""


def _expected(s: Schema) -> str:
    m = s.mapping
    document, chunk, entity = (f":{one}" if one else "" for one in (m.document, m.chunk, m.entity))
    held = "" if m.is_own_document else f"(document{document}){s.holds}"
    return f"{held}(chunk{chunk} {{{s.text}, {s.vector}}}){s.mentions}(entity{entity})"


class Surveyor:
    """Reads one graph and changes nothing; what it finds stands in `survey`."""

    def __init__(
        self,
        connection: Connection,
        schema: Schema,
        dimensions: int,
        say: Say,
        vector: str = FIRST_VECTOR,
    ) -> None:
        """Look through the connection, at vectors of this name; nothing is read yet."""
        self._connection = connection
        self._schema = schema
        self._say = say
        self.survey = Survey()
        self.projects = ProjectSurvey(connection, self.survey)
        self._nodes = NodeSurvey(connection, schema, dimensions, self.survey, vector)

    async def look(self) -> Survey:
        """Look at everything; errors as for any read."""
        for kind in kinds(self._schema):
            await self._look_at(kind)

        if self._schema.has_projects:
            await self.projects.look_at_project_nodes()
        else:
            await self.projects.refuse_several()
            await self._look_at_ids()
            await self._look_at_others()

        absent = await self._absent()
        if absent or not self.survey.nodes[self._schema.named("__Chunk__")]:
            await self._look_for_another_graph(absent)
        if not self._schema.has_projects and (gone := await self.gone()):
            self.survey.refusals.append(gone)
        return self.survey

    async def gone(self) -> str:
        """Return what was counted before and has no node any more, in a sentence, else nothing."""
        for kind in kinds(self._schema):
            nodes = self.survey.nodes.get(kind.label)
            text = statements.count_properties(kind.source, ())
            if nodes and not (await self._connection.rows(text))[0]["nodes"]:
                return (
                    f"The graph changed meanwhile: of {nodes:,} {kind.label} nodes none is left. "
                    "Run this again when nothing writes."
                )
        return ""

    async def look_at_vectors(self) -> None:
        """Look at the embeddings alone, once more."""
        self.survey.vectors.clear()
        for kind in kinds(self._schema):
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
        if self._schema.has_projects:
            await self.projects.look_at(kind.label)
        if kind.has_vectors:
            await self._nodes.look_at_vectors(kind)

    async def _absent(self) -> list[str]:
        """Return the fields of a mapping whose names are not there, with these names."""
        m = self._schema.mapping
        if self._schema.has_projects or any(
            replace(known, id=m.id) == m for known in KNOWN.values()
        ):
            return []

        given, found = m.given(), []
        for name in (one for one in (*_LABELS, *_EDGES) if one in given):
            is_label, value = name in _LABELS, given[name]
            names = [value] if is_label else value.removeprefix("<").split("|")
            counting = looking.count_labels if is_label else looking.count_types
            if not await counted(self._connection, names, counting):
                found.append(f"{name} {value!r}")
        return found

    async def _look_at_ids(self) -> None:
        """Refuse chunks that share an id, and report what else cannot be told apart by it."""
        if not self._schema.id:
            return

        chunk, entity, _ = kinds(self._schema)
        if told := await self._repeated(chunk.source, chunk.label):
            self.survey.refusals.append(
                f"{told}, so that citations would mix them up: {_TELLS_APART}"
            )
        if told := await self._repeated(entity.source, entity.label):
            self.survey.problems.append(
                f"{told}: read by such an id, none is found. {_TELLS_APART}"
            )

        m = self._schema.mapping
        if m.document and not m.is_own_document:
            source = f"MATCH (n:{quoted(m.document)})"
            if told := await self._repeated(source, m.document):
                self.survey.problems.append(
                    f"{told}: read by such an id, one of them is shown. Give each its own."
                )

    async def _look_at_others(self) -> None:
        """Report what looks like chunks that are known by their edges, and has none of these."""
        if self._schema.mapping.chunk:
            return

        source, m = kinds(self._schema)[0].source, self._schema.mapping
        for row in await self._connection.rows(looking.kinds_of(source)):
            text = looking.count_alike(row["labels"], self._schema)
            found = (await self._connection.rows(text))[0]
            if found["nodes"]:
                shown = ", ".join(f"'{one}'" for one in found["examples"])
                edges = " or ".join(one.removeprefix("<") for one in (m.mention, m.part_of))
                self.survey.problems.append(
                    f"{found['nodes']:,} :{':'.join(row['labels'])} nodes with a text are not "
                    f"searched, since no {edges} or NEXT_CHUNK edge tells that they are chunks: "
                    f"{shown}. {_TELLS_APART}"
                )

    async def _repeated(self, source: str, label: str) -> str:
        key = self._schema.id
        counts = await repeated_ids(self._connection, source, key)
        if counts is None:
            return ""
        nodes, ids = counts
        return f"{nodes:,} {label} nodes have only {ids:,} different `{key}`"

    async def _look_for_another_graph(self, absent: Sequence[str]) -> None:
        """Report that there is no chunk, and what there is instead; refuse what a mapping says."""
        rows = await self._connection.rows(statements.LABELS)
        names = [row["label"] for row in rows]
        labels = await counted(self._connection, names, looking.count_labels)
        rows = await self._connection.rows(EDGE_TYPES)
        names = [row["type"] for row in rows]
        edges = await counted(self._connection, names, looking.count_types)
        if not labels.keys() - {_FORMAT}:
            return  # an empty database is no mistake: its graph comes later

        missing = "No chunk was found."
        if absent:
            missing = f"GRAPH_SCHEMA names what is not there: {', '.join(absent)}."
        own = self._schema.has_projects and bool(labels.keys() & _OURS_ALONE)
        (self.survey.problems if own else self.survey.refusals).append(
            f"{missing} Expected {_expected(self._schema)}. What is there: "
            f"{tally(labels, 'labels')}, {tally(edges, 'edges')}. If that is the graph to search, "
            "`python -m drift prepare --like auto` tells how it is read; else check NEO4J_DATABASE."
        )

"""What a graph holds and lacks, found by reading alone.

What forbids to prepare it, and what its searches will miss.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from drift.adapters.neo4j.connection import Connection
from drift.adapters.neo4j.cypher.schema import SchemaName
from drift.adapters.neo4j.indexes import PREPARE
from drift.offline.indexing.prepare import statements
from drift.offline.writing.neo4j.schema import Tell


@dataclass(frozen=True, slots=True)
class NodeKind:
    """Nodes that the searches use.

    What binds them as `n`, what tells one from another, and what each should have.
    """

    label: str
    key: str
    required: tuple[str, ...]
    texts: tuple[str, ...] = ()  # what may be missing, and is read as text
    has_vectors: bool = False
    edge: str = ""  # what should lead to or from them
    source: str = ""


def _kinds(schema: SchemaName, *kinds: NodeKind) -> tuple[NodeKind, ...]:
    return tuple(replace(kind, source=statements.SOURCES[schema][kind.label]) for kind in kinds)


KINDS: Mapping[SchemaName, tuple[NodeKind, ...]] = {
    "default": _kinds(
        "default",
        NodeKind("__Document__", "id", ("id",), ("title",), edge="HAS_CHUNK"),
        NodeKind("__Chunk__", "id", ("id", "text"), ("text",), has_vectors=True),
        NodeKind("__Entity__", "id", ("id", "title"), ("title", "description"), edge="HAS_ENTITY"),
        NodeKind(
            "__Community__",
            "community",
            ("community", "summary"),
            ("summary",),
            has_vectors=True,
            edge="IN_COMMUNITY",
        ),
    ),
    "v1": _kinds(
        "v1",
        NodeKind("__Chunk__", "id", ("text",), ("text",), has_vectors=True),
        NodeKind("__Entity__", "id", (), ("title", "description")),
        NodeKind(
            "__Community__",
            "community",
            ("summary",),
            ("summary",),
            has_vectors=True,
            edge="IN_COMMUNITY",
        ),
    ),
}
KEYED = {kind.label: kind.key for kind in KINDS["default"]}
"""The label of everything that belongs to a project, and the property that is unique there."""

_EXPECTED = {
    "default": "(:__Document__)-[:HAS_CHUNK]->(:__Chunk__ {id, text, "
    "embedding})-[:HAS_ENTITY]->(:__Entity__ {id, title}), and both "
    "-[:IN_COMMUNITY]->(:__Community__ {community, level, summary, embedding})",
    "v1": "(entity)-[:FROM_CHUNK]->(chunk {text, embedding})",
}
_UNUSABLE = {
    "missing": "no embedding",
    "no numbers": "an embedding that is no list of numbers",
    "zero": "an embedding of zeros alone",
    "not finite": "an embedding with NaN, infinity or a number beyond 32-bit floats in it",
}


_LEFT_OUT = "Searches leave these nodes out"
_COSTS = {"title": "Another name stands in its place", "description": "It counts as missing"}


@dataclass
class Survey:
    """What was found: nodes by label, nodes of each label by what is known about their project, and sentences about both."""

    nodes: dict[str, int] = field(default_factory=dict)
    states: dict[str, dict[str, int]] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class Surveyor:
    """Reads one graph; changes nothing, and every method adds to `found`."""

    def __init__(
        self, connection: Connection, schema: SchemaName, dimensions: int, tell: Tell
    ) -> None:
        """Keep what is needed; nothing is read."""
        self._connection = connection
        self._schema = schema
        self._dimensions = dimensions
        self._tell = tell
        self.found = Survey()

    async def look(self) -> Survey:
        """Look at everything; errors as for any read."""
        for kind in KINDS[self._schema]:
            await self._look_at(kind)
        await self._look_at_projects()
        if not self.found.nodes["__Chunk__"]:
            await self._look_for_chunks()
        return self.found

    async def _look_at(self, kind: NodeKind) -> None:
        counts = (
            await self._connection.rows(statements.count_properties(kind.source, kind.required))
        )[0]
        nodes = self.found.nodes[kind.label] = counts["nodes"]
        if not nodes:
            return
        self._tell(f"Looking at {nodes:,} {kind.label} nodes ...")
        for name in kind.required:
            if lacking := nodes - counts[name]:
                await self._lacks(kind, name, lacking)
        await self._look_at_types(kind)
        if (
            kind.edge
            and not (await self._connection.rows(statements.count_type(kind.edge)))[0]["found"]
        ):
            self.found.problems.append(
                f"There are {kind.label} nodes ({nodes:,}), but no {kind.edge} edge."
            )
        if self._schema == "default":
            await self._look_at_project_of(kind)
        if kind.has_vectors:
            await self._look_at_vectors(kind)

    async def _lacks(self, kind: NodeKind, name: str, lacking: int) -> None:
        others = await self._connection.rows(statements.other_properties(kind.source, name))
        there = ", ".join(row["name"] for row in others) or "none"
        self.found.problems.append(
            f"{_of(lacking, self.found.nodes[kind.label], kind.label)} lack `{name}`; the "
            f"properties there: {there}."
        )

    async def _look_at_types(self, kind: NodeKind) -> None:
        """Report what is read as text and is none, and keys by which nothing can be named."""
        key = (
            kind.key if self._schema == "default" else None
        )  # the other schema has a name for every node
        counts = (
            await self._connection.rows(statements.count_wrong_types(kind.source, kind.texts, key))
        )[0]
        for name, nodes in counts.items():
            if not nodes:
                continue
            text = statements.examples_of_wrong_types(kind.source, name, kind.key)
            shown = ", ".join(
                f"'{row['key']}' ({row['type']})" for row in await self._connection.rows(text)
            )
            self.found.problems.append(
                f"{_of(nodes, self.found.nodes[kind.label], kind.label)} have a `{name}` of a type "
                f"that is not read: "
                f"{shown}. {_COSTS.get(name, _LEFT_OUT)}: set it to text."
            )

    # ------------------------------------------------------------------------------------- projects
    async def _look_at_project_of(self, kind: NodeKind) -> None:
        states = await self.states_of(kind.label)
        if contradicting := states.get("contradiction"):
            shown = await self._examples(kind.label, "contradiction")
            self.found.refusals.append(
                f"The `project_id` of some {kind.label} nodes ({contradicting:,}) contradicts "
                f"their IN_PROJECT edge: {shown}. Correct "
                f"the property or the edge, then {PREPARE} again."
            )
        if several := states.get("several"):
            shown = await self._examples(kind.label, "several")
            self.found.problems.append(
                f"Some {kind.label} nodes ({several:,}) are in more than one project and get no "
                f"`project_id`: {shown}. Give each project "
                "a node of its own."
            )
        if numbers := states.get("no text"):
            shown = await self._examples(kind.label, "no text")
            self.found.problems.append(
                f"The `project_id` of some {kind.label} nodes ({numbers:,}) is no text, so no "
                f"request finds them: {shown}."
            )
        await self._look_for_duplicates(kind.label)

    async def states_of(self, label: str) -> dict[str, int]:
        """Return, and keep, how many nodes of the label have a settled project, none, several, and so on."""
        rows = await self._connection.rows(statements.count_states(label))
        states = self.found.states[label] = {row["state"]: row["nodes"] for row in rows}
        return states

    async def tell_what_waits(self, label: str) -> None:
        """Report the nodes whose project is still to be taken from their neighbours."""
        nodes = self.found.states[label]["without"]
        shown = await self._examples(label, "without")
        self.found.problems.append(
            f"Some {label} nodes ({nodes:,}: {shown}) have no IN_PROJECT edge; each gets the "
            f"project of its neighbours, where these agree."
        )

    async def tell_what_is_left(self, label: str) -> None:
        """Report the nodes whose project could not be taken from their neighbours either."""
        if not (nodes := (await self.states_of(label)).get("without", 0)):
            return
        shown = await self._examples(label, "without")
        self.found.problems.append(
            f"Some {label} nodes ({nodes:,}: {shown}) have neither an IN_PROJECT edge to a "
            f"__Project__ node with an `id` nor "
            f"neighbours that agree on one project, so no request finds them: connect them, or set "
            f"`project_id`, and {PREPARE} again."
        )

    async def _examples(self, label: str, state: str) -> str:
        rows = await self._connection.rows(
            statements.examples_of_state(label, KEYED[label]), {"state": state}
        )
        return ", ".join(_example(row) for row in rows)

    async def _look_for_duplicates(self, label: str, *, has_project: bool = True) -> None:
        text = statements.count_duplicates(label, KEYED.get(label, "id"), has_project=has_project)
        row = (await self._connection.rows(text))[0]
        if row["keys"]:
            shown = ", ".join(
                f"'{key}'" + (f" in '{project}'" if project else "")
                for key, project in row["examples"]
            )
            where = "of one project " if has_project else ""
            self.found.refusals.append(
                f"Two or more {label} nodes {where}have the same `{KEYED.get(label, 'id')}` "
                f"({row['keys']:,} of them, on {row['nodes']:,} "
                f"nodes): {shown}. Remove or rename all but one of each, then {PREPARE} again."
            )

    async def look_for_duplicates(self) -> None:
        """Look again, now that more nodes have a project."""
        for label in KEYED:
            if self.found.nodes[label]:
                await self._look_for_duplicates(label)

    async def _look_at_projects(self) -> None:
        row = (await self._connection.rows(statements.PROJECTS))[0]
        if self._schema == "v1":
            if row["nodes"] > 1:
                self.found.refusals.append(
                    f"This graph has {row['nodes']:,} __Project__ nodes, and GRAPH_SCHEMA=v1 would "
                    f"answer each from the data of all: "
                    "leave GRAPH_SCHEMA out."
                )
            return
        if nameless := row["nodes"] - row["named"]:
            self.found.problems.append(f"{_of(nameless, row['nodes'], '__Project__')} lack `id`.")
        await self._look_for_duplicates("__Project__", has_project=False)

    # -------------------------------------------------------------------------------------- vectors
    async def _look_at_vectors(self, kind: NodeKind) -> None:
        rows = await self._connection.rows(
            statements.count_vectors(kind.source), {"dimensions": self._dimensions}
        )
        states = {row["state"]: row["nodes"] for row in rows}
        sizes = {
            int(state[5:]): nodes for state, nodes in states.items() if state.startswith("size ")
        }
        if (
            kind.label == "__Chunk__"
            and sizes
            and not states.keys() & {"usable", "zero", "not finite"}
        ):
            listed = " or ".join(map(str, sizes))
            self.found.refusals.append(
                f"The embeddings of all {kind.label} nodes that have one ({sum(sizes.values()):,}) "
                f"are of {listed} floats, but "
                f"VECTOR_INDEX_DIMENSIONS is {self._dimensions}: set it to what the graph and the "
                f"embedding model have, or embed "
                "the graph again."
            )
            return
        for state, nodes in states.items():
            if state != "usable":
                what = _UNUSABLE.get(
                    state, f"an embedding of {state[5:]} floats instead of {self._dimensions}"
                )
                found = await self._connection.rows(
                    statements.examples_of_vectors(kind.source, kind.key),
                    {"state": state, "dimensions": self._dimensions},
                )
                shown = ", ".join(f"'{row['key']}'" for row in found)
                self.found.problems.append(
                    f"{_of(nodes, self.found.nodes[kind.label], kind.label)} have {what}: {shown}. "
                    f"No search by vector finds them: embed them with "
                    "the model of OAI_EMBED_MODEL_NAME."
                )

    # ------------------------------------------------------------------------------- another schema
    async def _look_for_chunks(self) -> None:
        labels = await self._counted(statements.LABELS, "label", statements.count_label)
        edges = await self._counted(statements.EDGE_TYPES, "type", statements.count_type)
        if not labels:
            return  # an empty database is no mistake: its graph comes later
        hint = "leave GRAPH_SCHEMA out" if "HAS_CHUNK" in edges else "check NEO4J_DATABASE"
        if self._schema == "default" and "FROM_CHUNK" in edges:
            hint = (
                "set GRAPH_SCHEMA=v1, which reads entities that point to their chunks by FROM_CHUNK"
            )
        self.found.problems.append(
            f"No chunk was found. Expected {_EXPECTED[self._schema]}. What is there: "
            f"{_tally(labels, 'labels')}, "
            f"{_tally(edges, 'edges')}. If that is the graph to search, rename its labels and "
            f"properties, or {hint}."
        )

    async def _counted(self, listing: str, column: str, counting: Any) -> dict[str, int]:  # noqa: ANN401 - a function to a text
        names = [row[column] for row in await self._connection.rows(listing)]
        counts = {name: (await self._connection.rows(counting(name)))[0]["found"] for name in names}
        return {name: found for name, found in counts.items() if found}


def _tally(counts: Mapping[str, int], what: str) -> str:
    most = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:10]
    return f"{what} " + (", ".join(f"{name} ({found:,})" for name, found in most) or "none")


def _of(some: int, nodes: int, label: str) -> str:
    return (
        f"All {label} nodes ({nodes:,})"
        if some == nodes
        else f"Some {label} nodes ({some:,} of {nodes:,})"
    )


def _example(row: Mapping[str, Any]) -> str:
    about = [f"property '{row['own']}'"] if row["own"] is not None else []
    about += [f"edge to '{project}'" for project in row["edges"]]
    return f"'{row['key']}'" + (f" ({', '.join(about)})" if about else "")

"""The defects of nodes for the searches: properties, their types, edges and vectors."""

from __future__ import annotations

from dataclasses import dataclass

from drift.graph.connection import Connection
from drift.graph.cypher.schema import FIRST_VECTOR, Schema
from drift.graph.indexes import PREPARE
from drift.local.prepare import looking_statements as looking
from drift.local.prepare import preparing_statements as statements
from drift.local.prepare.findings import LEFT_OUT, Survey
from drift.local.prepare.kinds import NodeKind
from drift.local.prepare.likeness import counted

_UNUSABLE = {
    "missing": "no embedding",
    "no numbers": "an embedding that is no list of numbers",
    "zero": "an embedding of zeros alone",
    "not finite": "an embedding with NaN, infinity or a number beyond 32-bit floats in it",
}
_OF_SIZE = "size "
"""How the state of an embedding of another length begins."""
_RIGHT_SIZE = frozenset({"usable", "zero", "not finite"})

MOST_BYTES = 8000
"""Of a key with its project: an index refuses more than 8,164 with what it adds itself."""
_SHOWN_CHARS = 40
_NOT_SEARCHED = "Searches leave these nodes out"
_COSTS = {"title": "Another name stands in its place", "description": "It counts as missing"}


def _bytes(value: object) -> int:
    if isinstance(value, list):
        return sum(_bytes(item) + 8 for item in value)
    return len(str(value).encode())


@dataclass(frozen=True, slots=True)
class NodeSurvey:
    """Reads one graph, at vectors of this name; every method adds to the survey."""

    connection: Connection
    schema: Schema
    dimensions: int
    survey: Survey
    vector: str = FIRST_VECTOR

    async def count(self, kind: NodeKind) -> dict[str, int]:
        """Return, and keep, the number of `nodes`, beside those with each required property."""
        text = statements.count_properties(kind.source, kind.required)
        counts = (await self.connection.rows(text))[0]
        self.survey.nodes[kind.label] = counts["nodes"]
        return counts

    async def look_at_properties(self, kind: NodeKind, counts: dict[str, int]) -> None:
        """Report required properties that are absent; `counts` is what `count` returned."""
        for name in kind.required:
            lacking = counts["nodes"] - counts[name]
            if not lacking:
                continue

            rows = await self.connection.rows(statements.other_properties(kind.source, name))
            there = ", ".join(row["name"] for row in rows) or "none"
            # Indexes over a text that no chunk has would stand in the way of right ones.
            is_chunk = kind.label == self.schema.named("__Chunk__")
            is_wrong = is_chunk and lacking == counts["nodes"] and not self.schema.has_projects
            found = self.survey.refusals if is_wrong else self.survey.problems
            found.append(
                f"{self.survey.some_of(kind.label, lacking)} lack `{name}`; the properties there: "
                f"{there}."
            )

    async def look_at_types(self, kind: NodeKind) -> None:
        """Report what is read as text and is none, and keys by which nothing can be named."""
        # The other schema has a name for every node.
        key = kind.key if self.schema.has_projects else None
        text = statements.count_wrong_types(kind.source, kind.texts, key)
        counts = (await self.connection.rows(text))[0]
        for name, nodes in counts.items():
            if not nodes:
                continue

            text = statements.examples_of_wrong_types(kind.source, name, kind.key)
            rows = await self.connection.rows(text)
            shown = ", ".join(f"'{row['key']}' ({row['type']})" for row in rows)
            self.survey.problems.append(
                f"{self.survey.some_of(kind.label, nodes)} have a `{name}` of a type that is not "
                f"read: {shown}. {_COSTS.get(name, _NOT_SEARCHED)}: set it to text."
            )

    async def look_at_keys(self, kind: NodeKind) -> None:
        """Report keys that are too long for an index; keep their nodes, and those of before."""
        has_projects = self.schema.has_projects
        rows = await self.connection.rows(statements.long_keys(kind.source, kind.key))
        long = [row for row in rows if _bytes(row["key"]) + _bytes(row["project"]) > MOST_BYTES]
        ids = self.survey.too_long[kind.label] = [row["id"] for row in long]
        kept = set(ids)
        self.survey.short_again += [
            row["id"] for row in rows if row["is_out"] and row["id"] not in kept
        ]
        if not long:
            return

        shown = f"'{str(long[0]['key'])[:_SHOWN_CHARS]}...' ({_bytes(long[0]['key']):,} bytes)"
        cost = (
            f"{_NOT_SEARCHED}, so that the rest is searched; their project stands in "
            f"`{LEFT_OUT}` or their edge"
            if has_projects
            else f"Nodes of {kind.label} are not indexed by `{kind.key}`, and found slowly by it"
        )
        self.survey.problems.append(
            f"{self.survey.some_of(kind.label, len(long))} have a `{kind.key}` or a project too "
            f"long for an index: {shown}. {cost}: shorten it to {MOST_BYTES:,} bytes, and "
            f"{PREPARE} again."
        )

    async def look_at_edges(self, kind: NodeKind) -> None:
        """Report that there is no edge of the type that should lead to or from such nodes."""
        if not kind.edge:
            return

        if not await counted(self.connection, kind.edge.split("|"), looking.count_types):
            nodes = self.survey.nodes[kind.label]
            self.survey.problems.append(
                f"There are {kind.label} nodes ({nodes:,}), but no {kind.edge} edge."
            )

    async def look_at_vectors(self, kind: NodeKind) -> None:
        """Report embeddings that no search can use, and refuse where no chunk's length fits."""
        text = statements.count_vectors(kind.source, self.vector)
        rows = await self.connection.rows(text, {"dimensions": self.dimensions})
        states = {row["state"]: row["nodes"] for row in rows}
        if kind.label == self.schema.named("__Chunk__") and (refusal := self._refusal(states)):
            self.survey.refusals.append(refusal)
            return

        for state, nodes in states.items():
            if state != "usable":
                await self._report_vectors(kind, state, nodes)

    def _refusal(self, states: dict[str, int]) -> str:
        """Return why the chunks' embeddings fit nothing; nothing where some of them do."""
        sizes = {
            int(state.removeprefix(_OF_SIZE)): nodes
            for state, nodes in states.items()
            if state.startswith(_OF_SIZE)
        }
        if not sizes or states.keys() & _RIGHT_SIZE:
            return ""

        return (
            f"The embeddings of all {self.schema.named('__Chunk__')} nodes that have one "
            f"({sum(sizes.values()):,}) are of "
            f"{' or '.join(map(str, sizes))} floats, but VECTOR_INDEX_DIMENSIONS is "
            f"{self.dimensions}: set it to what the graph and the embedding model have, or embed "
            "the graph again."
        )

    async def _report_vectors(self, kind: NodeKind, state: str, nodes: int) -> None:
        size = state.removeprefix(_OF_SIZE)
        other_length = f"an embedding of {size} floats instead of {self.dimensions}"
        text = statements.examples_of_vectors(kind.source, kind.key, self.vector)
        rows = await self.connection.rows(text, {"state": state, "dimensions": self.dimensions})
        shown = ", ".join(f"'{row['key']}'" for row in rows)
        embed = (
            f"{PREPARE[:-1]} --project ... --embed`" if state == "missing" else "embed them anew"
        )
        self.survey.vectors.append(
            f"{self.survey.some_of(kind.label, nodes)} have {_UNUSABLE.get(state, other_length)}: "
            f"{shown}. No search by vector finds them: {embed}, with the model of "
            "OAI_EMBED_MODEL_NAME."
        )

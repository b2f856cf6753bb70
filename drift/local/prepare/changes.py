"""The changes that preparation makes to a graph: each is run and counted, or written down.

Constraints and indexes are created where they are missing, and described.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from drift.graph.connection import Connection
from drift.graph.indexes import WantedIndex, read_indexes, speaks_cypher_25
from drift.local.ingest.neo4j.schema import create, missing, wait_until_online, warnings
from drift.local.say import Say
from drift.model.health import Index

_OLDER = (
    "a server before 2026.06 refuses the two options of quantisation: it gets the index without "
    "them"
)


@dataclass
class PrepareReport:
    """The changes made, or in a dry run those that would be.

    Counts of what changed by `label.property` or `:label`; `vectors` are problems of embeddings.
    """

    dry_run: bool
    changed: Counter[str] = field(default_factory=Counter)
    created: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    vectors: list[str] = field(default_factory=list)
    indexes: list[dict[str, Any]] = field(default_factory=list)
    cypher: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """Return it as one JSON document."""
        return {
            "changed": {name: count for name, count in self.changed.items() if count},
            "created": self.created,
            "problems": [*self.problems, *self.vectors],
            "indexes": self.indexes,
            "cypher": self.cypher,
            "dry_run": self.dry_run,
        }


@dataclass(frozen=True, slots=True)
class Changes:
    """Makes the changes, or in a dry run writes them down; counts them either way."""

    connection: Connection
    report: PrepareReport
    say: Say

    async def make(self, thing: str, text: str, expected: int, **parameters: object) -> int:
        """Change up to `expected` things, in a dry run none; return how many were changed."""
        if not expected:
            return 0

        if self.report.dry_run:
            self.report.changed[thing] += expected
            self.write_down(text, parameters)
            return 0

        self.say(f"Setting {thing} ({expected:,}) ...")
        return await self.apply(thing, text, parameters)

    async def apply(self, thing: str, text: str, parameters: Mapping[str, object]) -> int:
        """Run a change, never in a dry run; return how many things it changed, and count them."""
        counters = await self.connection.write_in_batches(text, parameters)
        changed = counters.properties_set + counters.labels_added
        self.report.changed[thing] += changed
        return changed

    def write_down(self, text: str, parameters: Mapping[str, object], note: str = "") -> None:
        """Add a statement to the dry run's script, behind a note and its parameters."""
        lines = [f"// {note}"] if note else []
        if parameters:
            lines.append(f":param {_literal(parameters)}")
        self.report.cypher.append("\n".join([*lines, f"{text};"]))


def _literal(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_literal(v)}" for name, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return json.dumps(value)


@dataclass(frozen=True, slots=True)
class SchemaSteps:
    """Creates what is missing of the wanted constraints and indexes, kind by kind."""

    changes: Changes
    wanted: Sequence[WantedIndex]
    dimensions: int
    wait_s: float

    async def create(self, *kinds: str) -> None:
        """Create the missing parts of these kinds and wait until all of them are online."""
        connection, report = self.changes.connection, self.changes.report
        wanted = [w for w in self.wanted if w.kind in kinds]
        absent = missing(wanted, await read_indexes(connection))
        if report.dry_run:
            for w in absent:
                await self._write_down(w)
            report.created += [w.name for w in absent]
            return

        if absent:
            self.changes.say(f"Creating {', '.join(w.name for w in absent)} ...")

        report.created += [w.name for w in absent if await create(connection, w, self.dimensions)]
        await wait_until_online(connection, wanted, self.dimensions, self.wait_s, self.changes.say)

    async def _write_down(self, wanted: WantedIndex) -> None:
        best, *_, oldest = (*wanted.statements, wanted.statements[-1])
        text = best if best == oldest or await speaks_cypher_25(self.changes.connection) else oldest
        parameters = {"dimensions": self.dimensions} if "$dimensions" in text else {}
        self.changes.write_down(text, parameters, _OLDER if "quantization" in text else "")

    async def describe(self) -> None:
        """Add the indexes as they are now to the report, and what could be better about them."""
        stored = await read_indexes(self.changes.connection)
        serving = (next((s for s in stored if w.is_served_by(s)), None) for w in self.wanted)
        self.changes.report.indexes += [_described(s) for s in serving if s is not None]
        can_filter = await speaks_cypher_25(self.changes.connection)
        self.changes.report.problems += warnings(self.wanted, stored, can_filter=can_filter)


def _described(index: Index) -> dict[str, Any]:
    about: dict[str, Any] = {
        "name": index.name,
        "type": index.kind.upper(),
        "labels": list(index.labels),
        "properties": list(index.properties),
        "state": index.state,
    }
    return about | ({"dimensions": index.dimensions} if index.kind == "vector" else {})

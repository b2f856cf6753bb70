"""What preparing a graph does to it: each change is run and counted, or written down."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from drift.graph.connection import Connection
from drift.local.say import Say


@dataclass
class PrepareReport:
    """What was done, or in a dry run what would be.

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


class Changes:
    """Makes the changes, or in a dry run writes them down; counts them either way."""

    def __init__(self, connection: Connection, report: PrepareReport, say: Say) -> None:
        """Change the graph through the connection, and keep count in the report; nothing is run."""
        self.connection = connection
        self.report = report
        self.say = say

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
    """Return a value as Cypher writes it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_literal(v)}" for name, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return json.dumps(value)

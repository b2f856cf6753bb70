"""What a query reads of the service's log lines, and whether lines like it are really written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_FIELD = re.compile(r"\bline\.(\w+)")
_COMPARED = re.compile(r"\bline\.(\w+)\)? *(?:==|!=|!?in) *(\([^)]*\)|'[^']*')")
_PART = re.compile(r"\bmessage (has|startswith) '([^']*)'")
_TEXT = re.compile(r"'([^']*)'")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the log: its `text` as it was written, and the `fields` in it."""

    text: str
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Reads:
    """What a query reads: `fields`, and `parts` of the whole message.

    `values` are what the fields are compared with.
    """

    fields: frozenset[str]
    values: Mapping[str, frozenset[str]]
    parts: frozenset[tuple[str, str]]

    def keeps(self, line: Line) -> bool:
        """Return whether a line passes the query's filters by event and by parts of the message."""
        events = self.values.get("event")
        if events and line.fields["event"] not in events:
            return False
        return all(
            line.text.startswith(part) if how == "startswith" else part in line.text
            for how, part in self.parts
        )


def read_by(query: str) -> Reads:
    """Return what a query reads of the lines; all of them call the parsed message `line`."""
    values: dict[str, frozenset[str]] = {}
    for field, given in _COMPARED.findall(query):
        values[field] = values.get(field, frozenset()) | frozenset(_TEXT.findall(given))
    return Reads(frozenset(_FIELD.findall(query)), values, frozenset(_PART.findall(query)))


def wrong(query: str, log: Iterable[Line], known: Mapping[str, frozenset[str]]) -> list[str]:
    """Return what is wrong with a query for a log of such lines.

    `known` are the values that a field can have.
    """
    reads = read_by(query)
    kept = [line for line in log if reads.keeps(line)]
    present = {field for line in kept for field in line.fields}

    unkept = [] if kept else ["its filters keep no line"]
    absent = [f"no line that it keeps has the field {field}" for field in reads.fields - present]
    strange = [
        f"{field} is never {value}"
        for field, allowed in known.items()
        for value in reads.values.get(field, frozenset()) - allowed
    ]
    return sorted(unkept + absent + strange)

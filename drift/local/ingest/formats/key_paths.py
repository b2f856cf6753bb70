"""Pure: text that stays as it is in its file, cut along the parts that its own structure names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from drift.indexing.documents import MAY_HOLD_SECRETS
from drift.local.ingest.formats import NoDocumentError, Read
from drift.local.ingest.formats.secrets import configures_tools, without_secrets
from drift.local.ingest.parts import MAX_DEPTH, FoundDefinition, cut_along

MOST_OUTLINED = 2_000_000
"""Characters of a text that is cut along its parts; a longer one is cut at lines."""
MOST_OF_A_NAME = 80
_LABELS = ("name", "title", "id", "key", "artifactid", "uses", "kind")
"""What an entry of a list is called by, the best first."""
_COMMENT = re.compile(r"\s*(?:#|;|--|//|\.PHONY)")
_CHARACTERS_A_LINE = 500
"""On average, from which no person has written the lines."""


@dataclass(slots=True)
class Part:
    """A part of a text from row `begin` to `end`, within another; rows count from 0."""

    above: Part | None = None
    name: str = ""
    begin: int = 0
    end: int = -1
    label: str = ""
    _rank: int = len(_LABELS)

    def call(self, key: str, said: str) -> None:
        """Call it by what stands under a key, if that names it better than what did so far."""
        rank = _LABELS.index(key.lower()) if key.lower() in _LABELS else len(_LABELS)
        if rank < self._rank and said.strip():
            self._rank, self.label = rank, shown(said)

    def qualify(self, said: str) -> None:
        """Add a name to what it is called, which is final."""
        self._rank, self.label = -1, f"{self.label} {said}".strip()

    @property
    def path(self) -> tuple[str, ...]:
        """The names of what it stands in, and its own."""
        names, part = [self.name], self.above
        while part is not None:
            names.append(part.name)
            part = part.above
        return tuple(filter(None, reversed(names)))


@dataclass(slots=True)
class Outline:
    """The parts of a text, as they begin and end; those too deep within others count to these."""

    parts: list[Part] = field(default_factory=lambda: [Part()])
    _open: list[Part] = field(init=False)
    _too_deep: int = 0

    def __post_init__(self) -> None:
        self._open = self.parts[:]

    @property
    def is_whole(self) -> bool:
        """Tell whether there are parts, and all have ended."""
        return len(self.parts) > 1 and len(self._open) == 1 and not self._too_deep

    @property
    def top(self) -> Part | None:
        """The innermost part that has begun, if no part is too deep."""
        return None if self._too_deep else self._open[-1]

    def begin(self, name: str, row: int) -> None:
        """Begin a part in the innermost one."""
        if self._too_deep or len(self._open) > MAX_DEPTH:
            self._too_deep += 1
            return
        part = Part(self._open[-1], shown(name), row)
        self.parts.append(part)
        self._open.append(part)

    def end(self, row: int) -> Part | None:
        """End the innermost part, and return it if it is none too deep."""
        if self._too_deep:
            self._too_deep -= 1
            return None
        part = self._open[-1]
        part.end = row
        if len(self._open) > 1:
            self._open.pop()
        return part

    def found(self, last_row: int) -> Iterator[FoundDefinition]:
        """Yield parts of several rows that have a name; what is open ends with the text.

        A single part that holds all others is the file.
        """
        outer = [part for part in self.parts if part.above is self.parts[0]]
        if len(outer) == 1:
            outer[0].name = ""
        for part in self.parts:
            end = last_row if part.end < 0 else part.end
            if end > part.begin and (path := part.path):
                yield FoundDefinition("", path, part.begin, part.begin, end)


def shown(name: str) -> str:
    """Return a name on one line, at most 80 characters of it."""
    return " ".join(name[: 2 * MOST_OF_A_NAME].split())[:MOST_OF_A_NAME]


def is_packed(text: str) -> bool:
    """Tell whether a text has no lines to speak of, because a program has written it."""
    return len(text) > _CHARACTERS_A_LINE * (1 + text.count("\n"))


def cut_as_it_is(
    text: str, found: Iterable[FoundDefinition], *notes: str, has_lines: bool = True
) -> Read:
    """Return a text in its own lines, with chunks along its parts, and comments with these.

    NoDocumentError for a configuration of tools.
    """
    text, note = shown_without_secrets(text)
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    pieces = cut_along(text, starts, list(_with_comments(lines, found)))
    long = f"is cut at lines: it has over {MOST_OUTLINED:,} characters"
    notes = (*notes, note, long if len(text) > MOST_OUTLINED else "")
    return Read(
        text,
        note="; ".join(filter(None, notes)),
        format="text",
        has_lines=has_lines,
        pieces=tuple(pieces),
    )


def shown_without_secrets(text: str) -> tuple[str, str]:
    """Return a text without secrets, and a note on them; NoDocumentError where all may be one."""
    if configures_tools(text):
        raise NoDocumentError(MAY_HOLD_SECRETS)
    text, hidden = without_secrets(text)
    return text, f"what looks like a secret stands as ***: {hidden:,} times" if hidden else ""


def _with_comments(
    lines: Sequence[str], found: Iterable[FoundDefinition]
) -> Iterator[FoundDefinition]:
    """Yield parts with the comments above each, as far as no part before it holds these."""
    free, within = 0, list[FoundDefinition]()
    for one in found:
        while within and within[-1].last_row < one.row:
            free = within.pop().last_row + 1
        floor = max(free, within[-1].row + 1 if within else 0)
        yield replace(one, begin=comments_above(lines, one.row, floor))
        within.append(one)


def comments_above(lines: Sequence[str], row: int, floor: int) -> int:
    """Return the row in which the comments directly above a row begin, and no earlier one."""
    while row > floor and _COMMENT.match(lines[row - 1]):
        row -= 1
    return row

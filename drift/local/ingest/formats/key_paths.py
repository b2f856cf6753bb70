"""Pure: text that stays as it is in its file, cut along the parts that its own structure names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from drift.indexing.documents import MAY_HOLD_SECRETS
from drift.local.ingest.formats import NoDocumentError, Read
from drift.local.ingest.formats.secrets import HIDDEN, configures_tools, without_secrets
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
class KeyedPart:
    """A part of a text from row `begin` to `end`, within another; rows count from 0.

    Of an open one, `key` is that whose value comes next, in `row`, and `count` those so far.
    """

    above: KeyedPart | None = None
    name: str = ""
    begin: int = 0
    is_list: bool = False
    end: int = -1
    label: str = ""
    key: str | None = None
    row: int = 0
    count: int = 0
    depth: int = 0
    _rank: int = len(_LABELS)

    def call(self, key: str, said: str) -> None:
        """Call it by what stands under a key, if that names it better than what did so far."""
        rank = _LABELS.index(key.lower()) if key.lower() in _LABELS else self._rank
        if rank < self._rank and said.strip():
            self._rank, self.label = rank, shown(said)

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

    top: KeyedPart = field(default_factory=lambda: KeyedPart(is_list=True))
    parts: list[KeyedPart] = field(default_factory=list)

    def begin(self, name: str, row: int, *, is_list: bool = False) -> None:
        """Begin a part in the innermost one."""
        self.top = KeyedPart(self.top, shown(name), row, is_list, depth=self.top.depth + 1)
        if self.top.depth <= MAX_DEPTH:
            self.parts.append(self.top)

    def end(self, row: int) -> KeyedPart:
        """End the innermost part, and return it."""
        part = self.top
        part.end = row
        self.top = part.above or part
        return part

    def found(self) -> Iterator[FoundDefinition]:
        """Yield parts of several rows that have a name; what is open ends where the last one began.

        A single part that holds all others is the file.
        """
        outer = [part for part in self.parts if part.depth == 1]
        if len(outer) == 1:
            outer[0].name = ""
        for part in self.parts:
            end = self.parts[-1].begin if part.end < 0 else part.end
            if end > part.begin and (path := part.path):
                yield FoundDefinition("", path, part.begin, part.begin, end)


Find = Callable[[str], tuple[Iterable[FoundDefinition], str]]
"""Finds the parts of a text, and says what is wrong with it."""


def shown(name: str) -> str:
    """Return a name on one line, at most 80 characters of it."""
    return " ".join(name[: 2 * MOST_OF_A_NAME].split())[:MOST_OF_A_NAME]


def is_packed(text: str) -> bool:
    """Tell whether a text has no lines to speak of, because a program has written it."""
    return len(text) > _CHARACTERS_A_LINE * (1 + text.count("\n"))


def cut_as_it_is(text: str, note: str, find: Find, *, has_lines: bool = True) -> Read:
    """Return a text in its own lines, with chunks along its parts, and comments with these.

    NoDocumentError for a configuration of tools.
    """
    long = f"is cut at lines: it has over {MOST_OUTLINED:,} characters"
    found, broken = ((), long) if len(text) > MOST_OUTLINED else find(text)
    text, hidden = shown_without_secrets(text)
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    pieces = tuple(cut_along(text, starts, list(_with_comments(lines, found))))
    note = "; ".join(filter(None, (note, broken, hidden)))
    return Read(text, note=note, format="text", has_lines=has_lines, pieces=pieces)


def shown_without_secrets(text: str, whole: str = "") -> tuple[str, str]:
    """Return a text without secrets, and a note on them, which the `whole` of the file has still.

    NoDocumentError where all may be one.
    """
    if configures_tools(text):
        raise NoDocumentError(MAY_HOLD_SECRETS)
    shown = without_secrets(text)
    hidden = shown.count(HIDDEN) - (whole or text).count(HIDDEN)
    note = f"what looks like a secret stands as {HIDDEN}: {hidden:,} times" if hidden > 0 else ""
    return shown, note


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

"""XML as it is written, cut along its elements; no entity is read, and nothing is fetched."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from drift.local.ingest.formats import Read
from drift.local.ingest.formats.encodings import text_in
from drift.local.ingest.formats.key_paths import (
    MOST_OF_A_NAME,
    MOST_OUTLINED,
    Outline,
    cut_as_it_is,
    is_packed,
)

_BETWEEN = re.compile(r">\s*<")


class _EntitiesError(Exception):
    """A file declares entities."""


def read_xml(content: bytes) -> Read:
    """Return XML as it is written, under its elements as far as it is valid."""
    text, note = text_in(content)
    packed = is_packed(text) and len(text) <= MOST_OUTLINED
    if packed:
        text = _BETWEEN.sub(">\n<", text)
    elements, broken = _Elements(), ""
    if len(text) <= MOST_OUTLINED:
        try:
            elements.parser.Parse(text.encode(), True)
        except expat.ExpatError as error:
            broken = f"is no valid XML from line {error.lineno:,} on"
        except _EntitiesError:
            broken = "declares entities, which are not read"
    found = elements.outline.found(text.count("\n"))
    return cut_as_it_is(text, found, note, broken, has_lines=not packed)


@dataclass(slots=True)
class _Elements:
    """What the parser meets, as an outline; an element is called by what it says as well."""

    parser: expat.XMLParserType = field(default_factory=lambda: expat.ParserCreate("utf-8"))
    outline: Outline = field(default_factory=Outline)
    _said: str = ""

    def __post_init__(self) -> None:
        self.parser.StartElementHandler = self._begin
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._refuse

    @property
    def _row(self) -> int:
        return self.parser.CurrentLineNumber - 1

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        self._said = ""
        self.outline.begin(_local(tag), self._row)
        if self.outline.top:
            for name, value in attributes.items():
                self.outline.top.call(_local(name), value)

    def _text(self, said: str) -> None:
        self._said = (self._said + said)[:MOST_OF_A_NAME]

    def _end(self, tag: str) -> None:
        part = self.outline.end(self._row)
        if part is None:
            return
        if part.above and part.above.above and part.begin == self._row:
            part.above.call(_local(tag), self._said)
        if part.label:
            part.name = f"{part.name} {part.label}"
        self._said = ""

    def _refuse(self, *_: object) -> None:
        raise _EntitiesError


def _local(name: str) -> str:
    return name.rpartition(":")[2]

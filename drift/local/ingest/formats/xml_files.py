"""XML as it is written, cut along its elements; no entity is read, and nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from xml.parsers import expat

from drift.local.ingest.formats import Read
from drift.local.ingest.formats.encodings import decoded_page, text_in
from drift.local.ingest.formats.key_paths import (
    MOST_OF_A_NAME,
    Outline,
    cut_as_it_is,
    is_packed,
)
from drift.local.ingest.parts import FoundDefinition

_BETWEEN = re.compile(r">\s*<")


class _EntitiesError(Exception):
    """A file declares entities."""


def read_xml(content: bytes) -> Read:
    """Return XML as it is written, under its elements as far as it is valid."""
    text, note = text_in(content, decoded_page)
    packed = is_packed(text)
    return cut_as_it_is(
        _BETWEEN.sub(">\n<", text) if packed else text, note, _parts, has_lines=not packed
    )


def _parts(text: str) -> tuple[Iterable[FoundDefinition], str]:
    elements, broken = _Elements(), ""
    try:
        elements.parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        broken = f"is no valid XML from line {error.lineno:,} on"
    except _EntitiesError:
        broken = "declares entities, which are not read"
    return elements.outline.found(), broken


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
        for name, value in attributes.items():
            self.outline.top.call(_local(name), value)

    def _text(self, said: str) -> None:
        self._said = (self._said + said)[:MOST_OF_A_NAME]

    def _end(self, tag: str) -> None:
        part = self.outline.end(self._row)
        if part.above and part.begin == self._row:
            part.above.call(_local(tag), self._said)
        if part.label:
            part.name = f"{part.name} {part.label}"
        self._said = ""

    def _refuse(self, *_: object) -> None:
        raise _EntitiesError


def _local(name: str) -> str:
    return name.rpartition(":")[2]

"""Pure: what the styles of a Word document mean for its text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from drift.local.ingest.formats.packages import Element, number_of, said_of
from drift.local.ingest.formats.stories import Style

_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_MOST_LEVELS, _NO_LEVEL = 6, 9
_MOST_ABOVE = 20


def is_on(switch: Element) -> bool:
    """Tell whether a property is there and not switched off."""
    return switch is not None and said_of(switch, "val", "1") not in {"0", "false", "off"}


class Styles:
    """The styles of a document, each with what it has of those that it is based on."""

    def __init__(self, styles: Iterable[Any]) -> None:
        """Read the elements of the part of styles, or none."""
        self._known = {key: one for one in styles if (key := said_of(one, "styleId"))}
        self._read: dict[str, Style] = {}

    def named(self, key: str) -> Style:
        """Return a style by its key; a plain one for what is not known."""
        if key not in self._read:
            self._read[key] = self._style(key)
        return self._read[key]

    def of(self, paragraph: Element) -> Style:
        """Return the style of a paragraph, with what it says itself."""
        own = paragraph.find("{*}pPr")
        if own is None:
            return Style()
        style = self.named(said_of(own.find("{*}pStyle"), "val"))
        is_item = own.find("{*}numPr") is not None or style.is_item
        level = _level(own)
        return Style(
            style.level if level is None else level, style.is_title, is_item, style.is_hidden
        )

    def is_hidden(self, run: Element) -> bool:
        """Tell whether nobody sees words: by themselves, their style or that of a paragraph."""
        own = run.find("{*}rPr")
        if own is not None and own.find("{*}vanish") is not None:
            return is_on(own.find("{*}vanish"))
        if own is not None and self.named(said_of(own.find("{*}rStyle"), "val")).is_hidden:
            return True
        above = next(run.iterancestors("{*}p"), None)
        return above is not None and self.of(above).is_hidden

    def _style(self, key: str) -> Style:
        level: int | None = None
        is_title, is_item, hidden = False, False, None
        for _ in range(_MOST_ABOVE):  # styles may be based on each other in a circle
            one = self._known.get(key)
            if one is None:
                break
            name = said_of(one.find("{*}name"), "val")
            heading = _HEADING.fullmatch(name)
            own = one.find("{*}pPr")
            is_title = is_title or name.lower() == "title"
            level = int(heading[1]) if level is None and heading else level
            level = _level(own) if level is None else level
            is_item = is_item or name.lower().startswith("list")
            is_item = is_item or (own is not None and own.find("{*}numPr") is not None)
            hidden = one.find("{*}rPr/{*}vanish") if hidden is None else hidden
            key = said_of(one.find("{*}basedOn"), "val")
        level = int(is_title) if level is None else min(level, _MOST_LEVELS)
        return Style(level, is_title, is_item, is_on(hidden))


def _level(own: Element) -> int | None:
    """Return the level of a heading, 0 of what says that it is none, and None of all else."""
    level = None if own is None else own.find("{*}outlineLvl")
    number = number_of(level, "val", 0, _NO_LEVEL)
    return None if level is None else 0 if number == _NO_LEVEL else min(number + 1, _MOST_LEVELS)

"""Pure: a prompt's elements, read back: what `drift.prompting.markup` writes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_ATTRIBUTE = re.compile(r' ([a-z]+)="([^"]*)"')
_NUMBERED = re.compile(r"^(\d+)\| ?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Element:
    """A tag of a prompt: its attributes and what stands in it, as text."""

    attributes: Mapping[str, str] = field(default_factory=dict)
    content: str = ""

    def __getitem__(self, name: str) -> str:
        """Return an attribute; empty when there is none."""
        return self.attributes.get(name, "")

    def lines(self) -> list[str]:
        """Return the lines in it."""
        return self.content.split("\n")

    def sentences(self) -> dict[int, str]:
        """Return the numbered sentences of a chunk."""
        parts = _NUMBERED.split(self.content)
        pairs = zip(parts[1::2], parts[2::2], strict=True)
        return {int(number): text.rstrip("\n").replace("\n   ", "\n") for number, text in pairs}


def elements(text: str, tag: str) -> list[Element]:
    """Return the elements of a tag in order."""
    found = re.finditer(rf"<{tag}((?: [a-z]+=\"[^\"]*\")*)>(.*?)</{tag}>", text, re.DOTALL)
    return [
        Element(dict(_ATTRIBUTE.findall(one[1])), _unescaped(one[2].strip("\n"))) for one in found
    ]


def element(text: str, tag: str) -> Element:
    """Return the first element of a tag; an empty one when there is none."""
    return next(iter(elements(text, tag)), Element())


def _unescaped(text: str) -> str:
    return text if "<" in text else text.replace("&lt;", "<")

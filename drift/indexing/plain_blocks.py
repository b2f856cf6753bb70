"""Pure: the blocks of plain text and reStructuredText.

They are found by blank lines, indentation and underlines.

Levels of headings follow reStructuredText: the first style of underline met is the top level, the
next new one below it. What is indented under a line that ends with a colon is code, unless it reads
like prose: the manuals that Python ships are written so, with definitions whose bodies are indented
prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

_UNDERLINE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*$")
_ADMONITION = re.compile(
    r"(?:note|see also|warning|tip|hint|important|caution|danger|attention|.*implementation detail"
    r"|(?:deprecated|changed|added|new) (?:since|in) version.*):$",
    re.IGNORECASE,
)

PlainSpan = tuple[int, int, Literal["heading", "prose", "code"], int, str]
_CODE_START = re.compile(
    r"\s*(?:>>> |\$ |@\w|def \w+\(|class \w.*:$|import \w|from [\w.]+ import |async def )"
)
_CODE_DIRECTIVE = re.compile(
    r"\.\. (?:code-block|code|sourcecode|highlight|parsed-literal|productionlist|math)::"
)


@dataclass(slots=True)
class _Reader:
    lines: Sequence[str]
    strict: bool
    styles: list[tuple[str, bool]] = field(default_factory=list)

    def spans(self) -> Iterator[PlainSpan]:
        """Yield the blocks in order."""
        at, lead = 0, ""
        while at < len(self.lines):
            if not self.lines[at].strip():
                at += 1
                continue
            span = self._heading(at) or self._code(at, lead)
            span = span or (at, self._end_of_paragraph(at), "prose", 0, "")
            yield span
            at = span[1]
            lead = self.lines[at - 1]

    def _heading(self, at: int) -> PlainSpan | None:
        """Read an underlined title, with or without a line above it."""
        over = _UNDERLINE.match(self.lines[at])
        title_at = at + 1 if over else at
        if title_at + 1 >= len(self.lines):
            return None

        title, under = self.lines[title_at].rstrip(), _UNDERLINE.match(self.lines[title_at + 1])
        if (
            not title.strip()
            or not under
            or _UNDERLINE.match(title)
            or (over and over[1] != under[1])
        ):
            return None

        if (title[0].isspace() and not over) or len(self.lines[title_at + 1].rstrip()) < len(
            title.strip()
        ) - 2:
            return None

        style = (under[1], over is not None)
        if style not in self.styles:
            self.styles.append(style)
        return at, title_at + 2, "heading", self.styles.index(style) + 1, title.strip()

    def _code(self, at: int, lead: str) -> PlainSpan | None:
        """Read an indented block that is code, with the blank lines in it."""
        indent = _indent(self.lines[at])
        if re.match(r"\s*(?:\+[-=+]{3,}|\|.*\||=+(?: +=+)+)\s*$", self.lines[at]):
            return at, self._end_of_paragraph(at), "code", 0, ""
        if indent <= _indent(lead) or not self._leads_to_code(at, lead):
            return None

        least = _indent(lead) + 1 if lead.rstrip().endswith(":") else indent
        end = last = at
        while end < len(self.lines):
            if self.lines[end].strip():
                if _indent(self.lines[end]) < least:
                    break
                last = end
            end += 1

        return at, last + 1, "code", 0, ""

    def _leads_to_code(self, at: int, lead: str) -> bool:
        lead = lead.strip()
        if lead.endswith("::") or _CODE_DIRECTIVE.match(lead):
            return not _ADMONITION.match(lead.removesuffix(":"))

        first = self.lines[at]
        if _CODE_START.match(first) or "::=" in first:
            return True

        paragraph = self.lines[at : self._end_of_paragraph(at)]
        return (
            not self.strict
            and lead.endswith(":")
            and not _ADMONITION.match(lead)
            and not _is_prose(paragraph)
        )

    def _end_of_paragraph(self, at: int) -> int:
        end = at + 1
        while end < len(self.lines) and self.lines[end].strip():
            end += 1
        return end


def plain_spans(lines: Sequence[str], *, strict: bool) -> Iterator[PlainSpan]:
    """Yield blocks as line ranges; `strict`: only what reStructuredText marks as code counts."""
    return _Reader(lines, strict).spans()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_prose(paragraph: Sequence[str]) -> bool:
    fewest_words, most_symbols = 6, 0.06
    text = " ".join(line.strip() for line in paragraph)
    if re.match(r"\s*(?:[*+•-]|\(?\w{1,3}[.)])\s+\S", paragraph[0]):
        return True
    symbols = len(re.findall(r"[=()\[\]{}<>|_@#/\\]", text)) / max(1, len(text))
    ends = text.endswith((".", ":", ";", ".)"))
    return ends and symbols < most_symbols and len(text.split()) >= fewest_words

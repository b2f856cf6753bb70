"""Pure: in which parts of a page a tag stands: its main part, bars, and what is not shown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_DROPPED = {"script", "style", "noscript", "template", "svg", "nav", "head"}
_BARS = {"aside", "footer", "search"}
_BAR_ROLES = {"complementary", "contentinfo", "banner", "search"}
_BAR_CLASSES = {"navheader", "navfooter", "sphinxsidebar"}  # of DocBook and Sphinx
_NOTES = {"aside", "complementary"}
BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "div"),
        *("dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html"),
        *("li", "main", "ol", "option", "p", "section", "summary", "table", "tbody", "tfoot"),
        *("thead", "tr", "ul"),
    )
)
HEADINGS = {f"h{level}": level for level in range(1, 7)}
_NEVER_CLOSED = frozenset(
    ("br", "hr", "img", "input", "link", "meta", "col", "source", "wbr", "area", "embed")
)
_WHOLE = {"html", "body", "main"}
"""What a script shows again: hidden, it would hide all."""
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


@dataclass(slots=True)
class _Region:
    """An element with all that is in it; `tag` is empty outside of it."""

    tag: str = ""
    depth: int = 0

    def start(self, tag: str, *, begins: bool) -> None:
        """See a tag, with which the region may begin: the outermost such element is it."""
        if tag == self.tag:
            self.depth += 1
        elif begins and not self.tag:
            self.tag, self.depth = tag, 1

    def end(self, tag: str) -> None:
        """See an end; only that of its own element ends the region."""
        if tag == self.tag:
            self.depth -= 1
            self.tag = tag if self.depth else ""


@dataclass(slots=True)
class Regions:
    """Where the words that come next stand; `has_bars` says whether bars are told from the text."""

    has_bars: bool
    dropped: _Region = field(default_factory=_Region)
    is_hidden: bool = False
    """What is dropped is hidden by the page itself."""
    _bar: _Region = field(default_factory=_Region)
    _main: _Region = field(default_factory=_Region)
    _article: _Region = field(default_factory=_Region)
    _is_note: bool = False

    @property
    def place(self) -> str:
        """The element that holds the text: `main`, `article` or none."""
        return "main" if self._main.tag else "article" if self._article.tag else ""

    @property
    def in_bar(self) -> bool:
        """True within a bar, of which no heading is one of the text."""
        return bool(self._bar.tag)

    @property
    def in_note(self) -> bool:
        """True within a bar that may well belong to the text."""
        return self._is_note or bool(self.place)

    def is_open(self) -> bool:
        """Tell whether a bar, or what is hidden, was never closed, so that it may hold the text."""
        may_be = self.is_hidden or self.dropped.tag not in _DROPPED - {"nav"}
        return self.in_bar or (may_be and bool(self.dropped.tag))

    def start(self, tag: str, attributes: dict[str, str | None]) -> None:
        """See the beginning of an element."""
        dropped, is_block = self.dropped, tag in BLOCKS
        begins_text = is_block or tag in HEADINGS
        if begins_text and dropped.tag in {"head", "p"}:
            self.dropped = dropped = _Region()  # which was never closed

        role = (attributes.get("role") or "").strip().lower() if is_block and attributes else ""
        begins = tag in _DROPPED - {"nav"}
        if self.has_bars and not dropped.tag:
            self.is_hidden = bool(attributes) and _is_hidden(tag, attributes)
            begins = begins or self.is_hidden or tag == "nav" or role == "navigation"
        dropped.start(tag, begins=begins)
        if not is_block and tag != "search":
            return

        classes = (attributes.get("class") or "").split() if tag == "div" else ()
        is_bar = tag in _BARS or role in _BAR_ROLES or not _BAR_CLASSES.isdisjoint(classes)
        if not self._bar.tag:
            self._is_note = not _NOTES.isdisjoint((tag, role))
        self._bar.start(tag, begins=self.has_bars and is_bar)
        self._main.start(tag, begins=tag == "main" or role == "main")
        self._article.start(tag, begins=tag == "article")

    def end(self, tag: str) -> None:
        """See the end of an element."""
        for region in (self.dropped, self._bar, self._main, self._article):
            region.end(tag)


def _is_hidden(tag: str, attributes: dict[str, str | None]) -> bool:
    if tag in _NEVER_CLOSED or tag in _WHOLE:
        return False
    hidden = attributes.get("hidden", "until-found") != "until-found"
    return hidden or bool(_HIDDEN_STYLE.search(attributes.get("style") or ""))

"""Pure: an HTML page as the blocks that a reader sees, in Markdown, with where each of them stands.

The standard library's parser is enough for it. Scripts, styles and navigation are dropped, what the
page hides, and links of a heading to itself. What stands in bars is text without headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from html.parser import HTMLParser

from drift.core.hyperlinks import Link
from drift.local.ingest.formats.escaping import escaped, fenced
from drift.local.ingest.formats.page_regions import BLOCKS, HEADINGS, Regions
from drift.local.ingest.formats.page_tables import PageBlock, PageTable

MOST_TABLES_DEEP = 8

Attributes = list[tuple[str, str | None]]

MENU = 0.6
"""The share of links from which a block is a menu, where it may be one."""

_DOXYGEN_TITLE = "headertitle"
"""The class of what is a page's heading in the output of Doxygen, which has no `h1`."""

_PERMALINKS = {"headerlink", "permalink", "header-anchor", "hash-link", "anchor-link"}
_CELLS = {"td", "th"}
_UNSEEN = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))|<(script|style)\b(?![^<>]*/>).*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
"""Comments, scripts and styles; one that is never closed goes to the end."""
_LONE_BRACKET = re.compile(r"<(?![^<>]*>)")
"""A `<` that no `>` closes before the next one: text in fact, on which the library's parser may
take quadratic time."""

_LONG_REFERENCE = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{7,});?")
"""A character's number beyond all of Unicode: the library refuses to read thousands of digits."""


@dataclass(slots=True)
class SeenPage:
    """What a page shows: its blocks, its `<title>`, its links, and what it says of itself.

    `facts` are its `meta` elements by name, and `language`; `hidden` counts words out of sight.
    """

    blocks: list[PageBlock] = field(default_factory=list)
    title: str = ""
    links: list[Link] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    hidden: int = 0


def blocks_of(html: str) -> SeenPage:
    """Return what a page shows; nothing is raised, and the time is linear in its length."""
    html = _LONE_BRACKET.sub("&lt;", _LONG_REFERENCE.sub("\ufffd", _UNSEEN.sub("", html)))
    reader = _PageReader(has_bars=True)
    seen = reader.read(html)
    if reader.regions.is_open() or not seen.blocks:
        seen = _PageReader(has_bars=False).read(html)
    return seen


class _PageReader(HTMLParser):
    """Reads one page; `has_bars` says whether navigation and bars are told from the text."""

    def __init__(self, *, has_bars: bool) -> None:
        super().__init__(convert_charrefs=True)
        self._seen = SeenPage()
        self._sink = self._seen.blocks
        self.regions = Regions(has_bars)
        self._line: list[str] = []
        self._prefix = ""
        self._permalink: tuple[int, bool] | None = None
        """Where a link of a heading to itself may begin, and whether words stand before it."""
        self._has_words = False
        self._link: tuple[int, str] | None = None
        """Where the words of a link begin, and what it leads to."""
        self._is_linked, self._linked = False, 0
        self._title: list[str] = []
        self._in_title = False
        self._pre = 0
        self._tables: list[PageTable] = []
        self._too_deep = 0

    def read(self, html: str) -> SeenPage:
        """Return what a page shows."""
        self.feed(html)
        self.close()
        self._end_code() if self._pre else self._end_block()
        while self._tables:
            self._end_table()
        self._seen.title = " ".join("".join(self._title).split())
        return self._seen

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        attributes = dict(attrs)
        self.regions.start(tag, attributes)
        if tag in {"html", "meta"}:
            self._see_fact(tag, attributes)
        elif tag == "title" and self.regions.dropped.tag in {"", "head"}:
            self._in_title = not self._title

        if tag == "pre" and not self.regions.dropped.tag:
            self._end_block()
            self._pre += 1
        elif self._pre:
            self._line.append("\n" if tag == "br" else "")
        elif tag == "br":
            self._line.append(" ")
        elif tag in _CELLS and not self._tables:
            self._line.append(" | " if self._has_words else " ")
        elif tag == "a":
            self._begin_permalink(attributes)
            self._link = (len(self._line), attributes.get("href") or "")
            self._is_linked = True
        elif tag in HEADINGS or tag in BLOCKS or tag in _CELLS:
            self._end_block()
            self._prefix = self._marks(tag, attributes) or self._prefix
            if self._tables or tag == "table":
                self._begin_of_table(tag, attributes)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag == "pre" and self._pre:
            self._pre -= 1
            if not self._pre:
                self._end_code()
        elif tag == "a":
            self._end_link()
            self._end_permalink()
        elif not self._pre and (
            tag in HEADINGS or tag in BLOCKS or (tag in _CELLS and self._tables)
        ):
            self._end_block()
            self._prefix = ""
        if self._tables:
            self._end_of_table(tag)
        self.regions.end(tag)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title.append(data)
        elif not self.regions.dropped.tag:
            self._line.append(data)
            self._has_words = self._has_words or has_words(data)
            self._linked += len(data) if self._is_linked else 0
        elif self.regions.is_hidden:
            self._seen.hidden += len(data.split())

    def updatepos(self, i: int, j: int) -> int:  # noqa: ARG002 - the library's signature
        """Count no lines: nobody asks where a tag stands."""
        return j

    def parse_marked_section(self, i: int, report: bool = True) -> int:  # noqa: ARG002 - the library's signature
        """Pass over `<![…>`, of which the library knows some kinds and gives up on the rest."""
        end = self.rawdata.find(">", i)
        return end + 1 if end >= 0 else -1

    def _see_fact(self, tag: str, attributes: dict[str, str | None]) -> None:
        if tag == "html":
            told = {"language": attributes.get("lang") or attributes.get("xml:lang")}
        else:
            names = map(attributes.get, ("name", "property", "itemprop"))
            told = dict.fromkeys((n.lower() for n in names if n), attributes.get("content"))
        for name, value in told.items():
            if value and value.strip():
                self._seen.facts.setdefault(name, " ".join(value.split()))

    def _marks(self, tag: str, attributes: dict[str, str | None]) -> str:
        """Return what stands before a block of Markdown; empty for what changes nothing."""
        if tag in HEADINGS:
            return "" if self.regions.in_bar else "#" * HEADINGS[tag] + " "
        if tag == "div" and attributes.get("class") == _DOXYGEN_TITLE:
            return "# "
        return "- " if tag == "li" else ""

    def _begin_permalink(self, attributes: dict[str, str | None]) -> None:
        is_named = not _PERMALINKS.isdisjoint((attributes.get("class") or "").split())
        is_inside = self._prefix.startswith("#") and (attributes.get("href") or "").startswith("#")
        behind_words = is_named and self._has_words
        self._permalink = (len(self._line), behind_words) if is_named or is_inside else None

    def _end_link(self) -> None:
        if self._link and not self.regions.dropped.tag:
            self._seen.links.append(("".join(self._line[self._link[0] :]), self._link[1]))
        self._link, self._is_linked = None, False

    def _end_permalink(self) -> None:
        """Drop a link of a heading to itself: a sign, or any word behind the heading's own."""
        if self._permalink:
            start, behind_words = self._permalink
            if behind_words or not any(map(has_words, self._line[start:])):
                del self._line[start:]
            self._permalink = None

    def _begin_of_table(self, tag: str, attributes: dict[str, str | None]) -> None:
        if tag == "table" and len(self._tables) < MOST_TABLES_DEEP:
            role = attributes.get("role") or ""
            is_layout = role.lower() in {"presentation", "none"}
            self._tables.append(PageTable(self._sink, is_layout=is_layout))
        elif tag == "table":
            self._too_deep += 1
        if self._tables and not self._too_deep:
            self._sink = self._tables[-1].begin(tag, attributes, self._sink)

    def _end_of_table(self, tag: str) -> None:
        if tag == "table" and self._too_deep:
            self._too_deep -= 1
        elif tag == "table":
            self._end_table()
        elif not self._too_deep and tag in {*_CELLS, "tr", "thead"}:
            self._sink = self._tables[-1].end(tag)

    def _end_table(self) -> None:
        table = self._tables.pop()
        table.outer.extend(table.read())
        self._sink = table.outer

    def _end_block(self) -> None:
        text = " ".join("".join(self._line).split())
        if text:
            is_heading = self._prefix.startswith("#")
            self._add(self._prefix + (text if is_heading else escaped(text)), len(text))
            self._prefix = ""
        self._line.clear()
        self._permalink, self._link, self._has_words = None, None, False
        self._linked = 0

    def _end_code(self) -> None:
        code = "".join(self._line).replace("\r\n", "\n").replace("\r", "\n").strip("\n")
        self._line.clear()
        if code.strip():
            self._add(fenced(code), len(code))
        self._linked = 0

    def _add(self, text: str, length: int) -> None:
        linked, here = self._linked / length, self.regions
        is_bar = here.in_bar and (linked > MENU or not here.in_note)
        self._sink.append(PageBlock(text, here.place, is_bar=is_bar, linked=linked))


def has_words(text: str) -> bool:
    """Tell whether a text has any letter or digit."""
    return any(map(str.isalnum, text))


def as_markdown(blocks: Iterable[PageBlock]) -> str:
    """Return blocks as one text."""
    return "\n\n".join(block.text for block in blocks)

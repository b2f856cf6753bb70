"""Pure: an HTML page as Markdown text with its headings, paragraphs, list items and code blocks.

Scripts, styles and navigation are dropped, and links of a heading to itself. What stands in bars
beside the text is text without headings.

Which part of a page is its text, trafilatura tells. The converter here reads the pages on which it
finds next to nothing; for that the standard library's parser is enough.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser

from drift.core.hyperlinks import Link
from drift.indexing.cleaning import clean
from drift.local.ingest.formats.tables import HtmlTable, with_heads

MAX_EXTRACTED_CHARS, MAX_EXTRACTED_TAGS, MAX_COMPARED_TAGS = 5_000_000, 30_000, 3_000
"""A page of more is converted as a whole, and of more than the last its text is looked for in one
way alone: the library takes quadratic time."""
LEAST_EXTRACTED_CHARS = 200
"""Of a page that says less than this, it is safer to keep all."""

Attributes = list[tuple[str, str | None]]

_DROPPED = {"script", "style", "noscript", "template", "svg", "nav", "head"}
_BARS = {"aside", "footer", "search"}
_BAR_ROLES = {"complementary", "contentinfo", "banner", "search"}
_DOXYGEN_TITLE = "headertitle"
"""The class of what is a page's heading in the output of Doxygen, which has no `h1`."""

_PERMALINKS = {"headerlink", "permalink", "header-anchor", "hash-link", "anchor-link"}
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt"),
        *("fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html", "li"),
        *("main", "ol", "option", "p", "section", "summary", "table", "tbody", "tfoot"),
        *("thead", "tr", "ul"),
    )
)
_CELLS = {"td", "th"}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LONE_BRACKET = re.compile(r"<(?![^<>]*>)")
"""A `<` that no `>` closes before the next one: text in fact, on which the library's parser may
take quadratic time."""

_LONG_REFERENCE = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{7,});?")
"""A character's number beyond all of Unicode: the library refuses to read thousands of digits."""

_LONG_TAG = re.compile(r"<[^<>]{4000,}")
_ATTRIBUTE = re.compile(r"[\s/\"'][A-Za-z_]")
_MOST_ATTRIBUTES = 1_000  # of one tag

_FENCE_RUN = re.compile(r"`{3,}")


@dataclass(slots=True)
class _Region:
    """An element with all that is in it; `tag` is empty outside of it."""

    tag: str = ""
    _depth: int = 0

    def start(self, tag: str, *, begins: bool) -> None:
        """See a tag, with which the region may begin: the outermost such element is it."""
        if tag == self.tag:
            self._depth += 1
        elif begins and not self.tag:
            self.tag, self._depth = tag, 1

    def end(self, tag: str) -> None:
        """See an end; only that of its own element ends the region."""
        if tag == self.tag:
            self._depth -= 1
            self.tag = tag if self._depth else ""


class _PageReader(HTMLParser):
    """Reads one page; `has_bars` says whether navigation and bars are told from the text."""

    def __init__(self, *, has_bars: bool) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.title: list[str] = []
        self.headings: list[str] = []
        self.main_headings: list[str] = []
        self.has_main = False
        self._has_bars = has_bars
        self._dropped, self._bar, self._main = _Region(), _Region(), _Region()
        self._line: list[str] = []
        self._prefix = ""
        self._permalink: tuple[int, bool] | None = None
        """Where a link of a heading to itself may begin, and whether words stand before it."""
        self._has_words = False
        self.links: list[Link] = []
        self._link: tuple[int, str] | None = None
        """Where the words of a link begin, and what it leads to."""
        self._in_title = False
        self._pre = 0
        self._table: HtmlTable | None = None

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        self._see_regions(tag, attrs)
        if tag == "title" and self._dropped.tag in {"", "head"}:
            self._in_title = not self.title

        if tag == "pre" and not self._dropped.tag:
            self._end_block()
            self._pre += 1
        elif self._pre:
            self._line.append("\n" if tag == "br" else "")
        elif tag == "br":
            self._line.append(" ")
        elif tag in _CELLS:
            # The cells of a row stay on its line; what is laid out in tables has blocks in them.
            self._line.append(" | " if self._has_words else " ")
            if self._table:
                self._table.begin_cell(len(self._line), is_head=tag == "th")
        elif tag == "a":
            self._begin_permalink(dict(attrs))
            self._link = (len(self._line), dict(attrs).get("href") or "")
        elif tag in _HEADINGS or tag in _BLOCKS:
            self._end_block()
            self._prefix = self._marks(tag, dict(attrs)) or self._prefix
            if tag == "table":
                self._table = HtmlTable(len(self.parts))

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
        elif not self._pre and (tag in _HEADINGS or tag in _BLOCKS):
            self._end_block()
            self._prefix = ""
        if tag == "table":
            self._end_table()
        for region in (self._dropped, self._bar, self._main):
            region.end(tag)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self._dropped.tag:
            self._line.append(data)
            self._has_words = self._has_words or _has_words(data)

    def is_open(self) -> bool:
        """Tell whether navigation or a bar was never closed, so that it may hold the text."""
        return bool(self._bar.tag) or self._dropped.tag not in {"", *_DROPPED - {"nav"}}

    def _see_regions(self, tag: str, attrs: Attributes) -> None:
        role = (dict(attrs).get("role") or "").strip().lower() if tag in _BLOCKS else ""
        is_navigation = self._has_bars and (tag == "nav" or role == "navigation")
        if self._dropped.tag == "head" and (tag in _BLOCKS or tag in _HEADINGS):
            self._dropped = _Region()  # a head that was never closed

        self._dropped.start(tag, begins=is_navigation or tag in _DROPPED - {"nav"})
        is_bar = self._has_bars and (tag in _BARS or role in _BAR_ROLES)
        self._bar.start(tag, begins=is_bar)
        self._main.start(tag, begins=tag == "main" or role == "main")
        self.has_main = self.has_main or bool(self._main.tag)

    def _marks(self, tag: str, attributes: dict[str, str | None]) -> str:
        """Return what stands before a block of Markdown; empty for what changes nothing."""
        if tag in _HEADINGS:
            return "" if self._bar.tag else "#" * _HEADINGS[tag] + " "
        if tag == "div" and attributes.get("class") == _DOXYGEN_TITLE:
            return "# "
        return "- " if tag == "li" else ""

    def _begin_permalink(self, attributes: dict[str, str | None]) -> None:
        is_named = not _PERMALINKS.isdisjoint((attributes.get("class") or "").split())
        is_inside = self._prefix.startswith("#") and (attributes.get("href") or "").startswith("#")
        behind_words = is_named and self._has_words
        self._permalink = (len(self._line), behind_words) if is_named or is_inside else None

    def _end_link(self) -> None:
        if self._link and not self._dropped.tag:
            self.links.append(("".join(self._line[self._link[0] :]), self._link[1]))
        self._link = None

    def _end_permalink(self) -> None:
        """Drop a link of a heading to itself: a sign, or any word behind the heading's own."""
        if self._permalink:
            start, behind_words = self._permalink
            if behind_words or not any(map(_has_words, self._line[start:])):
                del self._line[start:]
            self._permalink = None

    def parse_marked_section(self, i: int, report: bool = True) -> int:  # noqa: ARG002 - the library's signature
        """Pass over `<![…>`, of which the library knows some kinds and gives up on the rest."""
        end = self.rawdata.find(">", i)
        return end + 1 if end >= 0 else -1

    def finish(self) -> str:
        """Return all text read."""
        self.close()
        if self._pre:
            self._end_code()
        self._end_block()
        return "\n\n".join(self.parts)

    def _end_block(self) -> None:
        text = " ".join("".join(self._line).split())
        line, self._line = self._line, []
        self._permalink, self._link, self._has_words = None, None, False
        if text:
            self.parts.append(self._prefix + text)
            if self._table:
                self._table.end_line(line)
            if self._prefix.startswith("#"):
                (self.main_headings if self._main.tag else self.headings).append(text)
            self._prefix = ""
        if self._table:
            self._table.begin_line()

    def _end_table(self) -> None:
        """Put the head of its column before each value, where each row is a line."""
        self._end_block()
        if self._table and (rows := self._table.lines()):
            self.parts[self._table.at :] = rows
        self._table = None

    def _end_code(self) -> None:
        code = "".join(self._line).strip("\n")
        self._line.clear()
        if code.strip():
            fence = "`" * max(3, 1 + max((len(run) for run in _FENCE_RUN.findall(code)), default=0))
            self.parts.append(f"{fence}\n{code}\n{fence}")


def _without_comments(html: str) -> str:
    """Drop comments; one that is never closed goes to the end."""
    before, *parts = html.split("<!--")
    return before + "".join(part.partition("-->")[2] for part in parts)


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))


def read_page(html: str) -> tuple[str, str, Sequence[Link]]:
    """Return what a page says as Markdown, without what is around it, its title and its links."""
    text, title, links = html_to_markdown(html)
    main = _main_text(html)
    said = main if len(main) >= LEAST_EXTRACTED_CHARS else clean(text)
    return with_heads(said), title, links


def _main_text(html: str) -> str:
    tags = html.count("<")
    if len(html) > MAX_EXTRACTED_CHARS or tags > MAX_EXTRACTED_TAGS or _has_many_attributes(html):
        return ""

    import trafilatura  # noqa: PLC0415 - takes half a second, and most folders hold no pages

    fast = tags > MAX_COMPARED_TAGS
    try:
        found = trafilatura.extract(
            html, output_format="markdown", include_comments=False, fast=fast
        )
    except (ValueError, TypeError, AttributeError, IndexError, KeyError, RecursionError):
        return ""  # of a page on which the library breaks, the converter reads all
    return "\n".join(line.rstrip() for line in (found or "").split("\n"))


def _has_many_attributes(html: str) -> bool:
    return any(len(_ATTRIBUTE.findall(t)) > _MOST_ATTRIBUTES for t in _LONG_TAG.findall(html))


def html_to_markdown(html: str) -> tuple[str, str, Sequence[Link]]:
    """Return the page's text as Markdown, its title, and its links.

    The title is the first heading of the main part, else its `<title>`, else any heading; empty
    when it has none.
    """
    html = _LONG_REFERENCE.sub("\ufffd", _without_comments(html))
    html = _LONE_BRACKET.sub("&lt;", html)
    reader, text = _read(html, has_bars=True)
    if reader.is_open() or not text:
        reader, text = _read(html, has_bars=False)

    first = (reader.main_headings if reader.has_main else reader.headings)[:1]
    titles = (*first, " ".join("".join(reader.title).split()), *reader.headings[:1])
    return text, next(filter(_has_words, titles), ""), reader.links


def _read(html: str, *, has_bars: bool) -> tuple[_PageReader, str]:
    reader = _PageReader(has_bars=has_bars)
    reader.feed(html)
    return reader, reader.finish()

"""Pure: an HTML page as Markdown text with its headings, paragraphs, list items and code blocks.

Scripts and styles are dropped.

The standard library's parser is enough here: only the order of tags and text matters, never the
repaired tree that a library such as Beautiful Soup builds over the same parser.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

_DROPPED = {"script", "style", "noscript", "template", "svg", "nav", "head"}
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt"),
        *("fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html", "li"),
        *("main", "ol", "option", "p", "section", "summary", "table", "tbody", "td", "tfoot"),
        *("th", "thead", "tr", "ul"),
    )
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LONE_BRACKET = re.compile(r"<(?![^<>]*>)")
"""A `<` that no `>` closes before the next one: text in fact, on which the library's parser may
take quadratic time."""

_LONG_REFERENCE = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{7,});?")
"""A character's number beyond all of Unicode: the library refuses to read thousands of digits."""

_FENCE_RUN = re.compile(r"`{3,}")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.title = ""
        self._line: list[str] = []
        self._prefix = ""
        self._dropped = ""
        self._in_title = False
        self._pre = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag == "title":
            self._in_title = not self.title
        elif tag in _DROPPED:
            self._dropped = self._dropped or tag  # the outermost: only its own end brings text back
        elif self._dropped == "head" and (tag in _BLOCKS or tag in _HEADINGS):
            self._dropped = ""  # a head that was never closed
        if tag == "pre" and not self._dropped:
            self._end_block()
            self._pre += 1
        elif self._pre:
            self._line.append("\n" if tag == "br" else "")
        elif tag == "br":
            self._line.append(" ")
        elif tag in _HEADINGS or tag in _BLOCKS:
            self._end_block()
            self._prefix = (
                "#" * _HEADINGS[tag] + " "
                if tag in _HEADINGS
                else "- "
                if tag == "li"
                else self._prefix
            )

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in _DROPPED:
            self._dropped = "" if tag == self._dropped else self._dropped
        elif tag == "pre" and self._pre:
            self._pre -= 1
            if not self._pre:
                self._end_code()
        elif not self._pre and (tag in _HEADINGS or tag in _BLOCKS):
            self._end_block()
            self._prefix = ""

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._dropped:
            self._line.append(data)

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
        self._line.clear()
        if text:
            self.parts.append(self._prefix + text)
            self._prefix = ""

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


def html_to_markdown(html: str) -> tuple[str, str]:
    """Return the page's text as Markdown, and its `<title>` (empty when it has none)."""
    reader = _Reader()
    html = _LONG_REFERENCE.sub("\ufffd", _without_comments(html))
    reader.feed(_LONE_BRACKET.sub("&lt;", html))
    text = reader.finish()
    return text, " ".join(reader.title.split())

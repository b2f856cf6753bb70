"""Pure: the blocks a document is made of, so that it is cut where its author separated things.

Markdown is read by markdown-it-py, whose tokens carry line numbers. Plain text and reStructuredText
are read line by line here: docutils keeps no exact positions and refuses or rewrites text that is
only nearly reStructuredText.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from operator import itemgetter
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.token import Token

from drift.indexing.plain_blocks import plain_spans

Format = Literal["markdown", "rst", "text"]
Kind = Literal["heading", "prose", "code"]

MAX_TITLE_CHARS = 200

_TOP = "top headings and tables"
_TOP_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKUP = re.compile(r"[`*]+|(?<!\w)_+(?=\S)|(?<=\S)_+(?!\w)|\s*\{#[^}]*\}\s*$")


@dataclass(frozen=True, slots=True)
class Block:
    """Characters `start` to `end` of a document.

    `level` (1 = top) and `title` only for headings.
    """

    start: int
    end: int
    kind: Kind
    level: int = 0
    title: str = ""


def split_blocks(text: str, text_format: Format) -> tuple[Block, ...]:
    """Return the blocks in order, with all that is not white space; lines are the parser's."""
    text = text.replace("\r\n", " \n").replace("\r", "\n")  # of the same length: places stay
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    spans = (
        _markdown_spans(text, lines)
        if text_format == "markdown"
        else plain_spans(lines, strict=text_format == "rst")
    )

    return tuple(
        Block(starts[first], min(starts[last], len(text)), kind, level, plain_title(title))
        for first, last, kind, level, title in spans
    )


def plain_title(title: str) -> str:
    """Return a heading without its markup, on one line, cut to 200 characters."""
    bare = title[:MAX_TITLE_CHARS]
    if not re.fullmatch(r"[^\W_][^\W_ ]*(?: [^\W_ ]+)*", bare):
        bare = _MARKUP.sub("", _LINK.sub(_linked_words, bare)).rstrip(" \u00b6\uf0c1")
    return " ".join(bare.split())


def _linked_words(link: re.Match[str]) -> str:
    """Return the words of a link; a sign alone is the link of a heading to itself."""
    return link[1] if any(map(str.isalnum, link[1])) else ""


def first_heading(text: str, text_format: Format) -> str:
    """Return the first heading within the first 64 Ki characters, or an empty string."""
    blocks = split_blocks(text[:65536], text_format)
    return next((b.title for b in blocks if b.kind == "heading" and b.title), "")


Span = tuple[int, int, Kind, int, str]
"""First line, line after the last, kind, heading level, heading text."""


def _markdown_spans(text: str, lines: Sequence[str]) -> Iterator[Span]:
    top: list[Span] = []
    leaves = _leaves(_block_parser().parse(text, {_TOP: top}))
    done = 0
    for first, last, kind, level, title in sorted([*top, *leaves], key=itemgetter(0)):
        begin = max(first, done)  # what is nested in a table lies within lines that are done
        if begin > done:
            yield from _gap(lines, done, begin)
        if last > begin:
            yield begin, last, kind, level, title
            done = last

    yield from _gap(lines, done, len(lines))


@cache
def _block_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    # Inline markup is not needed, and slow on long lines.
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.block.ruler.before("fence", "top_heading", _top_heading)
    # At the place of the library's own rule, which serves the tables in lists and quotes.
    parser.block.ruler.before("table", "top_table", _top_table)

    return parser


def _top_heading(state: StateBlock, line: int, _end: int, _silent: bool) -> bool:
    """Read a `#` heading of the top level without tokens, in a third of the time."""
    start, end = state.bMarks[line], state.eMarks[line]
    heading = None if state.level else _TOP_HEADING.match(state.src, start, end)
    if not heading:
        return False

    title = (heading[2] or "").rstrip()
    if title.endswith("#"):
        title = re.sub(r"(?:^|[ \t])#+[ \t]*$", "", title)

    state.env[_TOP].append((line, line + 1, "heading", len(heading[1]), title))
    state.line = line + 1
    return True


def _top_table(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Read a table of the top level without a token for each of its cells.

    It ends as the library has it end; how many cells its rows have does not matter here.
    """
    if state.level or not table(state, line, end, True):
        return False
    if silent:
        return True

    last = line + 2
    outside, state.parentType = state.parentType, "table"
    ends = state.md.block.ruler.getRules("blockquote")
    while last < end and not (
        state.isEmpty(last)
        or state.is_code_block(last)
        or any(rule(state, last, end, True) for rule in ends)
    ):
        last += 1

    state.parentType = outside
    state.env[_TOP].append((line, last, "code", 0, ""))
    state.line = last
    return True


def _leaves(tokens: Sequence[Token]) -> Iterator[Span]:
    containers = {"bullet_list_open", "ordered_list_open", "list_item_open", "blockquote_open"}
    for index, token in enumerate(tokens):
        if (
            token.map is None
            or token.nesting < 0
            or token.type in containers
            or token.type == "inline"
        ):
            continue

        first, last = token.map
        if token.type == "heading_open" and token.level == 0:
            yield first, last, "heading", int(token.tag[1]), tokens[index + 1].content
        else:
            is_code = token.type in {"fence", "code_block", "table_open"}
            yield first, last, "code" if is_code else "prose", 0, ""


def _gap(lines: Sequence[str], first: int, last: int) -> Iterator[Span]:
    """Cover lines that made no token, such as link definitions."""
    if any(line.strip() for line in lines[first:last]):
        yield first, last, "prose", 0, ""

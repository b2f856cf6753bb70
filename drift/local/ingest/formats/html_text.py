"""Pure: what an HTML page says, as Markdown without what is around it, and what it says of itself.

Of a page with few scripts, such as one of a manual, all is text that stands in its main part, or in
no bar. Of others trafilatura tells what belongs to the text; what it leaves out is weighed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile
from typing import NamedTuple

from drift.core.hyperlinks import Link
from drift.indexing.cleaning import clean
from drift.local.ingest.formats.page_blocks import MENU, SeenPage, as_markdown, blocks_of, has_words
from drift.local.ingest.formats.page_tables import PageBlock
from drift.local.ingest.front_matter import attributes_of
from drift.model.attributes import NOTHING_SAID, Attributes

FEW_SCRIPTS = 10
"""Up to so many, a page is one of a manual; nineteen of twenty pages of the press have more."""

MAX_EXTRACTED_CHARS, MAX_EXTRACTED_TAGS, MAX_COMPARED_TAGS = 5_000_000, 30_000, 3_000
"""A page of more is read as a whole, and of more than the last its text is looked for in one way
alone: the library takes quadratic time."""
LEAST_EXTRACTED_CHARS, LEAST_MAIN_WORDS = 200, 30
"""Of a page that says less than this, it is safer to keep all."""

_LEAST_TOLD, _LEAST_SHARE_TOLD = 50, 0.1
"""Words left out of which the report tells."""
_LONG_TAG = re.compile(r"<[^<>]{4000,}")
_ATTRIBUTE = re.compile(r"[\s/\"'][A-Za-z_]")
_MOST_ATTRIBUTES = 1_000  # of one tag
_MOSTLY, _WORDS_OF_A_SENTENCE = 0.7, 5
_OF_A_TEXT = ("| ", "- ", "```")
"""How rows, items and code begin, which trafilatura leaves out within a text."""

_WORD = re.compile(r"\w+")
_REFRESH = re.compile(r"<meta\s[^<>]{0,100}http-equiv=[\"']?refresh\b", re.IGNORECASE)
_MOMENT = re.compile(r'"(date(?:Modified|Published))"\s*:\s*"([^"\s]{4,40})"')
_SITE_NAMES = ("og:site_name", "application-name", "apple-mobile-web-app-title")
_SIGNS_OF_SITES = (" | ", " · ", " » ", " :: ")
_SIGNS = (" - ", " – ", " — ", ": ")


class PageRead(NamedTuple):
    """What a page says as Markdown, its title, its links, what was left out, and its metadata."""

    text: str
    title: str
    links: Sequence[Link]
    note: str = ""
    own: Attributes = NOTHING_SAID
    is_redirect: bool = False


def read_page(html: str) -> PageRead:
    """Return what a page says without what is around it.

    The title is the first heading of the main part, else its `<title>` without the name of the
    site, else any heading; empty when it has none.
    """
    seen = blocks_of(html)
    kept = _kept(seen.blocks, html)
    note = _note(seen, kept)
    text = as_markdown(kept)
    is_short = len(_WORD.findall(text[:LEAST_EXTRACTED_CHARS])) < LEAST_MAIN_WORDS
    is_redirect = is_short and _REFRESH.search(html) is not None
    return PageRead(text, _title(seen), seen.links, note, _own(seen, html), is_redirect)


def _kept(blocks: Sequence[PageBlock], html: str) -> list[PageBlock]:
    if html.count("<script") > FEW_SCRIPTS and (main := _main_text(html)):
        if len(main) >= LEAST_EXTRACTED_CHARS:
            return list(_weighed(blocks, main))
        return [block for block in blocks if not _is_button(block)] or list(blocks)

    kept = list(dropwhile(_is_button, reversed(_of_main(blocks))))
    kept = [block for block in kept if block.linked <= MENU or not _is_button(block)]
    return list(dropwhile(_is_button, reversed(kept))) or list(blocks)


def _is_button(block: PageBlock) -> bool:
    return not clean(block.text).strip()


def _of_main(blocks: Sequence[PageBlock]) -> Sequence[PageBlock]:
    """Return the blocks of the main part; where none is told, all but bars and a menu before it."""
    text = [block for block in blocks if not block.is_bar]
    for places in ({"main"}, {"main", "article"}):
        main = [block for block in text if block.place in places]
        if _count(main) >= LEAST_MAIN_WORDS:
            return main
    if _count(text) < LEAST_MAIN_WORDS:
        return blocks
    return list(dropwhile(lambda one: one.linked > MENU and not one.heading, text))


def _count(blocks: Iterable[PageBlock]) -> int:
    return sum(len(block.text.split()) for block in blocks)


def _weighed(blocks: Sequence[PageBlock], main: str) -> Iterator[PageBlock]:
    """Yield the blocks that the main text has as well, and rows, items and code between them."""
    lines = {" ".join(_words(line)) for line in main.split("\n")}
    told = Counter(_triples(_words(main)))
    is_told = [_is_told(_words(block.text), told, lines) for block in blocks]
    places = [
        place
        for place, block in enumerate(blocks)
        if is_told[place] and len(block.text.split()) >= _WORDS_OF_A_SENTENCE
    ]
    first, last = (places[0], places[-1]) if places else (0, -1)
    for place, block in enumerate(blocks):
        is_of_text = block.linked <= MENU / 2 and block.text.startswith(_OF_A_TEXT)
        if is_told[place] or (
            first < place < last and is_of_text and not block.is_bar and not _is_button(block)
        ):
            yield block


def _is_told(words: list[str], told: Counter[tuple[str, ...]], lines: set[str]) -> bool:
    """Tell whether a text has these words; what it has once is found once."""
    triples = list(_triples(words))
    if not triples:
        return " ".join(words) in lines
    found = [triple for triple in triples if told[triple] > 0]
    if len(found) <= _MOSTLY * len(triples):
        return False
    told.subtract(found)
    return True


def _triples(words: list[str]) -> Iterable[tuple[str, ...]]:
    return zip(words, words[1:], words[2:], strict=False)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _main_text(html: str) -> str:
    """Return what trafilatura takes for the text; nothing where it would take too long."""
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
        return ""  # of a page on which the library breaks, all is read
    return found or ""


def _has_many_attributes(html: str) -> bool:
    return any(len(_ATTRIBUTE.findall(t)) > _MOST_ATTRIBUTES for t in _LONG_TAG.findall(html))


def _note(seen: SeenPage, kept: Iterable[PageBlock]) -> str:
    """Return how many words were left out, where these are many; bars and menus are no words."""
    of_text, held = (
        _count(block for block in blocks if not block.is_bar and block.linked <= MENU)
        for blocks in (seen.blocks, kept)
    )
    left = of_text - held
    is_told = left >= max(_LEAST_TOLD, _LEAST_SHARE_TOLD * of_text)
    return "; ".join(
        [
            *([f"{left:,} of its {of_text:,} words stand beside its text"] if is_told else ()),
            *([f"{seen.hidden:,} hidden words are not read"] if seen.hidden else ()),
        ]
    )


def _title(seen: SeenPage) -> str:
    text = [block for block in seen.blocks if not block.is_bar]
    headings = [block.heading for block in text if block.heading]
    has_main = any(block.place == "main" for block in text)
    of_main = [b.heading for b in text if b.place == "main" and b.heading]
    of_articles = [b.heading for b in text if b.place == "article" and b.text.startswith("# ")]
    first = of_main if has_main else of_articles or headings
    return next(filter(has_words, (*first[:1], _without_site(seen), *headings[:1])), "")


def _without_site(seen: SeenPage) -> str:
    """Return a page's `<title>` without the name of its site at the beginning or the end.

    That is what it says it is, what stands in a bar, or what is behind a sign of such names alone.
    """
    names = {*map(seen.facts.get, _SITE_NAMES), *(b.text for b in seen.blocks if b.is_bar)}
    for sign in (*_SIGNS_OF_SITES, *_SIGNS):
        before, _, last = seen.title.rpartition(sign)
        first, _, behind = seen.title.partition(sign)
        if behind and first in names:
            return behind
        if before and (last in names or sign in _SIGNS_OF_SITES):
            return before
    return seen.title


def _own(seen: SeenPage, html: str) -> Attributes:
    """Return what a page says of itself; what no document can hold is left out."""
    said = seen.facts
    moments = dict(reversed([(name, told) for name, told in _MOMENT.findall(html)]))
    every = {
        "author": said.get("author") or said.get("dcterms.creator"),
        "language": said.get("language"),
        "keywords": said.get("keywords"),
        "created": said.get("article:published_time") or moments.get("datePublished"),
        "updated": said.get("article:modified_time")
        or said.get("datemodified")
        or moments.get("dateModified"),
    }
    return attributes_of({name: value for name, value in every.items() if value})[0]

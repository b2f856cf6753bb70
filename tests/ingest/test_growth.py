"""Reading and cutting take time in proportion to the text, whatever the text is made of."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from drift.core.names import normalised_title
from drift.evidence.sentences import spans
from drift.indexing.blocks import Format
from drift.indexing.chunking import cut
from drift.indexing.cleaning import clean, is_crawled
from drift.indexing.graph_records import ChunkRecord, DocumentRecord, DocumentVersion, ProjectState
from drift.local import prompt_builder
from drift.local.ingest.html_text import read_page
from drift.local.ingest.identity import identify
from drift.local.ingest.knowledge import derive
from drift.local.ingest.sources import Source
from drift.prompting.markup import plain
from drift.prompting.tokens import cut as cut_text
from tests.ingest.fakes import as_members

TIMES = 4
MOST = 9.0
"""Four times the text takes four times as long, or sixteen times where the growth is quadratic."""
TRIES = 4
"""A busy machine slows down one run and not the next; quadratic growth is there in every one."""


def growth(work: Callable[[int], object], size: int) -> float:
    """Return how many times longer TIMES the size takes, in this process's own time.

    The first of TRIES that is below MOST, else the least.
    """
    least = float("inf")
    for _ in range(TRIES):
        least = min(least, _seconds(work, TIMES * size) / max(_seconds(work, size), 1e-3))
        if least < MOST:
            break
    return least


def _seconds(work: Callable[[int], object], size: int) -> float:
    best = float("inf")
    for _ in range(2):
        began = time.process_time()
        work(size)
        best = min(best, time.process_time() - began)
    return best


PARTS = (
    "x\n===\n",
    "* a\n  * b\n    * c\n",
    "> > > a\n",
    "[a\n",
    "a|b\n-|-\n",
)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("text_format", ["markdown", "rst"])
def test_cutting(part: str, text_format: Format) -> None:
    assert (
        growth(lambda size: cut(part * (size // len(part)) + "\n\nx:", text_format), 4_000) < MOST
    )


def test_a_long_indented_line_before_an_indented_block() -> None:
    assert growth(lambda size: cut(f"{' ' * size}x:\n{' ' * size}  y\n", "text"), 10_000) < MOST


def _derived(text: str) -> object:
    """Derive the knowledge of one chunk, and of one that has the text as its heading."""
    chunks = [ChunkRecord("1", "d", 0, "d", text), ChunkRecord("2", "d", 1, text, "x")]
    return derive(*as_members(chunks, np.eye(2, dtype=np.float32)), "stamp")


READERS: dict[str, Callable[[str], object]] = {
    "knowledge": _derived,
    "a crawled page": lambda text: (is_crawled(text), clean(text)),
    "a title": normalised_title,
    "sentences by number": spans,
    "a page": read_page,
    "a text in tags": plain,
    "a text as a source": lambda text: prompt_builder.build(
        [{"role": "user", "content": "?"}],
        [{"label": "a", "content": text, "confidence": 1}],
        max_tokens=500,
    ),
    "a cut text": lambda text: cut_text(text, len(text) - 1),
}
TEXTS = (
    ("Signature", "_", " (date)"),
    ("", " \n", "x"),
    ("chapter 1 ", "1", "x"),
    ("", "Aa 1999 ", "_"),
    ("A", " of the", " x"),
    ("", "A. B. ", "x"),
    ("", "[a](b ", ""),
    ("", "[![a](b) ", ""),
    ("", "![](", ""),
    ("- ", "[a]((b)", "\n"),
    ("&#", "1", ";"),
    ("<", " ", "x"),
    ("", ".", "x"),
)


@pytest.mark.parametrize("text", TEXTS, ids=repr)
@pytest.mark.parametrize("reader", READERS)
def test_understanding(reader: str, text: tuple[str, str, str]) -> None:
    before, part, after = text
    work = READERS[reader]
    assert growth(lambda size: work(before + part * (size // len(part)) + after), 3_000) < MOST


TAGS = (
    "<svg></nav>",
    "<table><th>a<tr><td>b",
    "<pre>`</pre>",
    "<a b='",
    "<h1><nav>",
    "x<a href=#x>#</a>",
)


@pytest.mark.parametrize("tag", TAGS)
def test_reading_html(tag: str) -> None:
    assert growth(lambda size: read_page("<h1>" + tag * (size // len(tag))), 10_000) < MOST


@pytest.mark.parametrize("content", ["same content", "{}"])
@pytest.mark.parametrize("old", ["/nowhere/old", "/nowhere/old/{}/index.md"])
def test_telling_which_documents_of_a_project_are_those_of_a_source(content: str, old: str) -> None:
    def work(size: int) -> object:
        hashes = {f"{n}/index.md": content.format(n) for n in range(size)}
        stored = {name: hash_ for name, hash_ in hashes.items() if not name.startswith("1")}
        held = {
            name: DocumentRecord(name, name, old.format(name), DocumentVersion(hash_))
            for name, hash_ in stored.items()
        }
        return identify(Source("/nowhere/new", ()), hashes, ProjectState(held, ""))

    assert growth(work, 1_000) < MOST

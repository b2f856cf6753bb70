"""What a file becomes is bounded by its size, and what that takes grows as it does."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from drift.indexing.documents import Skipped, SourceDocument
from drift.indexing.records import cut_up
from drift.local.ingest import pipeline
from drift.local.ingest.files import document_in
from drift.local.ingest.sources import read_source
from tests.ingest import made_files as made
from tests.ingest.fakes import MemoryWriter, context

SHEET, STRINGS, TEXT = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "word/document.xml"
SLIDE = "ppt/slides/slide1.xml"
LONG = "h" * 9_000


def _rows(first: str, row: str, number: int) -> str:
    """Return the rows of a sheet; `%` is a row's number."""
    every = [first, *[row] * number]
    return "".join(one.replace("%", str(n)) for n, one in enumerate(every, 3))


def _cell(value: str) -> str:
    return f"<w:tc><w:p><w:r><w:t>{value}</w:t></w:r></w:p></w:tc>"


def _table(head: str, rows: int) -> str:
    first = f"<w:tr>{_cell(head) + _cell(head)}</w:tr>"
    row = f"<w:tr>{_cell('a') + _cell('b')}</w:tr>"
    return f"<w:tbl>{first}{row * rows}</w:tbl>"


PAGED = (
    b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Count 5000/Kids[" + b"3 0 R " * 5000 + b"]>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>"
)
FAR = '<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>far</t></is></c></row>'
FAR_WITHOUT_PLACE = '<row r="1048576">' + "<c><v>1</v></c>" * 40 + "</row>"
SHARED = '<row r="%"><c r="A%" t="s"><v>0</v></c><c r="B%" t="s"><v>0</v></c></row>'
REPEATED = (
    '<table:table-row table:number-rows-repeated="9000"><table:table-cell office:value-type='
    '"float" office:value="1" table:number-columns-repeated="9000"/></table:table-row>'
)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.xlsx", made.within(".xlsx", SHEET, "</sheetData>", FAR), "has values that stand"),
        (
            "a.xlsx",
            made.within(".xlsx", SHEET, "</sheetData>", FAR_WITHOUT_PLACE.replace("<", "\n<")),
            "has values that stand",
        ),
        ("a.ods", made.within(".ods", "content.xml", "</table:table>", REPEATED), "has values"),
        (
            "a.xlsx",
            made.package(
                ".xlsx",
                {
                    STRINGS: f"<sst><si><t>{LONG}</t></si></sst>".encode(),
                    SHEET: f"<worksheet><sheetData>{_rows('', SHARED, 500)}</sheetData></worksheet>"
                    .encode(),
                },
            ),
            "would become more than 1,",
        ),
        ("a.docx", made.within(".docx", TEXT, "<w:p>", "<w:p/>" * 5_000_000), "would unpack to 30"),
        ("a.pdf", PAGED, "has 5,000 pages, more than"),
    ],
    ids=["far", "far-rows", "repeated", "shared", "paragraphs", "pages"],
)  # fmt: skip
def test_a_small_file_that_would_become_a_large_one_is_named_with_what_it_is(
    name: str, content: bytes, reason: str
) -> None:
    assert len(content) < 90_000
    read = document_in(content, name, None)
    assert isinstance(read, Skipped)
    assert (reason in read.reason, read.unreadable) == (True, False)


def test_a_workbook_whose_far_cells_are_empty_is_read() -> None:
    empty = '<row r="1048576" s="1"><c r="XFD1048576" s="1"/></row>'
    read = document_in(made.within(".xlsx", SHEET, "</sheetData>", empty), "a.xlsx", None)
    assert isinstance(read, SourceDocument)
    assert "| Name: Ann | Role: cook |" in read.text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", f"{LONG},{LONG}\n{'a,b' * 1}\n".encode() + b"a,b\n" * 9_000),
        ("a.tsv", b"\t".join([b"head %d" % n * 10 for n in range(900)]) + b"\n" + b"a\t" * 50_000),
        ("a.docx", made.within(".docx", TEXT, "<w:p>", _table(LONG, 9_000))),
        (
            "a.html",
            f"<table><tr><th>{LONG}</th><th>{LONG}</th></tr>".encode()
            + b"<tr><td>a</td><td>b</td></tr>" * 2_000
            + b"</table>",
        ),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_long_heads_make_no_table_many_times_as_long(name: str, content: bytes) -> None:
    read = document_in(content, name, None)
    assert isinstance(read, SourceDocument)
    assert len(read.text) < 30 * max(len(content), 40_000)
    assert "h: a |" in read.text or "head" in read.text


@pytest.mark.parametrize(
    "page",
    [
        lambda n: "<table><tr>" + "<td>" * n + "a",
        lambda n: "<ul>" + "<li>a" * n,
        lambda n: "<table><tr><th>a</th></tr><tr><td>c</td></tr></table>" * (n // 4),
        lambda n: "<p/>a" * n,
        lambda n: "<p " + " ".join(f"a{i}=b" for i in range(2 * n)) + ">a",
        lambda n: "<input>a" * n,
        lambda n: "a" + "<a " * n,
        lambda n: "a" + "<!--" * n,
        lambda n: "a" + "&" * n,
        lambda n: "<p><b>" * n + "a",
    ],
    ids=[
        "cells",
        "items",
        "tables",
        "closed",
        "attributes",
        "inputs",
        "open",
        "comments",
        "references",
        "nested",
    ],
)
def test_a_page_of_four_times_the_length_takes_about_four_times_as_long(
    page: Callable[[int], str],
) -> None:
    def seconds(length: int) -> float:
        content, began = page(length).encode(), time.process_time()
        read = document_in(content, "a.html", None)
        assert isinstance(read, SourceDocument), read
        cut_up(read)
        return time.process_time() - began

    seconds(10)  # loads what it needs
    few = max(seconds(5_000), 0.1)
    assert min(seconds(20_000) for _ in range(3)) < 9 * few  # the least: other work slows some


async def test_what_a_file_said_stays_while_it_is_damaged_or_cannot_be_read_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, file = MemoryWriter(), tmp_path / "a.docx"
    whole = made.word("", [("", "The ferry leaves at noon.")])
    later = made.word("", [("", "The ferry leaves at dusk.")])

    async def ingested(content: bytes) -> tuple[str, list[str]]:
        file.write_bytes(content)
        source = read_source(tmp_path)
        report = await pipeline.ingest(source, "p", context(writer))
        (chunk,) = writer.project("p").chunks["a.docx"]
        return chunk.text, report.kept

    assert await ingested(whole) == ("The ferry leaves at noon.", [])
    assert await ingested(later[: len(later) // 2]) == ("The ferry leaves at noon.", ["a.docx"])
    with monkeypatch.context() as patched:
        for error in (ImportError("no module named docx"), MemoryError()):
            patched.setattr("drift.local.ingest.formats.reader_of", _failing(error))
            assert await ingested(later) == ("The ferry leaves at noon.", ["a.docx"])
    assert await ingested(later) == ("The ferry leaves at dusk.", [])


def _failing(error: Exception) -> Callable[[str], object]:
    def fail(_: str) -> object:
        raise error

    return fail

"""Files that are no plain text: what is read of them, where it stands, and what is refused."""

from __future__ import annotations

import csv
import json
import time
import zipfile
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter

from drift.core.folding import as_typed, words_as_typed
from drift.graph.writing.records import DocumentRecord
from drift.indexing.documents import Skipped, SourceDocument
from drift.indexing.pages import without_running_heads
from drift.indexing.records import chunk_records
from drift.local.ingest.files import document_in
from drift.local.ingest.formats import ENDINGS, tables
from tests.ingest import made_files as made

CREW = [["Name", "Role", "Since"], ["Ann", "cook", 2019], ["Bo", "mate", 2021.5]]
CREW_ROWS = [
    "| Name: Ann | Role: cook | Since: 2019 |",
    "| Name: Bo | Role: mate | Since: 2021.5 |",
]
PAGE = (
    b"<main><h1>Crew</h1><p>" + b"This list says who is aboard. " * 9 + b"</p><table>"
    b"<tr><th>Name</th><th>Role</th><th>Since</th></tr><tr><td>Ann</td><td>cook</td><td>2019</td>"
    b"</tr><tr><td>Bo</td><td>mate</td><td>2021.5</td></tr></table></main>"
)


def read(name: str, content: bytes) -> SourceDocument:
    found = document_in(content, name, None)
    assert isinstance(found, SourceDocument), found
    return found


def refused(name: str, content: bytes) -> str:
    found = document_in(content, name, None)
    assert isinstance(found, Skipped), found
    return found.reason


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.xlsx", made.workbook({"Crew": CREW, "Secret": [["x"]]}, hidden=["Secret"])),
        ("a.ods", made.open_sheet("Crew", CREW)),
        ("a.csv", b"Name,Role,Since\r\nAnn,cook,2019\r\nBo,mate,2021.5\r\n"),
        ("a.tsv", b"Name\tRole\tSince\nAnn\tcook\t2019\nBo\tmate\t2021.5\n"),
        ("a.docx", made.word("", [("Heading 1", "Crew"), CREW])),
        ("a.pptx", made.slides("", [("Crew", [], CREW)])),
        ("a.html", PAGE),
    ],
)
def test_a_row_of_a_table_is_a_line_with_its_heads(name: str, content: bytes) -> None:
    document = read(name, content)
    assert [line for line in document.text.split("\n") if "Role:" in line] == CREW_ROWS
    assert "x" not in document.text.split()
    assert document.title == ("Crew" if name not in {"a.csv", "a.tsv"} else name)


def test_a_table_has_a_head_where_its_first_row_is_one() -> None:
    assert list(tables.lines([["Fleet"], [], ["Name", "", "Built"], ["Mira", "?", 1.0]])) == [
        "Fleet",
        "| Name | Built |",
        "| Name: Mira | ? | Built: 1 |",
    ]
    assert list(tables.lines([["a", 1]])) == ["| a | 1 |"]
    assert list(tables.lines([["a", "b"]])) == ["| a | b |"]


@pytest.mark.parametrize(
    ("title", "outline", "called"),
    [
        (
            "Introduction to ASP.NET",
            [("Chapter 1", 0), ("Chapter 2", 1)],
            "Introduction to ASP.NET",
        ),
        ("Guide to Node.js", [], "Guide to Node.js"),
        ("Release 2.10", [], "Release 2.10"),
        ("Working with robots.txt", [], "Working with robots.txt"),
        ("Microsoft Word - Annual report", [], "Annual report"),
        ("Microsoft Word - report v2.docx", [], "a.pdf"),
        ("", [("1 Boats", 0), ("2 Tariffs", 1)], "a.pdf"),
        ("", [("1 Boats", 0)], "a.pdf"),
        ("Chapter 1", [("Chapter 1", 0), ("Chapter 2", 1)], "a.pdf"),
        ("2 Tariffs", [("1 Boats", 0), ("2 Tariffs", 1)], "a.pdf"),
        ("Boats", [("Boats", 0), ("2 Tariffs", 1)], "Boats"),
        ("untitled-3", [("Contents", 0)], "a.pdf"),
        ("about:blank", [("Contents", 0)], "a.pdf"),
    ],
)
def test_a_pdf_is_called_by_its_title_and_not_by_a_part(
    title: str, outline: list[tuple[str, int]], called: str
) -> None:
    pages = [["1 Boats", "The boat is blue."], ["2 Tariffs", "A berth costs nine."]]
    assert read("a.pdf", made.pdf(pages, title, outline)).title == called


def test_a_pdf_has_pages_headings_of_its_outline_and_no_running_heads() -> None:
    pages = [
        ["Harbour report", "The ferry leaves at", "noon. It car-", "ries forty cars.", "Page 1"],
        ["Harbour report", "2 Tariffs", "A child pays half. It is so", "Page 2"],
        ["Harbour report", "on all days.", "Page 3"],
    ]
    document = read("a.pdf", made.pdf(pages, "Annual report", [("2 Tariffs", 1)]))
    assert document.title == "Annual report"
    assert "Harbour report" not in document.text
    assert "Page" not in document.text
    assert "# 2 Tariffs" in document.text

    record = DocumentRecord("a.pdf", document.title, "s")
    chunks = chunk_records("p", record, document)
    assert [(chunk.page, chunk.heading) for chunk in chunks] == [
        (1, "Annual report"),
        (2, "2 Tariffs"),
    ]
    assert chunks[1].text.endswith("It is so\n\fon all days.")
    assert all(document.text[c.start : c.end] == c.text for c in chunks)
    assert "It carries\nforty cars." in chunks[0].text


def test_pages_of_word_slides_and_text_are_counted() -> None:
    parts = [("Title", "Manual"), ("", "The boat is blue."), ("Heading 2", "Oars"), ("", "Two.")]
    word = read("a.docx", made.word("Boats", parts, breaks=[2]))
    assert (word.title, word.text) == (
        "Manual",
        "# Manual\n\nThe boat is blue.\n\n\f\n\n## Oars\n\nTwo.",
    )
    shown = read("a.pptx", made.slides("", [("One", ["first", "then"], []), ("Two", ["x"], [])]))
    assert shown.text == "# One\n\nfirst\n\nthen\n\n\f\n\n# Two\n\nx"
    plain = read("a.txt", b"Head\nOne.\n1\n\fHead\nTwo.\n2\n\fHead\nThree.\n3\n")
    assert (plain.text, plain.has_pages) == ("\nOne.\n\n\f\nTwo.\n\n\f\nThree.\n\n", True)
    assert plain.has_lines, "lines that are left out are empty, so that all others keep theirs"


def test_a_notebook_is_its_texts_its_code_and_what_it_printed() -> None:
    cells = [("markdown", "# Tides\nHigh at 5.", ""), ("code", "print(1)", "1\n" * 9_000)]
    document = read("a.ipynb", made.notebook(cells))
    assert document.title == "Tides"
    assert "```python\nprint(1)\n```\n\n```\n1\n1\n" in document.text
    assert len(document.text) < 3_000
    assert "of 1 outputs only the first 2,000 characters" in document.note


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("gb18030", "港口的渡轮每天中午离开。孩子半价。渡轮可载四十辆车。"),
        ("shift_jis", "フェリーは正午に出発します。子供は半額です。港の灯台は赤い。"),
        (
            "cp1252",
            "Die F\u00e4hre f\u00e4hrt um zw\u00f6lf, sagt \u201eAnn\u201c, und kostet 5 \u20ac. "
            * 9,
        ),
        ("cp1251", "Паром отправляется в полдень. Дети платят половину."),
    ],
)
def test_an_encoding_is_found_and_named(encoding: str, text: str) -> None:
    for name in ("a.txt", "a.md", "a.csv"):
        document = read(name, text.encode(encoding))
        assert text.strip().split(",")[0] in document.text
        assert "was read as" in document.note


def test_a_table_of_a_spreadsheet_in_utf16_is_read() -> None:
    document = read("a.csv", "Name\tOrt\nAnn\tKöln\n".encode("utf-16"))
    assert (document.text, document.note) == ("| Name | Ort |\n\n| Name: Ann | Ort: Köln |", "")
    assert "binary" in refused("a.csv", b"a,b\n\0,1")


def test_a_small_table_leaves_other_readers_of_csv_their_long_fields() -> None:
    read("a.csv", b"Name\nAnn\n")
    assert len(next(csv.reader(["x" * 1_000_000]))[0]) == 1_000_000


def test_a_bad_byte_costs_no_file() -> None:
    document = read("a.txt", "Die Fähre fährt. Größe: fünf.".encode() + b"\x92 Ende")
    assert document.text == "Die Fähre fährt. Größe: fünf.\ufffd Ende"
    assert document.note == "1 bytes are not UTF-8 and stand as \ufffd"
    assert read("a.txt", "Fähre".encode()).note == ""
    assert "binary" in refused("a.txt", b"\xff\x00\x00abc\x00")


def test_words_are_whole_as_they_are_compared_and_signs_with_a_meaning_stay() -> None:
    wide = "".join(chr(0xFEE0 + ord(letter)) for letter in "ABC")
    text = f"The ﬁrst exam\u00adple, in nu-\nmerals: 10⁸ H₂O, Cafe\u0301, {wide}, well-\nKnown"
    assert as_typed(text) == "The first example, in numerals: 10⁸ H₂O, Café, ABC, well-\nKnown"
    assert words_as_typed(text) == "first example numerals Café ABC"
    assert words_as_typed("plain text") == ""


@given(st.text())
def test_what_is_as_typed_stays(text: str) -> None:
    assert words_as_typed(as_typed(text)) == "" or as_typed(as_typed(text)) != as_typed(text)
    assert len(as_typed(text)) <= 3 * len(text)


@given(st.lists(st.text(st.sampled_from("ab1 \n"), max_size=20), max_size=6))
def test_without_running_heads_pages_have_the_same_lines(pages: list[str]) -> None:
    left = without_running_heads(pages)
    assert [page.count("\n") for page in left] == [page.count("\n") for page in pages]


# --------------------------------------------------------------------------------------- bad input
def _encrypted() -> bytes:
    writer, out = PdfWriter(PdfReader(BytesIO(made.pdf([["x"]])))), BytesIO()
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(out)
    return out.getvalue()


BOMB = b"<!DOCTYPE a [<!ENTITY a 'lol'>" + b"".join(
    f"<!ENTITY {chr(98 + n)} '{f'&{chr(97 + n)};' * 10}'>".encode() for n in range(9)
)
PARTS = {
    ".docx": "word/document.xml",
    ".xlsx": "xl/sharedStrings.xml",
    ".pptx": "ppt/slides/slide1.xml",
}


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.pdf", _encrypted(), "has a password"),
        ("a.pdf", made.pdf([["x"]])[:200], "is damaged, or no PDF"),
        ("a.pdf", b"%PDF-1.7 " + bytes(range(256)) * 40, "is damaged, or no PDF"),
        ("a.pdf", made.pdf([[], []]), "holds pictures alone"),
        ("a.docx", b"\xd0\xcf\x11\xe0" + b"x" * 600, "has a password or the format of an older"),
        ("a.docx", b"PK\x03\x04 no archive", "is damaged, or not what its ending says"),
        ("a.docx", made.workbook({"A": CREW}), "is no Word document"),
        ("a.pptx", made.word("", [("", "x")]), "is no presentation"),
        ("a.xlsx", made.slides("", [("A", [], [])]), "is damaged, or not what its ending says"),
        ("a.ipynb", b'{"cells": [{"cell_type": "code"}]}', "is no notebook of format 4"),
        ("a.ipynb", b"[" * 100_000, "is no notebook of format 4"),
        ("a.ipynb", b'{"cells": []}', "holds no text"),
        ("a.docx", made.package(".docx", {"x.bin": bytes(600_000_000)}), "would unpack to 600,"),
        *((f"a{end}", b"", "is empty") for end in sorted(ENDINGS)),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named_with_what_to_do(
    name: str, content: bytes, reason: str
) -> None:
    assert reason in refused(name, content)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.pdf", made.pdf([["x"]])),
        ("a.docx", made.workbook({"A": CREW})),
        ("a.pptx", made.slides("", [("A", [], [])])),
        ("a.xlsx", made.workbook({"A": CREW})),
        ("a.ipynb", b'{"cells": [{"cell_type": "code", "source": "print(1)"}]}'),
        ("mcp.json", b'{"mcpServers": {"a": {"command": "npx"}}}'),
    ],
)
def test_a_file_that_is_half_written_may_be_whole_the_next_time(name: str, content: bytes) -> None:
    found = document_in(content[: len(content) // 2], name, None)
    assert isinstance(found, Skipped)
    assert found.unreadable, found.reason


@pytest.mark.parametrize("ending", PARTS)
def test_entities_of_xml_are_never_unpacked_nor_fetched(ending: str) -> None:
    with zipfile.ZipFile(BytesIO(made.package(ending, {}))) as archive:
        body = archive.read(PARTS[ending])
    head, _, rest = body.partition(b"?>")
    for entity in (BOMB + b"]>", b"<!DOCTYPE a [<!ENTITY j SYSTEM 'file:///etc/hostname'>]>"):
        said = rest.replace(b"Text.", b"&j;").replace(b"cook", b"&j;")
        found = document_in(
            made.package(ending, {PARTS[ending]: head + b"?>" + entity + said}), f"a{ending}", None
        )
        text = found.text if isinstance(found, SourceDocument) else found.reason
        assert len(text) < 2_000
        assert "lollol" not in text


def test_long_rows_wide_rows_and_long_output_are_read_in_little_time() -> None:
    began = time.perf_counter()
    cell = read("a.csv", b"a,b\n1," + b"x" * 20_000_000 + b"\n2,y\n")
    assert len(cell.text) < 11_000
    wide = read("a.csv", b"\n".join(b",".join([b"v%d" % n] * 16_384) for n in range(8)))
    assert len(wide.text) > 500_000
    printed = {"output_type": "stream", "text": "x" * 30_000_000}
    cells = [{"cell_type": "code", "source": "1", "outputs": [printed]}]
    assert len(read("a.ipynb", json.dumps({"cells": cells}).encode()).text) < 3_000
    pages = [[f"Line {n} of page {page}." for n in range(40)] for page in range(400)]
    assert len(read("a.pdf", made.pdf(pages)).text) > 290_000
    assert time.perf_counter() - began < 30

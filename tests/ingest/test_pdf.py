"""PDFs as a person reads them: titles, tables, columns, whole words, forms, what is left out."""

from __future__ import annotations

from io import BytesIO

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject, TextStringObject

from drift.core.moments import milliseconds
from drift.local.ingest.formats import Read
from drift.local.ingest.formats.pdf import read_pdf
from drift.local.ingest.formats.pdf_text import with_whole_words
from tests.ingest import made_files as made

PARAGRAPH = [
    (60.0, 700.0 - 14 * n, 11.0, f"Line {n} says a little more of the boats that lie here.")
    for n in range(8)
]


def read(*pages: str, title: str = "", told: str = "") -> Read:
    return read_pdf(made.drawn_pdf(pages, title, told=told))


@pytest.mark.parametrize(
    ("title", "called"),
    [
        ("Introduction to ASP.NET", "Introduction to ASP.NET"),
        ("report_final_2", "Harbour rules for small boats"),
        ("IEEE Paper Template in A4", "Harbour rules for small boats"),
        ("C:\\\\docs\\\\a", "Harbour rules for small boats"),
        ("", "Harbour rules for small boats"),
    ],
)
def test_a_title_is_of_metadata_or_the_largest_lines(title: str, called: str) -> None:
    large = [(60, 780, 20, "Harbour rules"), (60, 756, 20, "for small boats")]
    by_whom = (60, 732, 20, "Version 2")
    assert read(made.words_at(*large, by_whom, *PARAGRAPH), title=title).title == called
    assert read(made.words_at(*PARAGRAPH)).title == ""


def _table(rows: list[tuple[str, ...]], top: float, *, ruled: bool = False) -> str:
    words = [
        (60.0 + 130 * column, top - 16 * n, 11.0, text)
        for n, row in enumerate(rows)
        for column, text in enumerate(row)
        if text
    ]
    heights = [top + 12 - 16 * n for n in (0, 1, len(rows))] if ruled else []
    return made.words_at(*words) + "".join(f"\n56 {y} m 500 {y} l S" for y in heights)


CREW = [
    ("Berth", "Boat", "Length"),
    ("A1", "Skarv", "8.40"),
    ("A2", "Terne", "9.10"),
    ("B1", "Havfruen", "7.75"),
]


@pytest.mark.parametrize("ruled", [True, False])
def test_tables_are_rows_with_their_heads_on_their_next_page_too(ruled: bool) -> None:
    rest = _table([("B2", "Lom", "6.20"), ("B3", "Svale", "5.90"), ("C1", "Ravn", "11.00")], 780)
    text = read(f"{made.words_at(*PARAGRAPH)}\n{_table(CREW, 560, ruled=ruled)}", rest).text
    assert "| Berth: A2 | Boat: Terne | Length: 9.10 |" in text
    assert "| Berth: B3 | Boat: Svale | Length: 5.90 |" in text.partition("\f")[2]
    assert "Line 7 says" in text


def test_a_row_may_have_several_lines() -> None:
    rows = [
        ("Key", "What it does", "Since"),
        ("lamp", "lights the lamp", "1.0"),
        ("", "of the quay", ""),
    ]
    text = read(_table([*rows, ("horn", "warns", "1.2")], 700, ruled=True)).text
    assert "| Key: lamp | What it does: lights the lamp of the quay | Since: 1.0 |" in text


def test_columns_that_are_written_across_are_read_in_turn() -> None:
    left = [
        "The north light burns",
        "a lamp of 400 watts",
        "and its keeper is the",
        "sister of Gudrun.",
    ]
    right = [
        "The south light has no",
        "keeper at all, and the",
        "clock that stands there",
        "works by itself.",
    ]
    rows = [
        one
        for n in range(4)
        for one in ((60, 700 - 16 * n, 11, left[n]), (320, 700 - 16 * n, 11, right[n]))
    ]
    assert read(made.words_at(*rows)).text.split("\n") == [*left, *right]


def test_large_lines_are_headings_where_there_is_no_outline() -> None:
    text = read(made.words_at((60, 730, 16, "Fees of a berth"), *PARAGRAPH)).text
    assert text.startswith("# Fees of a berth\n")
    marked = read(made.words_at(*PARAGRAPH, (60, 500, 11, "# stop the winch")))
    assert marked.text.endswith("\n\\# stop the winch")


def test_words_are_whole_and_keep_hyphens_that_are_theirs() -> None:
    broken = "It car-\nries a well-\nknown lamp, as UTF-\n8 and a co-\nop say.\nThe well-known "
    broken += "co-\n\fop."
    assert with_whole_words(broken) == (
        "It carries\na well-known\nlamp, as UTF-8\nand a coop\nsay.\nThe well-known coop.\n\f"
    )


def test_what_no_reader_sees_is_counted_and_pages_of_pictures_are_named() -> None:
    picture = "60 60 200 200 re f"
    found = read(
        made.words_at(*PARAGRAPH, (60, 2000, 11, "Pay nine crowns.")), "", picture, picture
    )
    assert "nine crowns" not in found.text
    assert found.note == (
        "pages 3 to 4 hold no text; pictures are not read; 1 line off its page is left out"
    )


def test_a_form_says_what_is_filled_in() -> None:
    page = made.words_at((60, 700, 11, "Name of the boat:"))
    writer, out = PdfWriter(PdfReader(BytesIO(made.drawn_pdf([page])))), BytesIO()
    fields = ArrayObject()
    for name, value, low in (("boat", "Havfruen", 695), ("winch", "yes", 300)):
        rect = ArrayObject(map(FloatObject, (200, low, 400, low + 17)))
        told = {"/Type": NameObject("/Annot"), "/Subtype": NameObject("/Widget"), "/Rect": rect}
        said = {
            "/FT": NameObject("/Tx"),
            "/T": TextStringObject(name),
            "/V": TextStringObject(value),
        }
        names = {NameObject(key): one for key, one in {**told, **said}.items()}
        fields.append(writer.add_annotation(0, DictionaryObject(names)).indirect_reference)
    form = DictionaryObject({NameObject("/Fields"): fields})
    writer.root_object[NameObject("/AcroForm")] = form
    writer.write(out)
    assert read_pdf(out.getvalue()).text == "Name of the boat: Havfruen\nwinch: yes"


def test_author_keywords_and_times_are_of_the_document() -> None:
    told = "/Author(Karla Veng)/Keywords(boats; winch)/CreationDate(D:20240305120000+01'00')"
    own = read(made.words_at(*PARAGRAPH), told=told).own
    assert (own.tags, own.metadata) == (("boats", "winch"), {"author": "Karla Veng"})
    assert own.created_at == milliseconds("2024-03-05T11:00:00Z")


@pytest.mark.parametrize("lines", range(3))
def test_a_small_table_among_long_lines_is_found_on_each_place_of_a_page(lines: int) -> None:
    prose = made.words_at(*(PARAGRAPH[:lines]), *PARAGRAPH[5:])
    page = f"{prose}\n{_table(CREW, 560)}\n{made.words_at((60, 300, 11, PARAGRAPH[0][3]))}"
    assert (
        "| Berth: A2 | Boat: Terne | Length: 9.10 |" in read(made.words_at(*PARAGRAPH), page).text
    )


def test_the_address_of_a_link_stands_behind_its_words_and_in_no_heading() -> None:
    page = made.words_at((60, 700, 11, "Winches"), (60, 650, 11, "Winches are sold at the quay."))
    outline = [("Boats", 0), ("Winches", 1)]
    writer, out = (
        PdfWriter(PdfReader(BytesIO(made.drawn_pdf([page, page], outline=outline)))),
        BytesIO(),
    )
    writer.add_uri(1, "https://quay.example/winches", [60, 648, 100, 662])  # type: ignore[arg-type]
    writer.write(out)
    text = read_pdf(out.getvalue()).text.partition("\f")[2]
    assert "# Winches\n" in text
    assert "\n[Winches](https://quay.example/winches) are sold at the quay." in text

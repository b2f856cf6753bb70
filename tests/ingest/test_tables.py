"""Tables of all formats: what is a head, what a span covers, and what a row says."""

from __future__ import annotations

import time
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
import xlsxwriter

from drift.local.ingest.formats import NoDocumentError, Read, tables
from drift.local.ingest.formats.delimited import read_csv
from drift.local.ingest.formats.number_formats import shown_by
from drift.local.ingest.formats.sheets import read_workbook
from drift.local.ingest.formats.tables import Cell

QUAYS = [["North", 120, 155, 183], ["South", 96, 101, 140], ["West", 77, 82, 91]]


def last(rows: list[list[object]], heads: int | None = None) -> str:
    return list(tables.lines(rows, heads))[-1]


@pytest.mark.parametrize(
    ("heads", "said"),
    [
        (["Quay", 2021, 2022, 2023], "| Quay: West | 2021: 77 | 2022: 82 | 2023: 91 |"),
        (["", "2021", "2022", "2023"], "| West | 2021: 77 | 2022: 82 | 2023: 91 |"),
        (["Quay", "Q1", "Q2", "Q3"], "| Quay: West | Q1: 77 | Q2: 82 | Q3: 91 |"),
        (["Week", 1, 2, 3], "| Week: West | 1: 77 | 2: 82 | 3: 91 |"),
        (["Quay", "2021-01-01", "2021-02-01", "2021-03-01"],
         "| Quay: West | 2021-01-01: 77 | 2021-02-01: 82 | 2021-03-01: 91 |"),
        (["East", 80, 96, 71],
         "| column 1: West | column 2: 77 | column 3: 82 | column 4: 91 |"),
    ],
)  # fmt: skip
def test_a_row_is_a_head_where_those_below_are_of_other_types(
    heads: list[object], said: str
) -> None:
    assert last([heads, *QUAYS]) == said


@pytest.mark.parametrize(
    "rows",
    [
        [["Ingrid Falk", "harbour master", "room 4"], ["Per Holm", "lamp keeper", "room 9"]],
        [["Ann", "ann@quay.example"], ["Bo", "bo@quay.example"]],
        [["Ann", "2021-03-01"], ["Bo", "2021-04-01"]],
        [["Ann", 2019], ["Bo", 2021], ["Cy", 2022]],
        [["Ann", "12,50 €"], ["Bo", "9,00 €"]],
        [["Birch", "cook", "yes"], ["Alder", "mate", "no"], ["Elm", "mate", "yes"]],
    ],
)
def test_rows_that_are_alike_have_no_head(rows: list[list[object]]) -> None:
    found = list(tables.lines(rows))
    assert len(found) == len(rows)
    assert all(line.startswith("| column 1: ") for line in found)


def test_heads_of_two_lines_are_one_name() -> None:
    said = "| Quay: West | Winter 2022: 77 | Winter 2023: 82 | Summer 2022: 91 |"
    spans = [
        [Cell("Fees of the quays", across=4)],
        [Cell("Quay", down=2), Cell("Winter", across=2), Cell("Summer")],
        [Cell(2022), Cell(2023), Cell(2022)],
    ]
    body = [[Cell(value) for value in row] for row in QUAYS]
    filled = list(tables.spread([*spans, *body]))
    assert last(filled) == last(filled, 3) == said
    assert next(tables.lines(filled)) == "Fees of the quays"
    gaps = [["", "Winter", "", "Summer"], ["Quay", 2022, 2023, 2022], *QUAYS]
    assert last(gaps) == said
    before = [["Made by", "Ann"], ["On", "2024-01-01"], [], ["Quay", "a", "b", "c"], *QUAYS]
    assert last(before) == "| Quay: West | a: 77 | b: 82 | c: 91 |"
    assert next(tables.lines(before)) == "| Made by | Ann |"


def test_the_first_column_names_the_second_where_that_has_all_types() -> None:
    rows = [["Owner", "Sunniva Krag"], ["Length", "8.40"], ["Built", "in 1967"]]
    assert list(tables.lines(rows))[1] == "| Length: 8.40 |"
    assert list(tables.lines([["Owner", "Lena"], ["Deep", "nine"]], 0, by_first=True)) == [
        "| Owner: Lena |",
        "| Deep: nine |",
    ]


def test_a_span_covers_its_places_and_no_more_than_its_table_bears() -> None:
    rows = [
        [Cell("South", down=2), Cell("summer"), Cell(12.0)],
        [Cell("winter"), Cell(15.5)],
        [Cell("North", across=2, down=9), Cell(9)],
        [Cell(10.25)],
    ]
    assert list(tables.spread(rows)) == [
        ["South", "summer", 12.0],
        ["South", "winter", 15.5],
        ["North", "North", 9],
        ["North", "North", 10.25],
    ]
    began = time.process_time()
    wide = tables.spread([Cell("x" * 9, 1_000_000, 1_000_000)] for _ in range(20_000))
    assert sum(map(len, wide)) < 30 * 20_000
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Alder;11,50;66,25\nBirch;13,75;78,10\n", ["Birch", "13,75", "78,10"]),
        ("Alder\t1,200\nBirch\t2,300\n", ["Birch", "2,300"]),
        ("sep=|\n1,5|a,b\n2,5|c,d\n", ["2,5", "c,d"]),
        ('\ufeff1, "a, b"\n2, "c, d"\n', ["2", "c, d"]),
        ('1,"a\nb, c"\n2,"d ""e"" f\ng, h"\n', ["2", 'd "e" f g, h']),
    ],
)
def test_values_are_cut_where_they_are_whole(text: str, said: list[str]) -> None:
    read = read_csv(text.encode())
    named = " | ".join(f"column {n}: {value}" for n, value in enumerate(said, 1))
    assert read.text.split("\n\n")[-1] == f"| {named} |"
    assert read.note == ""


@pytest.mark.parametrize("sign", ["\t", ","])
def test_a_quotation_that_nothing_ends_costs_no_row(sign: str) -> None:
    rows = [f"{n}{sign}place {n}{sign}{3 * n}" for n in range(1, 5_001)]
    rows[100] = f'101{sign}"Sea and shore{sign}303'
    rows[3000] = f'3001{sign}"Tow{sign}9003'
    read = read_csv("\n".join([sign.join(["id", "name", "sum"]), *rows]).encode())
    found = read.text.split("\n\n")
    assert len(found) == 5_001
    assert found[101] == '| id: 101 | name: "Sea and shore | sum: 303 |'
    assert found[-1] == "| id: 5000 | name: place 5000 | sum: 15000 |"
    assert read.note.endswith(": 2")


def test_quotations_without_ends_take_no_more_than_linear_time() -> None:
    began = time.process_time()
    assert read_csv(b"a,b\n" + b'x","y\n' * 100_000).text.count("\n\n") == 100_000
    assert time.process_time() - began < 5


def test_a_table_of_ten_million_rows_is_refused() -> None:
    with pytest.raises(NoDocumentError, match="10,000,000 rows"):
        read_csv(b"1\n" * 10_000_000)


def book(write: Callable[[Any, Any], None]) -> Read:
    """Return what is read of a book with a sheet that is written to."""
    out = BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as made:
        sheet = made.add_worksheet("Crew")
        write(sheet, made)
    return read_workbook(out.getvalue())


def test_merged_cells_of_a_sheet_have_their_value_in_each_row() -> None:
    def write(sheet: Any, _: Any) -> None:
        sheet.merge_range("B2:D2", "Crew of the ferries")
        sheet.write_row("B3", ["Ferry", "Post", "Name"])
        for row, post in enumerate(["captain", "engineer", "cook"], 3):
            sheet.write_row(row, 2, [post, f"Siri {row}"])
        sheet.merge_range("B4:B6", "Skarv")

    assert book(write).text.split("\n\n") == [
        "# Crew",
        "Crew of the ferries",
        "| Ferry | Post | Name |",
        "| Ferry: Skarv | Post: captain | Name: Siri 3 |",
        "| Ferry: Skarv | Post: engineer | Name: Siri 4 |",
        "| Ferry: Skarv | Post: cook | Name: Siri 5 |",
    ]


def test_a_sheet_is_read_as_it_is_shown() -> None:
    def write(sheet: Any, made: Any) -> None:
        sheet.write_row(0, 0, ["Boat", "Fee", "Share", "Secret"])
        for row, fee in enumerate([1234.5, 66.25, 3], 1):
            sheet.write(row, 0, f"Skarv {'abc'[row - 1]}")
            sheet.write(row, 1, fee, made.add_format({"num_format": '#,##0.00 "EUR"'}))
            sheet.write(row, 2, 0.125, made.add_format({"num_format": "0.0%"}))
            sheet.write(row, 3, "gone")
        sheet.set_row(2, None, None, {"hidden": True})
        sheet.set_column(3, 3, None, None, {"hidden": True})
        sheet.write_formula(5, 1, "=SUM(B2:B4)", None, "")
        sheet.write_comment(1, 1, "too low", {"author": "Ole Brandt"})
        sheet.write_comment(2, 1, "of a hidden row")
        made.add_worksheet("Old").hide()
        chart = made.add_chart({"type": "line"})
        chart.add_series({"values": "=Crew!$B$2:$B$4"})
        sheet.insert_chart("F2", chart)

    read = book(write)
    assert read.text.split("\n\n") == [
        "# Crew",
        "| Boat | Fee | Share |",
        "| Boat: Skarv a | Fee: 1,234.50 EUR | Share: 12.5% |",
        "Comment (Ole Brandt) on B2: too low",
        "| Boat: Skarv c | Fee: 3.00 EUR | Share: 12.5% |",
        "| Fee: =SUM(B2:B4) |",
    ]
    assert read.note == (
        "left out: charts (1), hidden columns (1), hidden rows (1), hidden sheets (1); "
        "1 formulas have no value stored and stand as written: B6 of Crew"
    )


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ('"$"#,##0.00_);[Red]\\("$"#,##0.00\\)', "-$1,234.50"),
        ("[$€-407] 0.0##", "-€ 1234.5"),
        ('0" kg"', "-1235 kg"),
        ("0%", "-123450%"),
        *((code, None) for code in ("General", "0.00E+00", "d-mmm", "# ?/?", '0,,"M"', "000-000")),
    ],
)
def test_a_number_is_shown_with_the_signs_of_its_format(code: str, said: str | None) -> None:
    shown = shown_by(code)
    assert (shown and shown(-1234.5)) == said


def test_merged_cells_repeat_no_more_than_a_sheet_bears() -> None:
    def write(sheet: Any, _: Any) -> None:
        sheet.merge_range("A1:A40000", "x" * 5_000)
        for row in range(40_000):
            sheet.write(row, 1, row)

    assert len(book(write).text) < 60_000_000

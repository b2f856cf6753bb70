"""Files of the formats that people keep, made anew for every test."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Sequence
from io import BytesIO

import docx
import xlsxwriter
from docx.enum.text import WD_BREAK
from pptx import Presentation
from pptx.util import Inches

Rows = Sequence[Sequence[object]]


def pdf(
    pages: Sequence[Sequence[str]], title: str = "", outline: Iterable[tuple[str, int]] = ()
) -> bytes:
    """Return a PDF of lines of text; the outline names titles with their pages, from 0."""
    streams = []
    for lines in pages:
        drawn = "".join(f"({_escaped(line)}) Tj T* " for line in lines)
        streams.append(f"BT /F 11 Tf 14 TL 60 780 Td {drawn}ET" if lines else "")
    return drawn_pdf(streams, title, outline)


def words_at(*placed: tuple[float, float, float, str]) -> str:
    """Return what draws words of a PDF's page: each at its place from the left and below."""
    return "\n".join(
        f"BT /F {size} Tf {x} {y} Td ({_escaped(text)}) Tj ET" for x, y, size, text in placed
    )


def _escaped(text: str) -> str:
    return text.replace("(", "\\(").replace(")", "\\)")


def drawn_pdf(
    pages: Sequence[str],
    title: str = "",
    outline: Iterable[tuple[str, int]] = (),
    told: str = "",
) -> bytes:
    """Return a PDF of what its pages draw; `told` is more of what it says of itself."""
    kids, first = list(outline), 5 + 2 * len(pages)
    last = first + len(kids)
    drawn = "".join(f"{5 + 2 * n} 0 R " for n in range(len(pages)))
    objects = {
        1: f"<</Type/Catalog/Pages 2 0 R/Outlines {first} 0 R>>",
        2: f"<</Type/Pages/Count {len(pages)}/Kids[{drawn}]>>",
        3: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        4: f"<</Title({title}){told}>>",
        first: f"<</Type/Outlines/Count {len(kids)}/First {first + 1} 0 R/Last {last} 0 R>>",
    }
    for n, stream in enumerate(pages):
        size = len(stream.encode("cp1252"))
        objects[5 + 2 * n] = (
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {6 + 2 * n} 0 R"
            "/Resources<</Font<</F 3 0 R>>>>>>"
        )
        objects[6 + 2 * n] = f"<</Length {size}>>stream\n{stream}\nendstream"
    for n, (name, page) in enumerate(kids, 1):
        following = f"/Next {first + n + 1} 0 R" if n < len(kids) else ""
        objects[first + n] = (
            f"<</Title({name})/Parent {first} 0 R{following}/Dest[{5 + 2 * page} 0 R/Fit]>>"
        )

    out, places = BytesIO(), {}
    out.write(b"%PDF-1.7\n")
    for number, body in sorted(objects.items()):
        places[number] = out.tell()
        out.write(f"{number} 0 obj{body}endobj\n".encode("cp1252"))
    began = out.tell()
    table = "".join(f"{places[n]:010} 00000 n \n" for n in sorted(objects))
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode())
    trailer = f"trailer<</Size {len(objects) + 1}/Root 1 0 R/Info 4 0 R>>"
    out.write(f"{trailer}\nstartxref\n{began}\n%%EOF".encode())
    return out.getvalue()


def word(
    title: str, parts: Sequence[tuple[str, str] | Rows], *, breaks: Sequence[int] = ()
) -> bytes:
    """Return a Word document of paragraphs, each with its style, and tables, with breaks before."""
    document = docx.Document()
    document.core_properties.title = title
    for number, part in enumerate(parts):
        if number in breaks:
            document.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
        if isinstance(part, tuple):
            document.add_paragraph(part[1], style=part[0] or None)
            continue
        table = document.add_table(len(part), len(part[0]))
        for row, values in zip(table.rows, part, strict=True):
            for cell, value in zip(row.cells, values, strict=True):
                cell.text = str(value)
    return _saved(document)


def slides(title: str, shown: Sequence[tuple[str, Sequence[str], Rows]]) -> bytes:
    """Return a presentation of slides, each with its title, points and a table."""
    show = Presentation()
    show.core_properties.title = title
    for name, points, rows in shown:
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = name
        slide.placeholders[1].text = "\n".join(points)
        if rows:
            place = map(Inches, (1, 4, 6, 1))
            table = slide.shapes.add_table(len(rows), len(rows[0]), *place).table
            for i, row in enumerate(rows):
                for j, value in enumerate(row):
                    table.cell(i, j).text = str(value)
    return _saved(show)


def workbook(sheets: dict[str, Rows], *, hidden: Sequence[str] = ()) -> bytes:
    """Return a workbook of sheets."""
    out = BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
            if name in hidden:
                sheet.hide()
    return out.getvalue()


def open_sheet(name: str, rows: Rows) -> bytes:
    """Return an OpenDocument sheet."""
    space = "urn:oasis:names:tc:opendocument:xmlns:"
    cells = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="string"><text:p>{value}</text:p>'
            "</table:table-cell>"
            for value in row
        )
        + "</table:table-row>"
        for row in rows
    )
    content = (
        f'<office:document-content xmlns:office="{space}office:1.0" xmlns:table="{space}table:1.0" '
        f'xmlns:text="{space}text:1.0"><office:body><office:spreadsheet>'
        f'<table:table table:name="{name}">{cells}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", content)
    return out.getvalue()


def notebook(cells: Sequence[tuple[str, str, str]]) -> bytes:
    """Return a notebook of cells, each with its kind, its source and what it printed."""
    return json.dumps(
        {
            "nbformat": 4,
            "metadata": {"language_info": {"name": "python"}},
            "cells": [
                {
                    "cell_type": kind,
                    "source": source.splitlines(keepends=True),
                    "outputs": [{"output_type": "stream", "text": printed}] if printed else [],
                }
                for kind, source, printed in cells
            ],
        }
    ).encode()


def package(ending: str, parts: dict[str, bytes]) -> bytes:
    """Return a document of this format with some of its parts in the place of its own."""
    whole = {
        ".docx": lambda: word("", [("", "Text.")]),
        ".xlsx": lambda: workbook({"A": [["Name", "Role"], ["Ann", "cook"]]}),
        ".pptx": lambda: slides("", [("A", ["Text."], [])]),
        ".ods": lambda: open_sheet("A", [["Name", "Role"], ["Ann", "cook"]]),
    }[ending]
    out, left = BytesIO(), dict(parts)
    with (
        zipfile.ZipFile(BytesIO(whole())) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for part in old.namelist():
            new.writestr(part, left.pop(part, old.read(part)))
        for part, content in left.items():
            new.writestr(part, content)
    return out.getvalue()


def within(ending: str, part: str, place: str, said: str) -> bytes:
    """Return a document with more in one of its parts, before what stands there."""
    with zipfile.ZipFile(BytesIO(package(ending, {}))) as archive:
        body = archive.read(part).decode()
    return package(ending, {part: body.replace(place, said + place, 1).encode()})


def _saved(document: docx.document.Document | Presentation) -> bytes:
    out = BytesIO()
    document.save(out)
    return out.getvalue()

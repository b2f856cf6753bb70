"""Documents of office programs: what a reader sees of them is read, and the rest is counted."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from io import BytesIO

import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from drift.indexing.documents import Skipped, SourceDocument
from drift.local.ingest.files import document_in
from tests.ingest import made_files as made

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
SPACES = (
    f'xmlns:w="{W}" xmlns:m="urn:m" xmlns:mc="urn:mc" xmlns:wp="urn:wp" xmlns:v="urn:v" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:c="urn:c"'
)
CHART = (
    '<c:chartSpace xmlns:c="urn:c"><c:chart><c:plotArea><c:ser><c:tx><c:v>Share</c:v></c:tx>'
    "<c:cat><c:formatCode>d/m/yy</c:formatCode><c:pt idx='0'><c:v>44197</c:v></c:pt></c:cat>"
    "<c:val><c:formatCode>0.0%</c:formatCode><c:pt idx='0'><c:v>0.125</c:v></c:pt></c:val>"
    "</c:ser></c:plotArea></c:chart></c:chartSpace>"
)


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name, said in parts.items():
            new.writestr(name, said)
    return out.getvalue()


def relations(**targets: str) -> str:
    each = (f'<Relationship Id="{k}" Type="x/{k}" Target="{t}"/>' for k, t in targets.items())
    return f"<Relationships>{''.join(each)}</Relationships>"


def word(body: str, space: str = W, **parts: str) -> bytes:
    """Return a Word document; parts are called after their kinds."""
    return archive(
        {
            "_rels/.rels": relations(officeDocument="word/document.xml"),
            "word/_rels/document.xml.rels": relations(**{kind: f"{kind}.xml" for kind in parts}),
            "word/document.xml": f"<w:document {SPACES.replace(W, space)}><w:body>{body}</w:body>"
            "</w:document>",
            **{f"word/{kind}.xml": f"<w:x {SPACES}>{said}</w:x>" for kind, said in parts.items()},
        }
    )


def p(said: str, properties: str = "") -> str:
    return f"<w:p>{f'<w:pPr>{properties}</w:pPr>' if properties else ''}{said}</w:p>"


def r(said: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{said}</w:t></w:r>"


def cell(said: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{said}</w:tc>"


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"


def field(*parts: str) -> str:
    """Return a field: texts stand in it as they are, other words mark its parts."""
    marks = {"begin", "separate", "end"}
    return "".join(
        f'<w:r><w:fldChar w:fldCharType="{one}"/></w:r>' if one in marks else one for one in parts
    )


def read(name: str, content: bytes) -> SourceDocument:
    found = document_in(content, name, None)
    assert isinstance(found, SourceDocument), found
    return found


STYLES = (
    '<w:style w:styleId="A"><w:name w:val="heading 2"/></w:style>'
    '<w:style w:styleId="B"><w:basedOn w:val="A"/></w:style>'
    '<w:style w:styleId="T"><w:basedOn w:val="B"/>'
    '<w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>'
    '<w:style w:styleId="H"><w:rPr><w:vanish/></w:rPr></w:style>'
    '<w:style w:styleId="C"><w:basedOn w:val="C"/></w:style>'
)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"<w:sdt><w:sdtContent>{p(r('Lena'))}</w:sdtContent></w:sdt>", "Lena"),
        (p(f"{r('By ')}<w:sdt><w:sdtContent>{r('Lena')}</w:sdtContent></w:sdt>"), "By Lena"),
        ("<w:customXml>" + p(f"<w:smartTag>{r('Lena')}</w:smartTag>") + "</w:customXml>", "Lena"),
        (p(f"{r('T')}<w:r><w:noBreakHyphen/><w:t>4</w:t><w:softHyphen/></w:r>{r('7')}"), "T-47"),
        (p('<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>' + r(" paid")), "\u2611 paid"),
        (p('<w:r><w:sym w:font="Symbol" w:char="F0A3"/></w:r>' + r(" 5")), "\u2264 5"),
        (
            p(
                "<m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t>"
                "</m:r></m:den></m:f></m:oMath>"
            ),
            "(a+b)/2",
        ),
        (p(field("begin", "<w:instrText>PAGE</w:instrText>", "separate", r("7"), "end")), "7"),
        (p(field("begin", field("begin", "separate", r("no"), "end"), "end") + r("yes")), "yes"),
        (
            p(
                '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:checked/>'
                "</w:checkBox></w:ffData></w:fldChar></w:r>" + field("end") + r(" rented")
            ),
            "\u2612 rented",
        ),
        (
            p(
                f"<mc:AlternateContent><mc:Choice><w:txbxContent>{p(r('Boxed'))}</w:txbxContent>"
                f"</mc:Choice><mc:Fallback><w:txbxContent>{p(r('Boxed'))}</w:txbxContent>"
                f"</mc:Fallback></mc:AlternateContent>{r('Beside')}"
            ),
            "Beside\n\nBoxed",
        ),
        (p(f'{r("Map")}<wp:docPr descr="The harbour"/>'), "Map\nPicture: The harbour"),
        (p(f'{r("Map")}<wp:docPr descr="IMG_01.png"/>'), "Map"),
        (p(r("# restart the service")), "\\# restart the service"),
        (p(r("Oar"), '<w:pStyle w:val="B"/>') + p(r("x"), '<w:pStyle w:val="T"/>'), "## Oar\n\nx"),
        (p(r("x"), '<w:pStyle w:val="C"/>'), "x"),
        (
            p('<c:chart r:id="chart"/>'),
            "| Category | Share |\n\n| Category: 2021-01-01 | Share: 12.5% |",
        ),
        (
            p(f"{r('Open')}<w:r><w:endnoteReference w:id='1'/></w:r>{r(' daily.')}"),
            "Open daily.\nNote: Not in May.",
        ),
    ],
)  # fmt: skip
def test_all_that_a_reader_of_word_sees_is_read(body: str, text: str) -> None:
    notes = f'<w:endnote w:id="1">{p(r("Not in May."))}</w:endnote>'
    made_of = {"styles": STYLES, "endnotes": notes, "chart": CHART}
    document = read("a.docx", word(body, **made_of))
    assert (document.text, document.note) == (text, "")
    strict = word(body, space=STRICT, **made_of)
    assert read("a.docx", strict).text == text


@pytest.mark.parametrize(
    ("body", "note"),
    [
        (p(f"<w:del><w:r><w:delText>no</w:delText></w:r></w:del>{r('yes')}"), "deleted or mov"),
        (p(f"<w:moveFrom>{r('no')}</w:moveFrom><w:moveTo>{r('yes')}</w:moveTo>"), "moved away"),
        (p(r("no", "<w:vanish/>") + r("yes", '<w:vanish w:val="0"/>')), "hidden passages (1)"),
        (p(r("no"), '<w:pStyle w:val="H"/>') + p(r("yes")), "hidden passages (1)"),
        (p(r("no", '<w:rStyle w:val="H"/>') + r("yes")), "hidden passages (1)"),
        (
            f"<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr>{p(r('no'))}</w:sdt>{p(r('yes'))}",
            "fields that nobody filled in (1)",
        ),
        (
            table(f"<w:trPr><w:del/></w:trPr>{cell(p(r('no')))}", cell(p(r("yes")))),
            "rows of tables that were deleted or hidden (1)",
        ),
        (f'<w:altChunk r:id="gone"/>{p(r("yes"))}', "documents within this one (1)"),
    ],
)  # fmt: skip
def test_what_no_reader_of_word_sees_is_counted(body: str, note: str) -> None:
    document = read("a.docx", word(body, styles=STYLES))
    assert (document.text, note in document.note) == ("yes", True)


def test_cells_of_word_are_merged_nested_and_pages_are_counted_in_them() -> None:
    cut = "<w:r><w:lastRenderedPageBreak/></w:r>"
    rows = (
        cell(p(r("Boat"))) + cell(p(r("Role"))) + cell(p(r("Name"))),
        cell(p(r("Mira")), '<w:vMerge w:val="restart"/>') + cell(p(r("cook"))) + cell(p(r("Ann"))),
        cell(p(cut), "<w:vMerge/>")
        + cell(p(cut + r("mate")))
        + cell(table(cell(p(r("Day"))) + cell(p(r("Bo"))), cell(p(r("Night"))) + cell(p(r("Ed"))))),
    )
    body = table(*rows) + p(r("Behind."))
    *_, last, behind = read("a.docx", word(body)).text.split("\n\n")
    assert last.startswith("| Boat: Mira | Role: mate | Name: ")
    assert ("Bo" in last, "Ed" in last, behind) == (True, True, "Behind.")
    assert read("a.docx", word(body)).text.count("\f") == 1


def test_a_document_that_is_laid_out_in_one_cell_is_paragraphs() -> None:
    many = "".join(p(r(f"Line {n} of the letter.")) for n in range(900))
    text = read("a.docx", word(table(cell(p(r("Dear all"))) + cell("<w:p/>"), cell(many)))).text
    assert text.startswith("Dear all\n\nLine 0 of the letter.\n\n")
    assert text.endswith("Line 899 of the letter.")


def test_a_note_that_names_itself_and_tables_a_hundred_deep_are_read_once() -> None:
    mark = '<w:footnoteReference w:id="1"/>'
    note = '<w:footnote w:id="1">' + p(r("Once.") + mark) + "</w:footnote>"
    refers = p(r("x") + mark) * 2
    assert read("a.docx", word(refers, footnotes=note)).text == "x\nNote: Once.\n\nx"
    deep = p(r("deep"))
    for _ in range(60):
        deep = table(cell(deep) + cell(p(r("x"))))
    assert "deep" in read("a.docx", word(deep)).text
    for _ in range(60):
        deep = table(cell(deep))
    assert isinstance(document_in(word(deep), "a.docx", None), Skipped)


@pytest.mark.parametrize("told", ["Word Document", "report v2.docx", "Microsoft Word - a.doc", ""])
def test_a_title_of_a_program_or_a_file_is_none(told: str) -> None:
    document = read("a.docx", made.word(told, [("Heading 1", "Oars"), ("", "Two.")]))
    assert document.title == "Oars"


def test_what_a_document_says_of_itself_is_read() -> None:
    core = (
        '<x xmlns:d="urn:d"><d:creator>Karla Veng</d:creator><d:keywords>boats; winch</d:keywords>'
        "<d:created>2020-03-04T05:00:00Z</d:created><d:modified>soon</d:modified>"
        "<d:language>nb-NO</d:language><d:title>Handbook of the slipway</d:title></x>"
    )
    own = read("a.docx", made.package(".docx", {"docProps/core.xml": core.encode()})).own
    assert own.tags == ("boats", "winch")
    assert own.metadata == {"author": "Karla Veng", "language": "nb-NO"}
    assert (own.created_at, own.updated_at) == (1_583_298_000_000, None)


def _show() -> bytes:
    show = Presentation()
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = "Fares"
    for said, top, left in (("third", 5, 1), ("first", 2, 1), ("second", 2.2, 5)):
        slide.shapes.add_textbox(*map(Inches, (left, top, 2, 1))).text_frame.text = said
    place = map(Inches, (1, 6, 2, 1))
    data = CategoryChartData()
    data.categories = ["2021", "2022"]
    data.add_series("Cars", (40, 55))
    slide.shapes.add_chart(XL_CHART_TYPE.PIE, *place, data)
    slide.notes_slide.notes_text_frame.text = "Say it slowly."
    hidden = show.slides.add_slide(show.slide_layouts[5])
    hidden.shapes.title.text = "Secret"
    hidden.element.set("show", "0")
    last = show.slides.add_slide(show.slide_layouts[5])
    last.shapes.title.text = "Crew"
    grid = last.shapes.add_table(3, 2, *map(Inches, (1, 2, 6, 1))).table
    for n, said in enumerate(("Boat", "Name", "Mira", "Ann", "", "Bo")):
        grid.cell(n // 2, n % 2).text = said
    grid.cell(1, 0).merge(grid.cell(2, 0))
    out = BytesIO()
    show.save(out)
    return out.getvalue()


def test_slides_are_read_by_place_with_charts_notes_and_merged_cells() -> None:
    document = read("a.pptx", _show())
    first, hidden, last = document.text.split("\f")
    lines = [line for line in first.split("\n") if line]
    assert lines[:4] == ["# Fares", "first", "second", "third"]
    assert lines[-2:] == ["| Category: 2022 | Cars: 55 |", "Notes: Say it slowly."]
    assert (hidden.strip(), document.note) == ("", "left out: hidden slides (1)")
    assert "| Boat: Mira | Name: Bo |" in last


OPEN = (
    'xmlns:office="urn:o" xmlns:text="urn:t" xmlns:table="urn:b" xmlns:draw="urn:d" '
    'xmlns:style="urn:s" xmlns:svg="urn:v" xmlns:dc="urn:dc" xmlns:p="urn:p" xmlns:meta="urn:m"'
)


def open_document(body: str, styles: str = "") -> bytes:
    content = f"<office:d {OPEN}>{styles}<office:body>{body}</office:body></office:d>"
    meta = (
        f"<office:d {OPEN}><dc:title>Boats</dc:title><meta:keyword>oars</meta:keyword>"
        "<meta:creation-date>2020-03-04</meta:creation-date></office:d>"
    )
    return archive({"mimetype": "application/x", "content.xml": content, "meta.xml": meta})


def test_an_open_text_is_read_as_one_of_word() -> None:
    styles = (
        '<style:style style:name="H"><style:text-properties text:display="none"/></style:style>'
        '<style:style style:name="N"><style:paragraph-properties break-before="page"/>'
        "</style:style>"
    )
    grid = (
        '<table:table><table:table-row><table:table-cell><text:p>Boat</text:p></table:table-cell>'
        "<table:table-cell><text:p>Name</text:p></table:table-cell></table:table-row>"
        '<table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>Mira</text:p>'
        "</table:table-cell><table:table-cell><text:p>Ann</text:p></table:table-cell>"
        "</table:table-row><table:table-row><table:covered-table-cell/><table:table-cell>"
        "<text:p>Bo</text:p></table:table-cell></table:table-row></table:table>"
    )  # fmt: skip
    body = (
        "<text:tracked-changes><r><text:deletion><text:p>gone</text:p></text:deletion></r>"
        '</text:tracked-changes><text:h text:outline-level="2">Oars</text:h><text:p>Two<text:s/>or'
        '<text:span text:style-name="H"> no</text:span><text:note><text:note-body><text:p>Or one.'
        "</text:p></text:note-body></text:note> three.<office:annotation><dc:creator>Ole"
        "</dc:creator><text:p>Sure?</text:p></office:annotation></text:p><text:list><text:list-item>"
        '<text:p>ash</text:p></text:list-item></text:list><text:p text:style-name="N">Page two.'
        "<draw:frame><draw:image/><svg:desc>A boat</svg:desc></draw:frame></text:p>" + grid
    )
    document = read("a.odt", open_document(f"<office:text>{body}</office:text>", styles))
    assert document.text.split("\n\n") == [
        "## Oars",
        "Two or three.\nNote: Or one.\nComment (Ole): Sure?",
        "- ash",
        "\f",
        "Page two.",
        "Picture: A boat",
        "| Boat | Name |",
        "| Boat: Mira | Name: Ann |",
        "| Boat: Mira | Name: Bo |",
    ]
    assert document.note == "left out: hidden passages (1), passages that were deleted (1)"
    assert (document.title, document.own.tags) == ("Boats", ("oars",))


def test_open_slides_are_pages_and_boxes_stand_in_rows() -> None:
    def box(said: str, y: str, kind: str = "") -> str:
        words = f"<draw:text-box><text:p>{said}</text:p></draw:text-box>"
        return f'<draw:frame svg:y="{y}" svg:x="1cm" p:class="{kind}">{words}</draw:frame>'

    hidden = (
        '<style:style style:name="H"><style:drawing-page-properties p:visibility="hidden"/>'
        "</style:style>"
    )
    shown = box("second", "9cm") + box("first", "2in") + box("Fares", "20cm", "title")
    page = f"<draw:page>{shown}<p:notes>{box('Slowly.', '1cm')}</p:notes></draw:page>"
    secret = f'<draw:page draw:style-name="H">{box("no", "1cm")}</draw:page>'
    body = f"<office:presentation>{page}{secret}</office:presentation>"
    document = read("a.odp", open_document(body, hidden))
    assert document.text.strip() == "# Fares\n\nfirst\n\nsecond\n\nNotes: Slowly."
    assert document.note == "left out: hidden slides (1)"


RTF = rb"""{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B;}}
{\stylesheet{\s1 heading 1;}{\s5 Title;}}{\info{\title Document1}{\author Karla Veng}
{\creatim\yr2020\mo3\dy4}}{\header\pard Running head\par}
\pard\s5 Handbook\par\pard\s1 Rules\par
\pard Lifts 6\u8239? tonnes{\footnote Not on Sundays.} by {\f1 \'cf\'e0\'f0\'ee\'ec}, T\_47{\v no}.
{\*\atnauthor Ole}{\*\annotation Sure?}\par
\page Next.\par\trowd\cellx1\cellx2\pard\intbl Boat\cell Name\cell\row
\trowd\clvmgf\cellx1\cellx2\intbl Mira\cell Ann\cell\row
\trowd\clvmrg\cellx1\cellx2\intbl\cell Bo\cell\row
\pard{\pict\bin4 }}}}}{\field{\*\fldinst LINK}{\fldrslt # end}}\u-10179?\u-8704?\par}"""


def test_rich_text_is_read_with_its_notes_tables_and_signs() -> None:
    document = read("a.rtf", RTF)
    assert document.text.split("\n\n") == [
        "# Handbook",
        "# Rules",
        (
            "Lifts 6\u202f tonnes by \u041f\u0430\u0440\u043e\u043c, T-47.\n"
            "Note: Not on Sundays.\nComment (Ole): Sure?"
        ),
        "\f",
        "Next.",
        "| Boat | Name |",
        "| Boat: Mira | Name: Ann |",
        "| Boat: Mira | Name: Bo |",
        "\\# end\U0001f600",
    ]
    assert (document.title, document.note) == (
        "Handbook",
        "left out: hidden or deleted passages (1)",
    )
    assert document.own.metadata == {"author": "Karla Veng"}


def book(locked: str = "") -> bytes:
    items = "".join(
        f'<item id="{n}" href="c%20{n}.xhtml" media-type="application/xhtml+xml"{more}/>'
        for n, more in ((1, ""), (2, ""), (3, ' properties="nav"'))
    )
    return archive(
        {
            "META-INF/container.xml": '<c><rootfile full-path="in/a.opf"/></c>',
            "META-INF/encryption.xml": f'<e><CipherReference URI="{locked}"/></e>',
            "in/a.opf": '<p xmlns:d="urn:d"><metadata><d:title>Boats</d:title><d:creator>Ann'
            f"</d:creator></metadata><manifest>{items}</manifest><spine>"
            + "".join(f'<itemref idref="{n}"/>' for n in (3, 2, 1, 1, 9))
            + "</spine></p>",
            **{
                f"in/c {n}.xhtml": f"<html><body><h1>Part {n}</h1><p>Text {n}.</p></body></html>"
                for n in (1, 2, 3)
            },
        }
    )


def test_a_book_is_its_chapters_in_the_order_of_reading() -> None:
    document = read("a.epub", book())
    assert document.text == "# Part 2\n\nText 2.\n\n# Part 1\n\nText 1."
    assert (document.title, document.own.metadata) == ("Boats", {"author": "Ann"})
    locked = document_in(book("in/c%202.xhtml"), "a.epub", None)
    assert isinstance(locked, Skipped)
    assert "is locked" in locked.reason


BOMB = "<!DOCTYPE a [<!ENTITY a 'lollol'><!ENTITY b '&a;&a;&a;'>]>"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.odt", b"PK\x03\x04 cut"),
        ("a.odt", made.word("", [("", "x")])),
        ("a.odp", archive({"content.xml": "<a><b>"})),
        ("a.odt", archive({"META-INF/manifest.xml": "<encryption-data/>", "content.xml": "x"})),
        ("a.epub", archive({"META-INF/container.xml": '<c><rootfile full-path="../../x"/></c>'})),
        ("a.epub", made.word("", [("", "x")])),
        ("a.docx", archive({"_rels/.rels": relations(officeDocument="../../../etc/passwd")})),
        ("a.docx", made.package(".docx", {"word/document.xml": b"<a><b"})),
        ("a.pptx", made.package(".pptx", {"ppt/slides/slide1.xml": b"<a><b"})),
        ("a.pptx", made.package(".pptx", {"ppt/_rels/presentation.xml.rels": b"<a><b"})),
        ("a.xlsx", made.package(".xlsx", {"xl/sharedStrings.xml": b"<a><b"})),
        ("a.xlsx", made.package(".xlsx", {"xl/workbook.xml": b"<a><b"})),
        ("a.rtf", b"PK\x03\x04"),
        ("a.rtf", rb"{\rtf1" + b"{" * 200_000),
        ("a.odt", open_document("<a>" * 5_000 + "x" + "</a>" * 5_000)),
    ],
)  # fmt: skip
def test_what_is_damaged_or_of_another_kind_is_skipped_with_a_reason(
    name: str, content: bytes
) -> None:
    assert isinstance(document_in(content, name, None), Skipped)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("a.docx", "docProps/core.xml word/styles.xml"),
        ("a.docx", "word/_rels/document.xml.rels"),
        ("a.pptx", "docProps/core.xml ppt/slideMasters/slideMaster1.xml"),
        ("a.pptx", "ppt/slides/_rels/slide1.xml.rels"),
        ("a.xlsx", "docProps/core.xml xl/styles.xml"),
    ],
)
def test_a_part_that_is_damaged_costs_no_words_of_others(name: str, parts: str) -> None:
    ending = name[1:]
    document = read(name, made.package(ending, dict.fromkeys(parts.split(), b"<a><b")))
    assert document.text == read(name, made.package(ending, {})).text
    told = (f"the damaged part {part} (1)" for part in parts.split())
    assert document.note == f"left out: {', '.join(told)}"


def test_comments_that_are_damaged_are_told() -> None:
    document = read("a.docx", word(p(r("Berth 4.")), comments="</w:x>"))
    note = "left out: the damaged part word/comments.xml (1)"
    assert (document.text, document.note) == ("Berth 4.", note)
    document = read(
        "a.odt", archive({"content.xml": "<d><body><p>x</p></body></d>", "meta.xml": "<"})
    )
    assert (document.text, "meta.xml" in document.note) == ("x", True)


@pytest.mark.parametrize("charset", ["iso-8859-2", "windows-1250", "gb2312"])
def test_the_charset_that_a_part_declares_counts(charset: str) -> None:
    words = "码头关闭" if charset == "gb2312" else "Žluté lodě"
    said = f"{words} for all who come."
    parts: dict[str, str | bytes] = {}
    parts["META-INF/container.xml"] = '<c><rootfile full-path="a.opf"/></c>'
    parts["a.opf"] = (
        '<p><manifest><item id="1" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="1"/></spine></p>'
    )
    page = f'<?xml version="1.0" encoding="{charset}"?>\n<html><body><p>{said}'
    assert words in read("a.epub", archive({**parts, "a.xhtml": page.encode(charset)})).text
    declared = f'<?xml version="1.0" encoding="{charset}"?>\n<a><b>{said}</b></a>'
    assert words in read("a.xml", declared.encode(charset)).text
    html = f'<html><meta charset="{charset}"><p>{said}'.encode(charset)
    parts = {"_rels/.rels": relations(officeDocument="word/a.xml"), "word/a.html": html}
    parts["word/_rels/a.xml.rels"] = relations(aFChunk="a.html")
    parts["word/a.xml"] = f'<w:d {SPACES}><w:body><w:altChunk r:id="aFChunk"/></w:body></w:d>'
    assert words in read("a.docx", archive(parts)).text

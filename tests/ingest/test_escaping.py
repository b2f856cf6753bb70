from __future__ import annotations

import json

import pytest

from drift.indexing.blocks import split_blocks
from drift.indexing.documents import SourceDocument
from drift.local.ingest.files import document_in
from drift.local.ingest.formats.escaping import escaped, fenced


@pytest.mark.parametrize(
    "line",
    [
        "# stop",
        "   ## stop",
        "#",
        "```",
        "~~~ x",
        "---",
        "-",
        "====",
        "* * *",
        "<!-- x",
        "<Script>",
    ],
)
def test_a_line_of_text_changes_no_other_line(line: str) -> None:
    blocks = split_blocks(f"{escaped(f'first{chr(10)}{line}')}\n\n# Fees\n\nlast", "markdown")
    assert [(block.kind, block.title) for block in blocks] == [
        ("prose", ""),
        ("heading", "Fees"),
        ("prose", ""),
    ]


@pytest.mark.parametrize(
    "text", ["#7 of 9", "a # b", "- item", "<b>bold</b>", "-5 degrees", "a\n\n1 = 1", "#!/bin/sh"]
)
def test_other_lines_stay_as_they_are(text: str) -> None:
    assert escaped(text) == text


def test_code_with_fences_ends_where_it_ends() -> None:
    assert fenced("a\n````\nb", "c++ x`") == "`````c++\na\n````\nb\n`````"
    cells = [{"cell_type": "code", "source": "'''\n```\n# x\n'''"}]
    book = {"cells": [*cells, {"cell_type": "markdown", "source": "# Tides"}]}
    document = document_in(json.dumps(book).encode(), "a.ipynb", None)
    assert isinstance(document, SourceDocument)
    assert document.title == "Tides"

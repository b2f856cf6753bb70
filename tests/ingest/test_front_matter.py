"""The front matter of Markdown is what a document says of itself, and no text of it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from drift.indexing.documents import Skipped, SourceDocument
from drift.indexing.records import chunk_records, document_record
from drift.local.ingest.files import document_in
from drift.local.ingest.front_matter import MOST_CHARACTERS, without_front_matter
from drift.model.attributes import NOTHING_SAID, Attributes
from tests.ingest.reading import read_whole

NEW_YEAR = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1000)

HEAD = """---
title: Berths
tags: [harbour, " Piers ", 2026]
date: 2026-01-01
lastmod: 2026-01-02T00:00:00Z
department: hr
code: 010
version: "1.10"
pages: 12
share: 0.5
draft: true
reviewed: yes
nobody:
authors: [Ann, Ben]
two words: x
updated: tomorrow
---
# Piers

Berth 4 is closed.
"""


def read(text: str, name: str = "a.md", encoding: str = "utf-8") -> SourceDocument:
    found = document_in(text.encode(encoding), name, 5)
    assert not isinstance(found, Skipped), found
    return found


def test_front_matter_is_what_a_document_says_and_no_text_of_it() -> None:
    document = read(HEAD)
    assert document.own == Attributes(
        ("harbour", "Piers", "2026"),
        {
            "department": "hr",
            "code": "010",
            "version": "1.10",
            "pages": 12,
            "share": 0.5,
            "draft": True,
            "reviewed": "yes",
        },
        NEW_YEAR,
        NEW_YEAR + 86_400_000,
        "Berths",
    )
    assert document.note == ("of its front matter `authors`, `two words`, `updated` cannot be used")
    record = document_record(document, "a.md", "s", "a.md")
    (chunk,) = chunk_records("p", record, document)
    assert chunk.text == "# Piers\n\nBerth 4 is closed."
    assert HEAD.splitlines()[chunk.first_line - 1] == "# Piers"
    assert (record.title, record.updated_at) == ("Berths", NEW_YEAR + 86_400_000)
    assert record.version.attributes_hash == "", "the hash of the content knows it"
    other = read(HEAD.replace("\n", "\r\n"), encoding="utf-16")
    assert (other.text, other.own, other.title) == (document.text, document.own, "Berths")
    assert other.content_hash != document.content_hash


@pytest.mark.parametrize(
    "tags", ["tags: hr, law", "keywords: [hr, law]", "Tag:\n  - hr\n  - law\n  - ' '"]
)
def test_tags_are_written_in_several_ways(tags: str) -> None:
    _, said, note = without_front_matter(f"---\n{tags}\n---\nText.")
    assert (said.tags, note) == (("hr", "law"), "")


@pytest.mark.parametrize(
    "head",
    [
        "Between two rules: prose: with colons.",
        "a: !!python/object/apply:os.system ['true']",
        "a: *nowhere",
        "a: " + "[" * 2000,
        "? [a]\n: b",
        "a: \a",
        "a:\n\tb",
        "%YAML 9.9",
    ],
)
def test_what_is_no_yaml_stays_text_with_a_note(head: str) -> None:
    text = f"---\n{head}\n---\n# Title\n"
    rest, said, note = without_front_matter(text)
    assert (rest, said) == (text, NOTHING_SAID)
    assert note == "what stands at its head between --- is no YAML, and stays text"


@pytest.mark.parametrize(
    "text",
    ["A rule below.\n\n---\na: b\n---\n", "---\nNo end: of it\n", "---\nJust prose.\n---\nMore.",
     "---\n- a\n- list\n---\n", " ---\na: b\n---\n", "----\na: b\n----\n"],
)  # fmt: skip
def test_other_lines_of_dashes_are_text(text: str) -> None:
    assert without_front_matter(text) == (text, NOTHING_SAID, "")


def test_front_matter_is_bounded() -> None:
    long = f"---\na: {'x' * MOST_CHARACTERS}\n---\nText."
    assert without_front_matter(long)[::2] == (long, "its front matter has over 16,384 characters")
    bomb = "a: &a [x, x]\n" + "".join(f"{n}: &n{n} [*a, *a]\n" for n in range(50))
    names = without_front_matter(f"---\n{bomb}---\nText.")[2]
    assert names.startswith("of its front matter `a`, `0`, `1`, `2`, `3` and 46 more cannot")
    assert without_front_matter("---\n---\nText.") == ("\n\nText.", NOTHING_SAID, "")
    assert isinstance(document_in(b"---\na: b\n---\n", "a.md", None), Skipped)


def test_front_matter_is_that_of_markdown_alone() -> None:
    plain = "---\ntag: hr\n---\nText.\n"
    assert [read(plain, f"a.{one}").own.tags for one in ("txt", "rst", "html")] == [()] * 3
    assert read(plain, "a.markdown").own.tags == ("hr",)


def test_more_than_a_document_holds_is_left_out_and_told(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        f"---\ntags: [{', '.join(f't{n}' for n in range(40))}]\n---\nText."
    )
    ((document,), _) = read_whole(tmp_path)
    record = document_record(document, "a.md", "s", "a.md")
    assert (len(record.attributes.tags), record.note) == (
        32,
        "has too many tags or metadata: 8 are left out",
    )


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.md", "text/markdown"),
        ("b/A.CSV", "text/csv"),
        ("LICENSE", "text/plain"),
        ("a.py", "text/plain"),
        ("a.html", "text/html"),
    ],
)
def test_the_ending_of_a_name_tells_the_media_type(name: str, kind: str) -> None:
    found = read("Berth,4\nis,closed\n", name)
    assert document_record(found, name, "s", name).media_type == kind

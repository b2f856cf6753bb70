"""What may be said of a document: its bounds, moments, and the front matter of Markdown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from drift.contracts.attributes import DocumentAttributes
from drift.core.moments import milliseconds, moment
from drift.indexing.documents import Skipped, SourceDocument, document_of
from drift.indexing.front_matter import MOST_CHARACTERS, without_front_matter
from drift.indexing.media_types import media_type_of
from drift.indexing.records import chunk_records, document_record
from drift.model.attributes import NOTHING_SAID, Attributes

NEW_YEAR = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("written", "since"),
    [
        ("2026-01-01", NEW_YEAR),
        ("2026-01-01T00:00:00Z", NEW_YEAR),
        (" 2026-01-01t01:00:00.500+01:00 ", NEW_YEAR + 500),
        ("2026-01-01 00:00", NEW_YEAR),
        ("2025-12-31 19:00:00 -0500", NEW_YEAR),
        ("1969-12-31T23:59:59Z", -1000),
    ],
)
def test_dates_and_times_are_read_as_people_write_them(written: str, since: int) -> None:
    assert milliseconds(written) == since
    assert moment(since) == datetime.fromtimestamp(since / 1000, UTC)


@pytest.mark.parametrize(
    "written",
    ["", "2026", "2026-13-01", "1.1.2026", "2026-W01-1", "20260101", "令和8年1月1日", "2026-01-01Z",
     "2026-01-01T25:00Z", "0001-01-01T00:00+14:00", "9999-12-31T23:59-01:00", "2026-1-1", "now"],
)  # fmt: skip
def test_what_is_no_date_of_these_years_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="must be"):
        milliseconds(written)
    assert [moment(one) for one in (None, True, "1", 2**60, -(2**60))][2:] == [None] * 3


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tags", [""]),
        ("tags", [" \t"]),
        ("tags", ["x" * 65]),
        ("tags", ["a\0b"]),
        ("tags", [1]),
        ("tags", "hr"),
        ("tags", [f"t{n}" for n in range(33)]),
        ("metadata", {"": "x"}),
        ("metadata", {"a b": "x"}),
        ("metadata", {"a`b": "x"}),
        ("metadata", {"a\n": "x"}),
        ("metadata", {"x" * 65: "x"}),
        ("metadata", {"a": "x" * 513}),
        ("metadata", {"a": "\ud800"}),
        ("metadata", {"a": None}),
        ("metadata", {"a": ["x"]}),
        ("metadata", {"a": {"b": 1}}),
        ("metadata", {"a": 2**53 + 1}),
        ("metadata", {"a": float("inf")}),
        ("metadata", {f"n{n}": 1 for n in range(17)}),
        ("created_at", 1764000000000),
        ("created_at", "yesterday"),
        ("updated_at", "2026-02-30"),
        ("path", "a.md"),
    ],
)
def test_what_no_document_may_say_is_refused_by_its_field(field: str, value: object) -> None:
    with pytest.raises(ValidationError) as refused:
        DocumentAttributes.model_validate({field: value})
    assert refused.value.errors()[0]["loc"][0] == field


def test_what_is_said_is_trimmed_and_said_once() -> None:
    values = {"__proto__": "x", "file_name": "y", "a.b-c_1": 1.5, "yes": True, "n": 0}
    said = DocumentAttributes.model_validate(
        {"tags": [" hr ", "hr", "Größe"], "metadata": values, "created_at": "2026-01-01"}
    ).said()
    assert said == Attributes(("hr", "Größe"), values, NEW_YEAR)
    assert said.properties == {
        "tags": ["hr", "Größe"],
        "created_at": NEW_YEAR,
        **{f"metadata.{name}": value for name, value in values.items()},
    }


def test_whoever_says_it_first_counts_and_tags_are_joined() -> None:
    run = Attributes(("hr",), {"department": "hr"})
    own = Attributes(("draft", "hr"), {"department": "all", "year": 2026}, 5, 6, "Own")
    both = run.over(own)
    assert both == Attributes(("hr", "draft"), {"department": "hr", "year": 2026}, 5, 6, "Own")
    assert (NOTHING_SAID.digest, run.digest == own.digest) == ("", False)
    assert Attributes(metadata={"a": 1}).digest != Attributes(metadata={"a": True}).digest

    many = Attributes(tuple(f"t{n}" for n in range(30)), {f"n{n}": n for n in range(10)})
    others = Attributes(tuple(f"o{n}" for n in range(30)), {f"o{n}": n for n in range(10)})
    kept, left_out = many.over(others).bounded()
    assert (len(kept.tags), len(kept.metadata), left_out) == (32, 16, 32)


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


def read(text: str, name: str = "a.md", **more: Any) -> SourceDocument:
    found = document_of(name, text.encode(), **more)
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
    assert read(HEAD, title="Given").title == "Given"


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
    assert isinstance(document_of("a.md", b"---\na: b\n---\n"), Skipped)


def test_front_matter_is_that_of_markdown_alone() -> None:
    plain = "---\ntag: hr\n---\nText.\n"
    assert read(plain, "a.txt").own == read(plain, "a").own == NOTHING_SAID
    assert read(plain, "a.x", default=".md").own.tags == ("hr",)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.md", "text/markdown"),
        ("b/A.PDF", "application/pdf"),
        ("LICENSE", "text/markdown"),
        ("a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("a.txt", "text/plain"),
    ],
)
def test_the_ending_of_a_name_tells_the_media_type(name: str, kind: str) -> None:
    assert media_type_of(name, "markdown") == kind

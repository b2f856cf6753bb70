"""What may be said of a document, its bounds, and moments as people write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from drift.contracts.attributes import DocumentAttributes
from drift.core.moments import milliseconds, moment
from drift.model.attributes import NOTHING_SAID, Attributes

NEW_YEAR = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("written", "since"),
    [
        ("2026-01-01", NEW_YEAR),
        ("2026-01-01T00:00:00Z", NEW_YEAR),
        (" 2026-01-01t01:00:00.500+01:00 ", NEW_YEAR + 500),
        ("2026-01-01 00:00", NEW_YEAR),
        ("2025-12-31 19:00:00-0500", NEW_YEAR),
        ("1969-12-31T23:59:59Z", -1000),
    ],
)
def test_dates_and_times_are_read_as_people_write_them(written: str, since: int) -> None:
    assert milliseconds(written) == since
    assert moment(since) == datetime.fromtimestamp(since / 1000, UTC)


@pytest.mark.parametrize(
    "written",
    ["", "2026", "2026-13-01", "1.1.2026", "令和8年1月1日", "2026-01-01Z", "1446-05-19 AH",
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
    said = (
        DocumentAttributes.model_validate(
            {"tags": [" hr ", "hr", "Größe"], "metadata": values, "created_at": "2026-01-01"}
        )
        .said()
        .over(NOTHING_SAID)
    )
    assert said == Attributes(("hr", "Größe"), values, NEW_YEAR)
    assert said.properties == {
        "tags": ["hr", "Größe"],
        "created_at": NEW_YEAR,
        "also_at": None,
        "superseded_by": None,
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
    both = many.over(others)
    assert (len(both.tags), len(both.metadata)) == (32, 16)
    assert (both.tags[:30], both.metadata["n9"]) == (many.tags, 9)

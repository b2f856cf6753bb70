"""What counts as a schedule of the timer, and that no text breaks the import of the app."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.http import at_import

GOOD = [
    "0 0 3 * * *",
    "0 */5 * * * *",
    "30 0,15,30,45 8-18 * * 1-5",
    "0 0 3 1 jan,JUL *",
    "0 0 3 * * Mon-Fri",
    "  0  0 3 * * *  ",
]
BAD = {
    "*/5 * * * *": "has 5",
    "0 0 3 * * * *": "has 7",
    "60 0 3 * * *": "the second",
    "0 60 3 * * *": "the minute",
    "0 0 24 * * *": "the hour",
    "0 0 3 0 * *": "the day is",
    "0 0 3 * 13 *": "the month",
    "0 0 3 * * 7": "the day of the week",
    "0 */0 3 * * *": "the minute",
    "0 5-1 3 * * *": "the minute",
    "0 1,,2 3 * * *": "the minute",
    "0 ٣ 3 * * *": "the minute",
    "0 0 3 31 2,4 *": "a day that none of its months has",
}


@pytest.mark.parametrize("text", GOOD)
def test_a_schedule_of_six_fields_is_taken(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECONCILE_SCHEDULE", text)
    assert at_import.schedule_problem(text) is None
    assert at_import.schedule() == text.strip()


@pytest.mark.parametrize(("text", "says"), BAD.items())
def test_what_the_platform_would_refuse_is_named_and_registers_nothing(
    text: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECONCILE_SCHEDULE", text)
    assert says in (at_import.schedule_problem(text) or "")
    assert at_import.schedule() is None


@pytest.mark.parametrize("text", ["", "   "])
def test_an_empty_setting_is_none(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECONCILE_SCHEDULE", text)
    assert at_import.schedule() is None


@given(st.text())
def test_no_text_raises(text: str) -> None:
    at_import.schedule_problem(text)
    assert "canary" not in (at_import.schedule_problem(f"{text}canary") or "")


NUMBERS = ((0, 59), (0, 59), (0, 23), (1, 31), (1, 12), (0, 6))


@given(st.tuples(*(st.integers(-3, 70) for _ in NUMBERS)))
def test_plain_numbers_are_taken_exactly_within_their_spans(numbers: tuple[int, ...]) -> None:
    text = " ".join(map(str, numbers))
    fits = all(low <= n <= high for n, (low, high) in zip(numbers, NUMBERS, strict=True))
    days = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
    exists = fits and numbers[3] <= days.get(numbers[4], 31)
    assert (at_import.schedule_problem(text) is None) == exists

"""No room grows unseen: its code lines stay at the number that is committed for it."""

from __future__ import annotations

import json

import pytest

from tests.house.measure import BUDGET, count_code, faults, measure, room


def test_every_room_keeps_to_its_number() -> None:
    budget = json.loads(BUDGET.read_text(encoding="utf-8"))
    told = faults(budget, measure())
    assert not told, "\n".join(told)


@pytest.mark.parametrize(
    ("number", "figure", "said"),
    [
        (100, 100, None),
        (100, 97, None),
        (100, 101, "room: the number is 100, and now it is 101. Delete as much"),
        (100, 96, "room: the number is 100, and now it is 96. Keep what was won: `make budget`"),
        (0, 1, "room: the number is 0, and now it is 1. Delete"),
        (1, 0, "room: the number is 1, and now it is 0. Keep"),
    ],
)
def test_more_and_much_less_than_the_number_is_told(
    number: int, figure: int, said: str | None
) -> None:
    told = faults({"room": number} if number else {}, {"room": figure} if figure else {})
    assert not told if said is None else told[0].startswith(said)


TEXT = '''"""A module's text

of three lines."""
# a comment
A = 1
"""Of A: a string that documents no function is code."""


class Kind:
    """Its text."""

    text = """one

    three"""


async def run(
    # of the argument
    value: int,
) -> None:
    "Its text."
    if value:
        "a string"  # which says nothing
'''


def test_a_line_of_code_holds_more_than_a_comment_or_a_docstring() -> None:
    assert count_code(TEXT) == len(["A", "its string", "class", *("one", "", "three")]) + 5


def test_a_file_is_counted_with_its_folder() -> None:
    files = ["drift/graph/cypher/nearest.py", "drift/local/cli/ask.py", "function_app.py"]
    assert list(map(room, files)) == ["drift/graph", "drift/local/cli", "function_app.py"]
    assert room("tests/conftest.py") == "tests"

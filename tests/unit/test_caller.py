"""What a caller may use: by the character, whatever exists."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.auth.caller import EVERYBODY, NOBODY, Caller, Grant, Right, pattern_problem
from drift.core.errors import ForbiddenError, InvalidRequestError

READ: frozenset[Right] = frozenset({"read"})


def reader(*patterns: str) -> Caller:
    return Caller("k", tuple(Grant(pattern, READ) for pattern in patterns))


@pytest.mark.parametrize(
    ("pattern", "project_id", "allowed"),
    [
        ("a", "a", True),
        ("a", "A", False),
        ("team-*", "team-", True),
        ("team-*", "team", False),
        ("team-*", "Team-a", False),
        ("*", "anything", True),
        ("a", "*", False),
        ("team-a", "team-?", False),
        ("caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9"), False),
        ("a", "\u0430", False),
        ("stra\u00dfe", "strasse", False),
    ],
)
def test_ids_are_compared_by_the_character(pattern: str, project_id: str, allowed: bool) -> None:
    assert reader(pattern).may(project_id, "read") is allowed


@given(st.text(max_size=20), st.text(min_size=1, max_size=20))
def test_a_pattern_covers_exactly_what_begins_with_it(beginning: str, project_id: str) -> None:
    assert Grant(f"{beginning}*", READ).covers(project_id) is project_id.startswith(beginning)


@pytest.mark.parametrize("pattern", ["", "a*b", "**", "a\nb", "x" * 129])
def test_a_pattern_that_means_nothing_certain_is_refused(pattern: str) -> None:
    assert pattern_problem(pattern)


def test_a_right_belongs_to_its_projects() -> None:
    caller = Caller("k", (Grant("a", READ), Grant("b", frozenset({"read", "write"}))))
    assert caller.project("b", "write").id == "b"
    with pytest.raises(ForbiddenError) as refused:
        caller.project("a", "write")
    assert (refused.value.caller, refused.value.project_id) == ("k", "a")
    assert "'a'" not in refused.value.detail


def test_the_project_may_be_left_out_by_a_caller_of_exactly_one() -> None:
    assert reader("only").project(None).id == "only"
    twice = Caller("k", (Grant("one", READ), Grant("one", frozenset({"write"}))))
    assert twice.project(None, "write").id == "one"


@pytest.mark.parametrize("caller", [reader("a", "b"), reader("a*"), EVERYBODY])
def test_otherwise_it_has_to_be_named(caller: Caller) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        caller.project(None)
    assert refused.value.problems[0].field == "project_id"


def test_nobody_may_anything_and_everybody_all() -> None:
    with pytest.raises(ForbiddenError):
        NOBODY.project("a")
    assert EVERYBODY.project("a", "write").id == "a"

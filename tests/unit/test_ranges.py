"""The ranges of a caller hold exactly the ids that it may read."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from drift.auth.caller import EVERYBODY, Caller, Grant, Right
from drift.auth.ranges import IdRange, next_id, readable_ranges

IDS = st.text(st.sampled_from("ab-\ud7ff\ue000\uff21\U0001f600\U0010fffe"), min_size=1, max_size=4)
RIGHTS = st.frozensets(st.sampled_from(["read", "write"]))
PATTERNS = IDS | IDS.map(lambda id_: f"{id_}*") | st.just("*")
GRANTS = st.lists(st.builds(Grant, PATTERNS, RIGHTS), max_size=6)


def covers(ranges: tuple[IdRange, ...], id_: str) -> bool:
    return any(one.first <= id_ < one.end for one in ranges)


@given(grants=GRANTS, ids=st.lists(IDS, min_size=1, max_size=20))
def test_an_id_is_in_a_range_where_the_caller_may_read_it(
    grants: list[Grant], ids: list[str]
) -> None:
    caller = Caller("x", tuple(grants))
    for id_ in ids:
        assert covers(readable_ranges(caller), id_) == caller.may(id_, "read")


@given(grants=GRANTS, first=IDS, ids=st.lists(IDS, min_size=1, max_size=20))
def test_ranges_from_an_id_on_hold_what_stands_there_or_behind(
    grants: list[Grant], first: str, ids: list[str]
) -> None:
    caller = Caller("x", tuple(grants))
    ranges = readable_ranges(caller, first)
    for id_ in ids:
        assert covers(ranges, id_) == (caller.may(id_, "read") and id_ >= first)


@given(grants=GRANTS)
def test_ranges_are_in_order_and_apart(grants: list[Grant]) -> None:
    ranges = readable_ranges(Caller("x", tuple(grants)))
    assert all(one.first < one.end for one in ranges)
    assert all(one.end <= other.first for one, other in pairwise(ranges))


def test_one_id_is_told_from_a_beginning() -> None:
    rights: frozenset[Right] = frozenset({"read"})
    one, several = readable_ranges(Caller("x", (Grant("a", rights), Grant("b*", rights))))
    assert (one.only, several.only) == ("a", None)
    assert next_id("a") < "a "
    assert len(readable_ranges(EVERYBODY)) == 1

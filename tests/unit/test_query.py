"""Paths and queries: ids come as they were written, and what is wrong is named."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.contracts.parameters import CommunityParameters, DocumentParameters, PageParameters
from drift.core.errors import InvalidRequestError, NotFoundError
from drift.http.query import MAX_ID_CHARACTERS, parse_query, path_id

IDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


class Every(DocumentParameters, CommunityParameters):
    """Every parameter that a read route has."""


def problems(query: bytes) -> dict[str, str]:
    """What is wrong with a query, by field."""
    with pytest.raises(InvalidRequestError) as seen:
        parse_query(query, Every)
    return {problem.field: problem.message for problem in seen.value.problems}


@given(id_=IDS, keeps_slashes=st.booleans())
@pytest.mark.parametrize("route", ["documents/{*id}", "projects/{id}", "projects/{id}/documents"])
def test_an_id_is_decoded_exactly_once(route: str, id_: str, keeps_slashes: bool) -> None:
    written = quote(id_, safe="/" if keeps_slashes else "")
    path = "/" + route.replace("{*id}", written).replace("{id}", written)
    assert path_id(path.encode(), route) == id_


@pytest.mark.parametrize(
    ("written", "id_"),
    [
        (b"a%252Fb", "a%2Fb"),
        (b"100%25", "100%"),
        (b"a+b", "a+b"),
        (b"%zz", "%zz"),
        (b"%", "%"),
        (b"a/../b", "a/../b"),
        (b"x/documents", "x/documents"),
    ],
)
def test_an_id_is_what_was_written(written: bytes, id_: str) -> None:
    assert path_id(b"/documents/" + written, "documents/{*id}") == id_
    assert path_id(b"/Documents/" + written, "documents/{*id}") == id_


@pytest.mark.parametrize("written", [b"", b"a%00b", b"%ED%A0%80", b"x" * (MAX_ID_CHARACTERS + 1)])
def test_what_can_be_no_id_is_named(written: bytes) -> None:
    with pytest.raises(InvalidRequestError) as seen:
        path_id(b"/documents/" + written, "documents/{*id}")
    assert [problem.field for problem in seen.value.problems] == ["id"]


@pytest.mark.parametrize("path", [b"/documents", b"/chunks/a", b"/%64ocuments/a"])
def test_a_path_of_another_route_is_not_found(path: bytes) -> None:
    with pytest.raises(NotFoundError):
        path_id(path, "documents/{*id}")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        (b"limit=0", "limit"),
        (b"limit=201", "limit"),
        (b"limit=1.0", "limit"),
        (b"limit=%D9%A1", "limit"),
        (b"limit=99999999999999999999999", "limit"),
        (b"limit=1&limit=1", "limit"),
        (b"level=x", "level"),
        (b"project_id=", "project_id"),
        (b"project_id=" + b"x" * 129, "project_id"),
        (b"project_id=a&project_id=b", "project_id"),
        (b"project_id=%00", "project_id"),
        (b"Limit=5", "Limit"),
        (b"skip=5", "skip"),
        (b"cursor=a&cursor=b", "cursor"),
        (b"%ff=1", "query"),
        (b"=1", ""),
        (b"a;limit=1", "a;limit"),
    ],
)
def test_what_is_wrong_is_named(query: bytes, field: str) -> None:
    assert list(problems(query)) == [field]


def test_all_that_is_wrong_is_named_at_once_but_no_book_of_it() -> None:
    assert problems(b"limit=201")["limit"] == "must be a whole number from 1 to 200"
    assert problems(b"level=-1")["level"] == "must be a whole number from 0 to 999999"
    assert set(problems(b"limit=x&level=y&project_id=")) == {"limit", "level", "project_id"}
    assert len(problems(b"&".join(b"n%d=1" % n for n in range(1000)))) == 32
    assert all(len(name) <= 101 for name in problems(b"x" * 5000 + b"=1"))


def test_what_is_given_is_read() -> None:
    query = b"project_id=a+b%2Bc%2520&limit=7&level=0&cursor=x&code=k&clientId=d"
    read = parse_query(query, Every)
    assert (read.project_id, read.limit, read.level, read.cursor) == ("a b+c%20", 7, 0, "x")


@pytest.mark.parametrize("query", ["project_id=é".encode(), b"project_id=%C3%A9"])
def test_text_may_be_percent_encoded_or_not(query: bytes) -> None:
    assert parse_query(query, Every).project_id == "é"


@pytest.mark.parametrize(("kind", "limit"), [(PageParameters, 50), (CommunityParameters, 20)])
def test_what_is_not_given_has_its_default(kind: type[PageParameters], limit: int) -> None:
    read = parse_query(b"", kind)
    assert (read.limit, read.cursor) == (limit, None)


NAMES = st.sampled_from([b"limit", b"level", b"cursor", b"x"])
VALUES = st.integers(-1, 3).map(b"%d".__mod__) | st.binary(max_size=9)
PAIRS = st.lists(st.tuples(NAMES, VALUES).map(b"=".join), max_size=3).map(b"&".join)


@given(query=PAIRS | st.binary(max_size=200))
def test_any_query_is_read_within_its_bounds_or_refused(query: bytes) -> None:
    with suppress(InvalidRequestError):
        read = parse_query(query, Every)
        assert 1 <= read.limit <= 200
        assert 0 <= (read.level or 0) <= 999_999

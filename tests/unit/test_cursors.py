"""A cursor is of one list, and whatever happened to it on its way is seen."""

import base64
import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.core.errors import InvalidRequestError
from drift.http.cursors import KEY, NUMBER, TEXT, ListName, cursor, position

DOCUMENTS = ListName("documents", "mine", (KEY,))
CHUNKS = ListName("document", "mine", (NUMBER, TEXT), "d1")

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
NUMBERS = st.integers(-(2**63) + 1, 2**63 - 1)
KEYS = TEXTS | NUMBERS | st.floats(allow_nan=False, allow_infinity=False)


def refused(of: ListName, given: str) -> bool:
    with pytest.raises(InvalidRequestError) as seen:
        position(of, given)
    return [problem.field for problem in seen.value.problems] == ["cursor"]


@given(key=KEYS, project=TEXTS)
def test_a_position_comes_back_as_it_was(key: str | float, project: str) -> None:
    of = ListName("documents", project, (KEY,))
    word = cursor(of, (key,))
    assert word
    assert word.replace("-", "").replace("_", "").isalnum()
    assert position(of, word) == (key,)
    assert type(position(of, word)[0]) is type(key)


def test_the_end_of_a_list_has_no_cursor() -> None:
    assert cursor(DOCUMENTS, None) is None


@pytest.mark.parametrize(
    "other",
    [
        ListName("documents", "other", (KEY,)),
        ListName("documents", "mine ", (KEY,)),
        ListName("communities", "mine", (KEY,)),
        ListName("documents", "mine", (KEY,), "level 1"),
    ],
)
def test_a_cursor_of_another_list_is_refused(other: ListName) -> None:
    assert refused(other, cursor(DOCUMENTS, ("d7",)) or "")


@given(data=st.data())
def test_a_changed_cursor_is_refused(data: st.DataObject) -> None:
    word = cursor(DOCUMENTS, ("d7",)) or ""
    place = data.draw(st.integers(0, len(word) - 1))
    other = data.draw(st.sampled_from("abcXYZ019-_").filter(lambda c: c != word[place]))
    assert refused(DOCUMENTS, word[:place] + other + word[place + 1 :])


@pytest.mark.parametrize("cut", [0, 5, -1])
def test_a_cut_cursor_is_refused(cut: int) -> None:
    assert refused(DOCUMENTS, (cursor(DOCUMENTS, ("d7",)) or "")[:cut])


@given(junk=TEXTS)
def test_what_is_no_cursor_is_refused(junk: str) -> None:
    assert refused(DOCUMENTS, junk)


@pytest.mark.parametrize("more", ["=", "\n", "A", "\u0661"])
def test_nothing_may_be_added(more: str) -> None:
    assert refused(DOCUMENTS, (cursor(DOCUMENTS, ("d7",)) or "") + more)


@pytest.mark.parametrize(
    "made_up", [["documents", "mine", "", ["d7"]], {"route": "documents"}, None]
)
def test_one_that_is_made_up_is_refused(made_up: object) -> None:
    body = json.dumps(made_up).encode()
    assert refused(DOCUMENTS, base64.urlsafe_b64encode(body).decode().rstrip("="))
    assert refused(DOCUMENTS, base64.urlsafe_b64encode(b"\0" * 12 + body).decode().rstrip("="))


@pytest.mark.parametrize("place", [(), (1, "k", 2), (True, "k"), (1.0, "k"), (2**63, "k")])
def test_a_position_of_other_types_is_refused(place: tuple[object, ...]) -> None:
    assert position(CHUNKS, cursor(CHUNKS, (3, "k")) or "") == (3, "k")
    assert refused(CHUNKS, cursor(CHUNKS, place) or "")


def test_an_endless_one_is_refused_unread() -> None:
    assert refused(DOCUMENTS, "A" * 1_000_000)
    assert refused(DOCUMENTS, base64.urlsafe_b64encode(b"\0" * 12 + b"[" * 6000).decode())


ANY_TEXT = st.text(max_size=20) | st.just("\ud83d") | st.text(st.characters(categories=["Cs"]))
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | ANY_TEXT,
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(ANY_TEXT, parts, max_size=2),
    max_leaves=8,
)


def forged(body: bytes) -> str:
    """Return a cursor with a right check: it has no secret, so anybody can make one."""
    check = hashlib.sha256(b"drift cursor 1\n" + body).digest()[:12]
    return base64.urlsafe_b64encode(check + body).rstrip(b"=").decode()


def test_a_forged_cursor_that_is_as_we_write_it_is_read() -> None:
    assert position(DOCUMENTS, forged(b'["documents","mine","",["d7"]]')) == ("d7",)


@pytest.mark.parametrize(
    "body",
    [
        rb'["documents","mine","",["\ud83d"]]',
        b'["documents","mine","",["\xed\xa0\xbd"]]',
        rb'["documents","mine","",["\u0064"]]',
        b'["documents","mine","",[1e999]]',
        b'["documents","mine","",[' + b"9" * 5000 + b"]]",
        b'["documents","mine","",' + b"[" * 3000 + b"]" * 3000 + b"]",
        b'["documents","mine","",{"0":"d7"}]',
    ],
)
def test_one_that_we_could_not_have_written_is_refused(body: bytes) -> None:
    assert refused(DOCUMENTS, forged(body))


@given(said=ANY_JSON | st.tuples(st.just("documents"), st.just("mine"), st.just(""), ANY_JSON))
def test_whatever_a_forged_cursor_says_is_a_position_or_refused(said: object) -> None:
    for text in (json.dumps(said), json.dumps(said, separators=(",", ":"))):
        try:
            place = position(DOCUMENTS, forged(text.encode()))
        except InvalidRequestError:
            continue
        assert cursor(DOCUMENTS, place) == forged(text.encode())


@given(junk=st.binary(max_size=200))
def test_whatever_bytes_a_forged_cursor_holds_it_is_refused(junk: bytes) -> None:
    assert refused(DOCUMENTS, forged(junk))

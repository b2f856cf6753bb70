"""Which addresses of documents a citation shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.core.source_uri import MOST_CHARACTERS, below, first_shown, is_shown


@pytest.mark.parametrize(
    "text",
    [
        "https://docs.example.com/manual/with.html",
        "HTTPS://example.com/a?page=2#part",
        "abfss://container@account.dfs.core.windows.net/b.pdf",
    ],
)
def test_an_address_that_another_machine_can_follow_is_shown(text: str) -> None:
    assert is_shown(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "manual.md",
        "C:\\manuals\\a.md",
        "file:///home/somebody/manual.md",
        "https:manual",
        "http://[",
        "javascript://%0aalert(1)",
        "data:text/html,<b>",
        "https://somebody:word@example.com/a",
        "https://token@example.com/a",
        "abfss://container:word@account.dfs.core.windows.net/b.pdf",
        "https://store.example.com/a.pdf?sv=2026&sig=abc",
        "https://bucket.example.com/a.pdf?X-Amz-Signature=abc",
        "https://example.com/a b",
        "https://example.com/\x1b[2J",
        "https://example.com/" + "a" * MOST_CHARACTERS,
    ],
)
def test_a_path_a_secret_and_what_runs_are_not_shown(text: str) -> None:
    assert not is_shown(text)


@given(st.lists(st.none() | st.integers() | st.text() | st.lists(st.integers()), max_size=4))
def test_whatever_is_stored_the_first_address_is_taken_or_none(stored: list[object]) -> None:
    assert first_shown(stored) == next(
        (s for s in stored if isinstance(s, str) and is_shown(s)), ""
    )
    assert first_shown([*stored, "https://a.example"]) in {*map(str, stored), "https://a.example"}


@pytest.mark.parametrize("prefix", ["https://docs.example.com/m", "https://docs.example.com/m/"])
def test_a_documents_address_is_its_path_behind_that_of_its_source(prefix: str) -> None:
    assert below(prefix, "a b/ä?.md") == "https://docs.example.com/m/a%20b/%C3%A4%3F.md"
    assert is_shown(below(prefix, "a b/ä?.md"))
    assert not below("", "a.md")

"""Words of a model that are made to cost much, or to break what reads them."""

from __future__ import annotations

import pytest

from drift.llm.growing import GrowingText, ListenerError, whole_characters


@pytest.mark.parametrize("size", [7])
def test_a_long_reply_is_looked_at_seldom_and_is_read_to_its_end(size: int) -> None:
    heard: list[int] = []
    growing = GrowingText(lambda text: heard.append(len(text)))
    reply = "He knew it [1]. " * 11_875
    for at in range(0, len(reply), size):
        growing.add(reply[at : at + size])

    assert len([length for length in heard if length >= 1_000]) <= 200
    assert growing.text == reply


def test_halves_of_a_character_are_joined_and_a_lone_half_can_be_written() -> None:
    heard: list[str] = []
    growing = GrowingText(heard.append)
    for piece in ("a\ud83d", "\ude00 b", "\ud83d", " c\ude00"):
        growing.add(piece)

    whole = "a\U0001f600 b\ufffd c\ufffd"
    assert all(whole.startswith(text) for text in heard)
    assert whole_characters(growing.text) == whole


def test_a_listener_that_fails_is_not_told_as_the_fault_of_the_server() -> None:
    def fails(_: str) -> None:
        raise ValueError

    with pytest.raises(ListenerError):
        GrowingText(fails).add("a")

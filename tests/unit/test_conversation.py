"""What of a conversation becomes the history of a question."""

from __future__ import annotations

from typing import Any

import pytest

from drift.contracts.chat_completions import CompletionRequest
from drift.contracts.conversation import MAX_MESSAGE_CHARACTERS, newest
from drift.contracts.request import (
    MAX_HISTORY_CHARACTERS,
    MAX_MESSAGES,
    RetrieveRequest,
)
from drift.integrations.chat_completions import question_of
from tests.fakes import request


def test_the_newest_messages_that_fit_are_kept_in_their_order() -> None:
    many = newest([("user", f"number {n}") for n in range(50)])
    assert [one.content for one in many] == [f"number {n}" for n in range(30, 50)]

    long = newest([("user", f"{n}{'x' * 10_000}") for n in range(9)])
    assert [one.content[0] for one in long] == ["5", "6", "7", "8"]
    assert {len(one.content) for one in long} == {MAX_MESSAGE_CHARACTERS}


@pytest.mark.parametrize("words", ["a\0b", "\ud800", "", " ", "\0"])
def test_what_no_request_may_carry_is_left_out(words: str) -> None:
    kept = newest([("user", "Who?"), ("assistant", words)])
    assert RetrieveRequest(query="q", history=kept).history[0].content == "Who?"
    assert all(one.content.strip() for one in kept)


def said(*messages: Any) -> RetrieveRequest:
    """Return what a chat program's conversation asks."""
    return question_of(CompletionRequest.model_validate({"model": "m", "messages": list(messages)}))


def message(role: Any, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def test_a_chat_programs_earlier_messages_are_the_history_and_its_last_is_the_question() -> None:
    template = "<context>\nA lamp.\n</context>\n\n<user_query>\nWho keeps it?\n</user_query>"
    asked = said(
        message("system", "Be brief."),
        message("user", template),
        message("assistant", "Ann."),
        message("developer", "Be kind."),
        message("tool", "42"),
        message("user", [{"type": "text", "text": "And"}, {"type": "image_url"}, {"text": "why?"}]),
        message("assistant", None),
        message("user", "Since when?"),
        message("assistant", "Sin"),
    )
    assert asked.query == "Since when?"
    assert "query" in asked.include
    assert [(one.role, one.content) for one in asked.history] == [
        ("user", "Who keeps it?"),
        ("assistant", "Ann."),
        ("user", "And\nwhy?"),
    ]


@pytest.mark.parametrize(
    "before",
    [
        [message("user", "x" * 5_000_000)],
        [message("user", "x"), message("assistant", "y")] * 20_000,
        ["x", 7, None, message(["user"], "x"), message("user", {"text": "x"}), {"role": "user"}],
        [message("assistant", [None, 7, {"text": 7}, {"text": ["x"]}])],
        [message("user", "\0\ud800")],
    ],
    ids=["long", "many", "no messages", "no texts", "no characters"],
)
def test_no_conversation_before_a_question_is_refused(before: list[Any]) -> None:
    asked = said(*before, message("user", "Who?"))
    assert asked.query == "Who?"
    assert ("query" in asked.include) == bool(asked.history)
    assert len(asked.history) <= MAX_MESSAGES
    assert sum(len(one.content) for one in asked.history) <= MAX_HISTORY_CHARACTERS


def test_an_answer_is_kept_for_its_conversation_alone() -> None:
    known = {
        request("And when?", history=newest(before)).remembered_by.model_dump_json()
        for before in ([], [("user", "Who?")], [("assistant", "Who?")], [("user", "Where?")])
    }
    assert len(known) == 4

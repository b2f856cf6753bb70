"""A reply that was to be plain text, in all the wrappings that models put around it."""

from __future__ import annotations

import time

import httpx2
import pytest

from drift.core.deadline import Deadline
from drift.core.errors import UnusableReplyError
from drift.core.plain_words import in_plain_words, shown_in_plain_words
from drift.model.calls import Prompt
from tests.unit.test_reply_cases import chat_of, events

SAID = "It is so [Node 1]."
QUESTION = Prompt("rag_answer", "Answer.", "Is it so?")

WRAPPED = [
    f'"{SAID}"',
    f"“{SAID}”",
    f'{{"text": "{SAID}"}}',
    f'{{"Answer": "{SAID}", "confidence": 0.9}}',
    f"{{'answer': '{SAID}', 'sources': [1,],}}",
    f'{{"response": {{"message": {{"content": "{SAID}"}}}}}}',
    f'[{{"type": "text", "text": "{SAID}"}}]',
    f'"{{\\"answer\\": \\"{SAID}\\"}}"',
    f'```json\n{{"answer": "{SAID}"}}\n```',
    f"```\n{SAID}\n```",
    f"```markdown\n{SAID}\n```",
    f'<tool_call>\n{{"name": "reply", "arguments": {{"text": "{SAID}"}}}}\n</tool_call>',
    f"<tool_call><function=reply><parameter=text>\n{SAID}\n</parameter></function></tool_call>",
    f'<function_call>{{"answer": "{SAID}"}}',
    f'[TOOL_CALLS][{{"name": "reply", "arguments": {{"answer": "{SAID}"}}}}]',
    f'functools[{{"name": "reply", "arguments": "{{\\"answer\\": \\"{SAID}\\"}}"}}]',
    f'Sure! {{"text": "{SAID}"}}',
    f'Here it is:\n```json\n{{"answer": "{SAID}"}}\n```',
    f'{{"text": "{SAID}"}} I hope this helps!',
]


@pytest.mark.parametrize("reply", WRAPPED)
def test_what_is_said_is_taken_out_of_what_it_is_wrapped_in(reply: str) -> None:
    assert in_plain_words(reply) == SAID


@pytest.mark.parametrize(
    "reply",
    [
        SAID,
        '"A" and "B" are texts [Node 1].',
        '"Never," she said [Node 1].',
        '{"a": 1} is a dict, {"b": 2} another [Node 1].',
        "{x | x > 0} is a set [Node 1].",
        "[Node 1] says so.",
        "`{'a': 1}` is a dict.",
        "<b>Yes</b>, it is.",
        "```python\nprint(1)\n```\nPrint it so [Node 1].",
        "Function calls are expressions.",
    ],
)
def test_prose_stays_as_it_is(reply: str) -> None:
    assert in_plain_words(reply) == reply


@pytest.mark.parametrize(
    "reply",
    [
        '{"text": "It is',
        '"{\\"answer\\": \\"It is',
        '{"foo": 1, "bar": "x"}',
        '{"error": "overloaded"}',
        '{"answer": null}',
        '<tool_call>{"name": "search", "arguments": {"query": "x"}}</tool_call>',
        '{"answer": "It is so"}{"answer": "It is not"}',
        "null",
        '""',
    ],
)
def test_what_says_nothing_is_empty(reply: str) -> None:
    assert in_plain_words(reply) == ""


@pytest.mark.parametrize("reply", WRAPPED[:-3])
async def test_no_wrapping_is_told_to_people_while_it_grows(reply: str) -> None:
    heard: list[str] = []

    def answer(_: httpx2.Request) -> httpx2.Response:
        body = b"".join(events({"message": {"content": reply}}))
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)

    async with chat_of(answer) as chat:
        told = await chat.complete(QUESTION, Deadline.after(20), heard.append)
    assert (told.text, set(heard)) == (SAID, {SAID})


def test_prose_is_told_while_it_grows() -> None:
    for begun in ("It is", '"Never," she', "[Node 1] says", "`x` is", "<b>Yes</b>"):
        assert shown_in_plain_words(begun) == begun


async def test_a_call_of_a_tool_in_place_of_an_answer_is_worth_asking_again() -> None:
    call = '<tool_call>{"name": "search", "arguments": {"query": "x"}}</tool_call>'
    async with chat_of(
        lambda _: httpx2.Response(200, json={"choices": [{"message": {"content": call}}]})
    ) as chat:
        with pytest.raises(UnusableReplyError, match="empty"):
            await chat.complete(QUESTION, Deadline.after(20))
        alone = Prompt("chat", "Talk.", "Give me a call.")
        assert (await chat.complete(alone, Deadline.after(20))).text == call


@pytest.mark.parametrize("piece", ['{"a":', "<tool_call>", '\\"', "```\n", "“", '[{"', "{'a"])
def test_reading_is_linear(piece: str) -> None:
    begun = time.process_time()
    for text in (piece * 20_000, f'"{piece * 20_000}'):
        in_plain_words(text)
        shown_in_plain_words(text)
    assert time.process_time() - begun < 5

"""Pure: the prompt for a question in its conversation, within a bound of tokens."""

from __future__ import annotations

from collections.abc import Sequence

from drift.contracts.request import HistoryMessage
from drift.model.calls import Prompt
from drift.prompting import prompts
from drift.prompting.budget import cost_of, cut_question
from drift.prompting.markup import element, plain
from drift.prompting.tokens import cut_to, most_tokens

_OF_A_MESSAGE = 500
_OF_ALL = 3000
"""Tokens of messages: what a question refers to was said a short while ago."""


def standalone(question: str, history: Sequence[HistoryMessage], most: int) -> Prompt | None:
    """Return the prompt, with the newest messages that fit; None where nothing is to be asked.

    That is where nothing was said before, and where the question is too long to be repeated whole:
    one of so many words refers to nothing.
    """
    said: list[str] = []
    room = min(_OF_ALL, most - cost_of(prompts.standalone(question, said)))
    for message in reversed(history):
        if not message.content.strip():
            continue
        words = cut_to(plain(message.content.strip()), _OF_A_MESSAGE)
        written = element("said", words, by=message.role)
        room -= most_tokens(written)
        if room < 0:
            break
        said.insert(0, written)

    if not said or cut_question(question, most) != question:
        return None
    return prompts.standalone(question, said)

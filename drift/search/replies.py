"""Asking the model for a reply of a shape; one that does not fit is asked for once more."""

from __future__ import annotations

import re
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from drift.core.errors import UnusableReplyError
from drift.model.calls import Hear, Prompt
from drift.prompting.prompts import corrected
from drift.search.calls import ChatCalls

R = TypeVar("R", bound=BaseModel)

WORTH_ASKING_AGAIN = frozenset({"length", "empty"})
"""Reasons for which a second try may help; a refusal or a content filter would stay the same."""

_FENCED = re.compile(r"```\w*[ \t]*\n(.*?)```", re.DOTALL)


async def ask(chat: ChatCalls, prompt: Prompt, shape: type[R], hear: Hear | None = None) -> R:
    """Return the model's reply as `shape`; one that does not fit is asked for again, with why.

    `hear` is told of the first reply as it grows, and then of the second.

    Raises:
        UnusableReplyError: when the second reply does not fit either, or the model refuses.
        ModelUnavailableError, ModelMisconfiguredError: from the model.
    """
    try:
        reply = await chat.complete(prompt, hear)
        return parse(reply.text, shape)
    except _MisfitError as misfit:
        again = corrected(prompt, misfit.reply, misfit.problem)
    except UnusableReplyError as unusable:
        if unusable.detail not in WORTH_ASKING_AGAIN:
            raise
        again = corrected(prompt, "", f"it was unusable ({unusable.detail}); be shorter")

    reply = await chat.complete(again, hear)
    return parse(reply.text, shape)


class _MisfitError(UnusableReplyError):
    """A reply that is not JSON of the asked shape."""

    def __init__(self, reply: str, problem: str) -> None:
        super().__init__("not of the asked shape")
        self.reply = reply
        self.problem = problem


def parse(text: str, shape: type[R]) -> R:
    """Return a reply's text as `shape`; the JSON may stand in a fence or between other words.

    Raises:
        UnusableReplyError: when it holds no JSON of that shape; nothing is patched into it.
    """
    problem = "it holds no JSON"
    for candidate in _candidates(text):
        try:
            value = from_json(candidate)
        except ValueError as error:
            problem = f"it is not valid JSON: {error}"
            continue
        try:
            return shape.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            problem = (
                f"{'.'.join(str(part) for part in first['loc']) or 'the whole'}: {first['msg']}"
            )

    raise _MisfitError(text, problem)


def _candidates(text: str) -> list[str]:
    """Return the places where the JSON may stand, most literal first."""
    found = [text.strip(), *(match.strip() for match in _FENCED.findall(text))]
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        found.append(text[start : end + 1])
    return [candidate for candidate in dict.fromkeys(found) if candidate[:1] in {"{", "["}]

"""Settings that may differ from step to step: one value, or `primer=low,aggregation=medium`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from drift.llm.options import EFFORTS, STEPS, UNSENT, Effort, Step

T = TypeVar("T")

LEAST_TOKENS = 16
MOST_TOKENS = 1_000_000

_FORM = f"for all steps, or step=value with commas between, the steps being {', '.join(STEPS)}"
_EFFORTS = f"must be one of {', '.join((*EFFORTS, UNSENT))} {_FORM}"
_LENGTHS = f"must be a number from {LEAST_TOKENS} to {MOST_TOKENS}, or {UNSENT}, {_FORM}"


def efforts(text: str | None) -> Mapping[Step, Effort | None]:
    """Return the effort of each step that the text names; None for `unsent`.

    Raises:
        ValueError: saying what was expected, without the text.
    """
    return _per_step(text, _effort, _EFFORTS)


def lengths(text: str | None) -> Mapping[Step, int | None]:
    """Return the longest reply of each step that the text names, in tokens; None for `unsent`.

    Raises:
        ValueError: saying what was expected, without the text.
    """
    return _per_step(text, _length, _LENGTHS)


def _effort(text: str) -> Effort | None:
    if text == UNSENT:
        return None
    return next(effort for effort in EFFORTS if effort == text)


def _length(text: str) -> int | None:
    if text == UNSENT:
        return None
    number = int(text)
    if not (text.isascii() and text.isdigit() and LEAST_TOKENS <= number <= MOST_TOKENS):
        raise ValueError
    return number


def _per_step(text: str | None, read: Callable[[str], T], expected: str) -> Mapping[Step, T]:
    if text is None:
        return {}

    given: dict[Step, T] = {}
    steps: dict[str, Step] = {step: step for step in STEPS}
    try:
        if "=" not in text:
            return dict.fromkeys(STEPS, read(text.strip().lower()))
        for part in text.split(","):
            name, value = (piece.strip().lower() for piece in part.split("="))
            step = steps.pop(name)  # so that none is named twice
            given[step] = read(value)
    except (ValueError, KeyError, StopIteration):
        raise ValueError(expected) from None

    return given

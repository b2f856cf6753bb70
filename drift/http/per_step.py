"""Settings that may differ from step to step: one value, or `primer=low,aggregation=medium`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from drift.llm.options import EFFORTS, STEPS, UNSENT, Effort, Step

T = TypeVar("T")

LEAST_TOKENS, MOST_TOKENS = 16, 1_000_000
_KNOWN: Mapping[str, Effort | None] = {**dict(zip(EFFORTS, EFFORTS, strict=True)), UNSENT: None}


def efforts(text: str | None) -> Mapping[Step, Effort | None]:
    """Return the effort of each step that the text names, None for `unsent`; or ValueError."""
    return _per_step(text, _KNOWN.__getitem__, f"one of {', '.join(_KNOWN)}")


def lengths(text: str | None) -> Mapping[Step, int | None]:
    """Return the longest reply of each step that the text names, in tokens; None for `unsent`."""
    bounds = f"a number from {LEAST_TOKENS} to {MOST_TOKENS}, or {UNSENT},"
    return _per_step(text, _length, bounds)


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
            given[steps.pop(name)] = read(value)  # so that none is named twice
    except (ValueError, KeyError):
        raise ValueError(
            f"must be {expected} for all steps, or step=value with commas between, the steps being "
            f"{', '.join(STEPS)}"
        ) from None

    return given

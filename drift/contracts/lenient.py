"""Values that a model wrote, read leniently where their meaning is plain.

Each function is a validator: what it cannot read, it returns unchanged for pydantic to refuse.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pydantic import AfterValidator, BeforeValidator

from drift.core.logs import log

MOST_NUMBERS = 50
_WORDS_AS_SCORE = {
    "very high": 0.95,
    "high": 0.9,
    "medium": 0.5,
    "moderate": 0.5,
    "low": 0.2,
    "very low": 0.1,
    "none": 0.0,
}


def text(value: object) -> object:
    """Read null as nothing said, and a number or a list of sentences as text."""
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return " ".join(value)

    return value


def identifier(value: object) -> object:
    """Read a number as an id."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def score(value: object) -> object:
    """Read `"high"`, `"85 %"`, null and 85 where 0.85 was meant; values above 1 are percentages."""
    if value is None:
        return 0.0

    if isinstance(value, str):
        word = value.strip().lower()
        if word in _WORDS_AS_SCORE:
            return _WORDS_AS_SCORE[word]

        try:
            value = float(word.removesuffix("%").strip())
        except ValueError:
            return value

        if word.endswith("%"):
            return min(1.0, max(0.0, value / 100))

    if isinstance(value, int | float) and not isinstance(value, bool):
        # A percentage is bounded before it is divided: an integer may be too large for that.
        share = min(value, 100) / 100 if value > 1 else value
        return min(1.0, max(0.0, share))

    return value


def judgement(value: object) -> object:
    """Read a verdict in other words; of two the weaker counts; what says none is partly.

    So a reply without a verdict is neither trusted nor lost.
    """
    verdicts = {
        "answered": ("answered", "complete", "full", "fully", "yes"),
        "partly": ("partly", "partial", "partially", "incomplete", "in part"),
        "not_found": (
            *("not found", "unanswered", "unanswerable"),
            *("missing", "none", "no", "unknown"),
        ),
    }
    if value is None:
        return "partly"

    parts = value if isinstance(value, list) else re.split(r"[,;/|]", str(value))
    said = {re.sub(r"[\s_-]+", " ", str(part)).strip(" .\"'").casefold() for part in parts}
    for known in ("not_found", "partly", "answered"):
        if said & set(verdicts[known]):
            return known

    return "partly"


def numbers(value: object) -> str:
    """Read 4, [4, 5] and {"from": 4, "to": 5} as the text of the numbers; none is empty."""
    if isinstance(value, dict):
        known = ("from", "start", "first", "to", "end", "last")
        ends = [value[name] for name in known if name in value]
        return "-".join(_number(end) for end in ends or list(value.values())[:MOST_NUMBERS])
    if isinstance(value, list):
        return ",".join(numbers(item) for item in value[:MOST_NUMBERS])
    return _number(value)


def _number(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(min(max(value, 0), 999_999))
    return str(value) if isinstance(value, str | float) else ""


def only_text(value: object) -> str:
    """Read a text; all else says nothing."""
    return value if isinstance(value, str) else ""


def position(value: object) -> str:
    """Read `beginning`, `end`, `before` or `after`; all else is no position."""
    word = only_text(value).strip().casefold()
    return word if word in {"beginning", "end", "before", "after"} else ""


def yes(value: object) -> bool:
    """Read a plain yes, in a few ways to write it; all else is no."""
    if isinstance(value, str):
        return value.strip().casefold() in {"true", "yes", "1"}
    return value == 1


def listed(value: object) -> object:
    """Read null as an empty list and a single item as a list of one."""
    if value is None:
        return []
    return [value] if isinstance(value, str | int | dict) else value


def without_nulls(value: object) -> object:
    """Read a list as `listed` does, without the items that are null."""
    return _filtered(value, lambda item: item is not None)


def questions(value: object) -> object:
    """Read a list as `listed` does, without the items that hold no question."""
    return _filtered(value, _holds_a_question)


def _filtered(value: object, is_kept: Callable[[object], bool]) -> object:
    items = listed(value)
    return list(filter(is_kept, items)) if isinstance(items, list) else items


def _holds_a_question(item: object) -> bool:
    question = item.get("question") if isinstance(item, dict) else item
    return bool(question.strip()) if isinstance(question, str) else question is not None


def at_most(characters: int) -> AfterValidator:
    """Cut a text to so many characters."""
    return AfterValidator(lambda text: text[:characters].rstrip())


def first(most: int) -> BeforeValidator:
    """Cut a list to its first items, before the others are looked at."""
    return BeforeValidator(lambda items: items[:most] if isinstance(items, list) else items)


def citation(value: object) -> object:
    """Read a bare id, other names of the fields, and "K3.4"; log an id that is missing."""
    if value is None or (isinstance(value, str | int) and not isinstance(value, bool)):
        value = {"chunk_id": value}
    if not isinstance(value, dict):
        return value

    for name, other in (("words", "span"), ("sentences", "sentence")):
        if name not in value and other in value:
            value = {**value, name: value[other]}

    words = str(value.get("words"))[:80]
    given = value.get("chunk_id")
    if given is None:
        log.warning("citation_model_null_chunk_id", extra={"span": words})
        return {**value, "chunk_id": ""}

    chunk_id = str(given).strip()
    if not chunk_id:
        log.warning("citation_model_empty_chunk_id", extra={"span": words})
    if named := re.fullmatch(
        r"\W*+(K\d++)(?:[.:#]|,?\s++)(?:sentences?\s|s\.?\s?)?(\d[\d\s,\u2013-]*+)\W*+", chunk_id
    ):
        numbered = value.get("sentences") or named[2]
        return {**value, "chunk_id": named[1], "sentences": numbered}

    return {**value, "chunk_id": chunk_id}

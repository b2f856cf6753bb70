"""Pure: what stands in a column as the type that is read of it, whichever type it was stored in."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from decimal import Decimal, DecimalException
from typing import Any

MAX_NAME_CHARS = 1000
"""What an index of the graph can hold, whatever the letters."""
MOST = 2**53
"""Of a whole number: up to here it is the same wherever it is read."""


def _is_missing(value: object) -> bool:
    """Tell whether nothing is there; a float that is no number is how pandas says so."""
    return value is None or value != value or (isinstance(value, str) and not value.strip())  # noqa: PLR0124


def text(value: Any) -> str | None:  # noqa: ANN401 - as a file holds it
    """Return a cell as text, without NUL; None for a missing one."""
    told = _as_written(value)
    return told if told is None else told.replace("\0", "")


def _as_written(value: Any) -> str | None:  # noqa: ANN401 - as a file holds it
    if value is None or value != value:  # noqa: PLR0124 - see above
        return None
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, float | Decimal) and math.isfinite(value) and value == round(value):
        return f"{value:.0f}"  # a column of whole numbers in which one is missing
    return str(value)


def name(value: Any) -> str | None:  # noqa: ANN401 - as a file holds it
    """Return an id; None for a missing one. ValueError for one that no graph can be asked for."""
    told = _as_written(value)
    if told and ("\0" in told or len(told) > MAX_NAME_CHARS):
        raise ValueError
    return told


def names(value: Any) -> list[str] | None:  # noqa: ANN401 - as a file holds it
    """Return a list of ids, without missing ones; errors as for `name`."""
    return None if value is None else [one for one in map(name, value) if one is not None]


def number(value: Any) -> float | None:  # noqa: ANN401 - as a file holds it
    """Return a number, None for a missing one; ValueError for what is none, or infinite."""
    told = _decimal(value)
    if told is None:
        return None
    if not math.isfinite(read := float(told)):
        raise ValueError
    return read


def whole(value: Any) -> int | None:  # noqa: ANN401 - as a file holds it
    """Return a whole number up to 2**53, None for a missing one; ValueError for what is none."""
    told = _decimal(value)
    if told is None:
        return None
    if abs(told) > MOST or told != told.to_integral_value():  # an infinite one is greater
        raise ValueError
    return int(told)


def wholes(value: Any) -> list[int]:  # noqa: ANN401 - as a file holds it
    """Return a list of whole numbers, or one that is written as JSON; errors as for `whole`."""
    if _is_missing(value):
        return []
    listed = json.loads(value) if isinstance(value, str) else value
    if not isinstance(listed, list):
        raise ValueError  # noqa: TRY004 - one error for all that does not fit
    return [read for read in map(whole, listed) if read is not None]


def _decimal(value: Any) -> Decimal | None:  # noqa: ANN401 - as a file holds it
    if _is_missing(value):
        return None
    try:
        told = Decimal(str(value).strip())
    except DecimalException as error:
        raise ValueError from error
    return None if told.is_nan() else told


READ: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "text": ("text", text),
    "name": (f"id of at most {MAX_NAME_CHARS:,} characters without NUL", name),
    "names": ("lists of text", names),
    "number": ("number", number),
    "whole": ("whole number", whole),
    "wholes": ("list of whole numbers", wholes),
    "": ("value", lambda value: value),
}
"""How a column is read, with the words for what is expected there."""

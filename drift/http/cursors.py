"""Pure: where the next page of a list begins, as one opaque word.

A cursor names the list that it belongs to and holds a check of all that it says. It opens nothing:
whoever sends it is asked for the right on the project like anybody else, and it moves within that
project's list alone. So the check is against damage and mix-ups, and needs no secret.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from drift.core.errors import FieldProblem, InvalidRequestError
from drift.model.reading import Key, Position

_CHECK_BYTES = 12

Kinds = tuple[type, ...]


@dataclass(frozen=True, slots=True)
class ListName:
    """A list: its route, whose it is, what chose its rows, and the types in its positions."""

    route: str
    owner: str
    kinds: tuple[Kinds, ...]
    chosen: str = ""


TEXT: Kinds = (str,)
NUMBER: Kinds = (int,)
KEY: Kinds = (str, int, float)


def cursor(of: ListName, position: Position | None) -> str | None:
    """Return the cursor of a position in a list; None where the list has ended."""
    return None if position is None else _word([of.route, of.owner, of.chosen, list(position)])


def position(of: ListName, given: str) -> Position:
    """Return what a cursor of this list holds; InvalidRequestError for one that is damaged."""
    max_characters = 8192
    found = _read(given) if len(given) <= max_characters else None
    if found is None:
        raise _refused("is damaged: take `next` of the page before, as it is")

    route, owner, chosen, place = found
    if (route, owner, chosen) != (of.route, of.owner, of.chosen):
        raise _refused("is of another list: take `next` of a page of this one")
    if not _fits(place, of.kinds):
        raise _refused("is damaged: take `next` of the page before, as it is")

    return tuple(place)


def _read(given: str) -> tuple[object, object, object, list[Key]] | None:
    try:
        padded = given.encode("ascii") + b"=" * (-len(given) % 4)
        whole = base64.b64decode(padded, altchars=b"-_", validate=True)
        check, body = whole[:_CHECK_BYTES], whole[_CHECK_BYTES:]
        if check != _check(body):
            return None
        route, owner, chosen, place = json.loads(body)
        is_as_written = _word([route, owner, chosen, place]) == given
    except (ValueError, TypeError, RecursionError):  # half a character is a ValueError, too
        return None
    return (route, owner, chosen, place) if is_as_written and isinstance(place, list) else None


def _word(said: list[Any]) -> str:
    body = json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_check(body) + body).rstrip(b"=").decode()


def _fits(place: Sequence[object], kinds: Sequence[Kinds]) -> bool:
    numbers = 2**63
    return len(place) == len(kinds) and all(
        type(part) in kind and not (type(part) is int and abs(part) >= numbers)
        for part, kind in zip(place, kinds, strict=True)
    )


def _check(body: bytes) -> bytes:
    purpose = b"drift cursor 1\n"
    return hashlib.sha256(purpose + body).digest()[:_CHECK_BYTES]


def _refused(message: str) -> InvalidRequestError:
    return InvalidRequestError((FieldProblem("cursor", message),))

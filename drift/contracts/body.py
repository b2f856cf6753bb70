"""What bodies have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


def plain_text(value: str) -> str:
    """Refuse what no database, log or prompt should carry."""
    if "\x00" in value:
        raise ValueError("must not contain NUL characters")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError("must not contain lone surrogates")
    return value


def is_unknown(value: object) -> bool:
    """Tell whether a field of an answer is left out."""
    return value is None


class Body(BaseModel):
    """What a caller sends, read strictly."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

"""What bodies have in common."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict

_NO_TEXT = re.compile(r"[\x00\ud800-\udfff]")


def plain_text(value: str) -> str:
    """Refuse what no database, log or prompt should carry."""
    if found := _NO_TEXT.search(value):
        kind = "NUL characters" if found[0] == "\x00" else "lone surrogates"
        raise ValueError(f"must not contain {kind}")
    return value


def is_unknown(value: object) -> bool:
    """Tell whether a field of an answer is left out."""
    return value is None


class Body(BaseModel):
    """What a caller sends, read strictly."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

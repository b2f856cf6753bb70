"""What is said of a document beside its text, so that a filter can ask for it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

Value = str | int | float | bool

METADATA = "metadata."
"""What the properties begin with that hold metadata."""
RELATING = ("supersedes", "message-id", "in-reply-to")
"""The metadata by which documents depend on each other."""
METADATA_NAME = "[A-Za-z0-9_.-]{1,64}"
MOST_TAGS, MOST_METADATA, MOST_PLACES = 32, 16, 100


@dataclass(frozen=True, slots=True)
class Attributes:
    """What is said of a document; both times are milliseconds since 1970, and may be before it.

    `also_at` are the paths of further files with the same text, and `superseded_by` is that of a
    newer version.
    """

    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Value] = field(default_factory=dict)
    created_at: int | None = None
    updated_at: int | None = None
    title: str = ""
    also_at: tuple[str, ...] = ()
    superseded_by: str = ""

    def over(self, other: Attributes) -> Attributes:
        """Return both together: tags are joined, and of all else this one's is kept.

        What is beyond the bounds of a document is left out.
        """
        tags = dict.fromkeys((*self.tags, *other.tags))
        theirs = {n: v for n, v in other.metadata.items() if n not in self.metadata}
        return Attributes(
            tuple(tags)[:MOST_TAGS],
            dict(islice(({**self.metadata, **theirs}).items(), MOST_METADATA)),
            other.created_at if self.created_at is None else self.created_at,
            other.updated_at if self.updated_at is None else self.updated_at,
            self.title or other.title,
            self.also_at or other.also_at,
            self.superseded_by or other.superseded_by,
        )

    @property
    def digest(self) -> str:
        """What changes with any of it; empty where nothing is said."""
        hashed = hashlib.sha256(repr(self).encode()).hexdigest()[:32]
        return "" if self == NOTHING_SAID else hashed

    @property
    def properties(self) -> dict[str, Any]:
        """The properties of a document that hold it, null for what is not said."""
        metadata = {f"{METADATA}{name}": value for name, value in self.metadata.items()}
        paths = {"also_at": list(self.also_at) or None, "superseded_by": self.superseded_by or None}
        return {"tags": list(self.tags) or None, "created_at": self.created_at, **paths, **metadata}


NOTHING_SAID = Attributes()

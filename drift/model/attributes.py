"""What is said of a document beside its text, so that a filter can ask for it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

Value = str | int | float | bool

METADATA = "metadata."
"""What the properties begin with that hold metadata."""
MOST_TAGS, MOST_METADATA = 32, 16


@dataclass(frozen=True, slots=True)
class Attributes:
    """What is said of a document; both times are milliseconds since 1970, and may be before it."""

    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Value] = field(default_factory=dict)
    created_at: int | None = None
    updated_at: int | None = None
    title: str = ""

    def over(self, other: Attributes) -> Attributes:
        """Return both together: tags are joined, and of all else this one's is kept."""
        theirs = {n: v for n, v in other.metadata.items() if n not in self.metadata}
        return Attributes(
            tuple(dict.fromkeys((*self.tags, *other.tags))),
            {**self.metadata, **theirs},
            other.created_at if self.created_at is None else self.created_at,
            other.updated_at if self.updated_at is None else self.updated_at,
            self.title or other.title,
        )

    def bounded(self) -> tuple[Attributes, int]:
        """Return what a document holds of this at most, and how much of it is left out."""
        metadata = dict(islice(self.metadata.items(), MOST_METADATA))
        kept = Attributes(
            self.tags[:MOST_TAGS], metadata, self.created_at, self.updated_at, self.title
        )
        return kept, len(self.tags) + len(self.metadata) - len(kept.tags) - len(metadata)

    @property
    def digest(self) -> str:
        """What changes with any of it; empty where nothing is said."""
        if self == NOTHING_SAID:
            return ""
        told = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:32]

    @property
    def properties(self) -> dict[str, Any]:
        """The properties of a document that hold it, null for what is not said."""
        metadata = {f"{METADATA}{name}": value for name, value in self.metadata.items()}
        return {"tags": list(self.tags) or None, "created_at": self.created_at, **metadata}


NOTHING_SAID = Attributes()

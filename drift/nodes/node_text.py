"""Pure: the searchable text of a node: its title, or its name, and its description."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from drift.model.found_nodes import MOST_CHARACTERS

TITLES = ("title", "name")
DESCRIPTION = "description"


def title_of(properties: Mapping[str, object]) -> str:
    """Return the title, else the name; empty where neither is text."""
    return next(filter(None, (_text(properties.get(name)) for name in TITLES)), "")


def searchable_text(properties: Mapping[str, object]) -> str:
    """Return title and description, at most 8,000 characters; empty where one is missing."""
    title, description = title_of(properties), _text(properties.get(DESCRIPTION))
    return f"{title}\n{description}"[:MOST_CHARACTERS] if title and description else ""


def text_hash(text: str, model: str, dimensions: int) -> str:
    """Return a hash of a text and its model, stored beside the vector."""
    named = [model, dimensions, text]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""

"""Reading a prompt strictly: only its own words may stand outside its fences."""

from __future__ import annotations

import json
import re
from typing import Any

_BLOCK = re.compile(r"(?P<label>[A-Z][A-Za-z/ -]*):\n```json\n(?P<data>[^`\n]*)\n```(?:\n\n)?")
_LAST = {
    "",
    "Hypothetical answer paragraph:",
    "Reply again with valid JSON of the requested shape and nothing else.",
}


def blocks(user: str) -> dict[str, Any]:
    """Return the data of a user message by label.

    Raises:
        AssertionError: when it is anything but fenced blocks, each of one line and with a label of
            its own, and one of the known last sentences.
    """
    found: dict[str, Any] = {}
    at = 0
    while match := _BLOCK.match(user, at):
        assert match["label"] not in found, "a label comes twice"
        found[match["label"]] = json.loads(match["data"])
        at = match.end()
    assert user[at:] in _LAST, f"outside of every fence: {user[at:][:200]!r}"
    return found

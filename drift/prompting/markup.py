"""Pure: data in tags, as prompts carry it, that its own text cannot close."""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
from collections.abc import Sequence

from drift.core.folding import whole_words

TAGS = tuple(
    "question question_again communities community topics topic samples sample candidates asked"
    " followup names chunks chunk graph followups findings finding unanswered context node"
    " previous_reply problem conversation said".split()
)
"""Every tag that a prompt uses; text that looks like one of them is changed."""


def opening_of(tags: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern of the bracket of text that looks like one of these tags, linear in time."""
    return re.compile(rf"<(?=\s*+/?\s*+(?:{'|'.join(tags)})\b)", re.IGNORECASE)


_OWN_TAG = opening_of(TAGS)


def element(tag: str, content: str, **attributes: str | float | None) -> str:
    """Return content in a tag; attributes that say nothing are left out.

    `content` may hold other elements: text of a document has to go through `plain` or `on_line`.
    """
    written = ""
    for name, said in attributes.items():
        value = "" if said is None else on_line(str(said)).replace('"', "'").replace(">", "&gt;")
        if value:
            written += f' {name}="{value}"'

    if "\n" in content or content.startswith("<"):
        content = f"\n{content}\n"
    return f"<{tag}{written}>{content}</{tag}>"


def plain(text: str) -> str:
    """Return a text that holds none of the tags, with its words whole."""
    return _OWN_TAG.sub("&lt;", whole_words(text))


def on_line(text: str) -> str:
    """Return a text on one line, without any of the tags."""
    return plain(" ".join(whole_words(text).split()))


def indented(text: str) -> str:
    """Return a text whose further lines begin with spaces: none looks like a numbered one."""
    return re.sub(r"[\r\n\x0b\x0c\x85\u2028\u2029]+", "\n   ", plain(text))

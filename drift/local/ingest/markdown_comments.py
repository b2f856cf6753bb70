"""Pure: Markdown without its HTML comments, which no reader sees."""

from __future__ import annotations

import re
from bisect import bisect_right

from drift.indexing.blocks import split_blocks

_CODE = re.compile(r"\s*(?:[-*+] +)?(?:```|~~~)|(?: {4}|\t)")
_OF_A_LINE = 200
"""Characters before a comment among which code on its line may begin."""


def without_comments(text: str) -> tuple[str, str]:
    """Return Markdown without comments that stand outside of code, and how many words they have.

    Their lines stay as empty ones, so that all others keep their numbers.
    """
    at = text.find("<!--")
    if at < 0 or "-->" not in text:
        return text, ""

    blocks = [block for block in split_blocks(text, "markdown") if block.kind == "code"]
    code = [(block.start, block.end) for block in blocks if _CODE.match(text, block.start)]
    parts: list[str] = []
    done = left_out = 0
    while at >= 0:
        place = bisect_right(code, (at, len(text))) - 1
        before = text[max(done, at - _OF_A_LINE) : at].rpartition("\n")[2]
        if (place >= 0 and at < code[place][1]) or before.count("`") % 2:
            at = text.find("<!--", at + 4)
            continue
        end = text.find("-->", at + 2)
        if end < 0:
            break
        left_out += len(text[at + 4 : end].split())
        parts += [text[done:at], "\n" * text.count("\n", at, end)]
        done = end + 3
        at = text.find("<!--", done)

    note = f"its comments of {left_out:,} words are not read" if left_out else ""
    return "".join(parts) + text[done:], note

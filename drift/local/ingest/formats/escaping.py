"""Pure: words and code of others as Markdown in which they stay words and code."""

from __future__ import annotations

import re

_MARK = re.compile(
    r"^( {0,3})(?=#{1,6}(?:[ \t]|$)|```|~~~|=+[ \t]*$|(?:-[ \t]*)+$|(?:[*_][ \t]*){3,}$"
    r"|<(?:[!?]|(?i:pre|script|style|textarea)\b))",
    re.MULTILINE,
)
"""A line that Markdown takes for a heading, the line below one, a fence, a rule, or the beginning
of HTML that goes on over empty lines."""

_FENCE_RUN = re.compile(r"`{3,}")
_LANGUAGE = re.compile(r"[\w+#.-]*")


def escaped(text: str) -> str:
    """Return a text that is no Markdown with a backslash before what looks like it.

    That is what begins a line and would change how other lines are read: signs within a line stay.
    """
    return _MARK.sub(r"\1\\", text)


def fenced(code: str, language: str = "") -> str:
    """Return code between fences that are longer than any within it."""
    fence = "`" * max(3, 1 + max(map(len, _FENCE_RUN.findall(code)), default=0))
    name = _LANGUAGE.match(language)
    return f"{fence}{name[0] if name else ''}\n{code}\n{fence}"

"""Pure: JSON as models write it without a grammar, made the JSON that it stands for.

Comments, single quotes, commas before an end, bare names of fields and Python's words have one
meaning. Nothing is ever closed: what was cut stays unreadable. All of this is linear in the text.
"""

from __future__ import annotations

import json
import re

from pydantic_core import from_json

_TOKEN = re.compile(
    r"""
      (?P<string>  "(?:[^"\\]|\\.)*+(?:"|\\?\Z) | '(?:[^'\\]|\\.)*+(?:'|\\?\Z) | “[^”]*+(?:”|\Z) )
    | (?P<comment> //[^\n]*+ | \#[^\n]*+ | /\*.*?(?:\*/|\Z) )
    | (?P<word>    [^\W\d]\w*+ (?P<colon>\s*+:)? )
    | [-+.\d][-+.\w]*+
    """,
    re.VERBOSE | re.DOTALL,
)
"""The tokens between brackets and commas, each to its end or to that of the text."""
_ESCAPED = frozenset('"\\/bfnrtu')


def read(text: str) -> object:
    """Return the value of a text of JSON, as strict as it is or as models write it.

    Raises:
        ValueError: it is none, or was cut.
        RecursionError: its lists are too deep.
    """
    try:
        return from_json(text)
    except (ValueError, TypeError):  # the slower reader takes halves of characters, and line breaks
        pass
    try:
        return json.loads(text, strict=False)
    except ValueError:
        if text.lstrip()[:1] not in {"{", "["}:
            raise
        return json.loads(_strict(text), strict=False)


def _strict(text: str) -> str:
    """Return the same value as JSON has it; a text that is none stays none."""
    return re.sub(
        r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|,(?=\s*+[}\]])',
        lambda found: "" if found[0] == "," else found[0],
        _TOKEN.sub(_written, text),
        flags=re.DOTALL,
    )


def _written(token: re.Match[str]) -> str:
    if token["comment"]:
        return " "
    if word := token["word"]:
        colon = token["colon"] or ""
        name = word.removesuffix(colon)
        if colon:
            return f'"{name}"{colon}'
        words = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
        return words.get(name, name)
    if string := token["string"]:
        ends = {'"': '"', "'": "'", "“": "”"}[string[0]]
        if len(string) == 1 or string[-1] != ends:
            return string
        inside = re.sub(r'\\(x[0-9a-fA-F]{2}|.)|"', _escaped, string[1:-1], flags=re.DOTALL)
        return f'"{inside}"'
    return token[0]


def _escaped(found: re.Match[str]) -> str:
    """Return an escape, or a quote in a string that had others around it, as JSON has it."""
    what = found[1]
    if what is None:
        return r"\""
    if what == "'":
        return "'"
    if len(what) > 1:
        return rf"\u00{what[1:]}"
    return found[0] if what in _ESCAPED else rf"\\{what}"

"""Pure: a text as its words are compared: without signs that are there for its look alone."""

from __future__ import annotations

import re
import unicodedata

_UNSEEN = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
"""Soft hyphen, zero-width spaces and joiners."""
_LIGATURES = {
    "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl",
    "\ufb05": "st", "\ufb06": "st",
}  # fmt: skip
_FULL_WIDTH = {chr(0xFEE0 + code): chr(code) for code in range(0x21, 0x7F)}
_TABLE = str.maketrans(_LIGATURES | _FULL_WIDTH | dict.fromkeys(_UNSEEN, ""))

_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])[-\u2010][ \t]*\n\f?[ \t]*(?=[^\W\d_])")
_WORD = re.compile(r"[^\W_]+")


def as_typed(text: str) -> str:
    """Return a text with its words whole, as they are typed.

    Letters and their accents are one (NFC), ligatures and wide letters are plain ones, unseen signs
    are gone, and a word broken at the end of a line is one word where its rest begins small. Signs
    that mean something, such as raised digits, stay.
    """
    if text.isascii() and "-\n" not in text:
        return text
    plain = unicodedata.normalize("NFC", text.translate(_TABLE))
    return _BROKEN_WORD.sub(lambda broken: _rest(plain, broken), plain)


def _rest(text: str, broken: re.Match[str]) -> str:
    return "" if text[broken.end()].islower() else broken[0]


def words_as_typed(text: str) -> str:
    """Return the words of a text as they are typed that it does not hold as it is, each once."""
    plain = as_typed(text)
    if plain == text:
        return ""
    held = set(_WORD.findall(text))
    return " ".join(dict.fromkeys(word for word in _WORD.findall(plain) if word not in held))

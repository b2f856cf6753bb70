"""Pure: a text as its words are compared: without signs that are there for its look alone."""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
import unicodedata

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
"""Letters of scripts that set no space between words, as ranges of a pattern."""
_TABLE = str.maketrans(
    {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl"}
    | dict.fromkeys("\ufb05\ufb06", "st")
    | {chr(0xFEE0 + code): chr(code) for code in range(0x21, 0x7F)}
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", "")
)
"""Ligatures, letters of full width, and the soft hyphen, zero-width spaces and joiners."""
_IN_TABLE = re.compile(f"[{''.join(map(chr, _TABLE))}]")
_WORD = re.compile(r"[^\W_]+")


def as_typed(text: str) -> str:
    """Return a text with its words whole, as they are typed.

    Letters and their accents are one (NFC), ligatures and wide letters are plain ones, unseen signs
    are gone, and a word broken at the end of a line is one word where its rest begins small. Signs
    that mean something, such as raised digits, stay.
    """
    if text.isascii() and "-\n" not in text:
        return text
    # Most texts have none of these, and to translate one is slow.
    whole = text.translate(_TABLE) if _IN_TABLE.search(text) else text
    plain = unicodedata.normalize("NFC", whole)
    return re.sub(
        r"[-\u2010](?<=[^\W\d_].)[ \t]*\n\f?[ \t]*(?=[^\W\d_])",
        lambda broken: _rest(plain, broken),
        plain,
    )


def _rest(text: str, broken: re.Match[str]) -> str:
    return "" if text[broken.end()].islower() else broken[0]


_PAGE_NUMBER = (
    r"(?:(?:page|seite|p\.|s\.)?[ \t]*(?:[-\u2013][ \t]*)?\d{1,4}"
    r"(?:[ \t]*[-\u2013])?[ \t]*(?=\r?[\n\f]))"
)
_PARTED = re.compile(
    r"(?<![^\W_])(?P<head>[^\W_]++)(?P<sign>[-\u2010\u00ad])[ \t]*+(?=\r?[\n\f])"
    rf"[ \t\r\n\f]{{1,20}}(?:{_PAGE_NUMBER}[ \t\r\n\f]{{1,20}})?(?P<rest>[^\W_]+)",
    re.IGNORECASE,
)
_SUSPENDED = frozenset("and bis bzw et o oder or ou sowie to u und y".split())
_HEADS = frozenset(
    """
    all anti cross ex first fast full half hard high ill large left long low mid multi non off old
    on one part post pre right second self semi short single slow small so third two up well
    """.split()
)
"""First parts of words that are written with a hyphen."""


def whole_words(text: str, around: str = "") -> str:
    """Return a text with words whole that a line or page parts, and pages ended by a line.

    A hyphen of its own stays: that of a word which the text, or the one `around` it, writes with it
    elsewhere, of a compound (`well-known`), a name, a number, and one that stands for more (`Vor-
    und Nachteile`).
    """
    if not _PARTED.search(text):
        return text.replace("\f", "\n").replace("\u00ad", "")

    elsewhere = _PARTED.sub(" ", f"{text}\n\n{around}").casefold().replace("\u2010", "-")
    known = set(re.findall(r"[^\W_]+(?:[-\u2010][^\W_]+)*", elsewhere))
    whole = _PARTED.sub(lambda parted: _joined(parted, known), text)
    return whole.replace("\f", "\n").replace("\u00ad", "")


def parted_words(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Return where words stand that the end of a line or page parts."""
    found = _PARTED.finditer(text[start:end])
    spans = (one.span() for one in found if not one["rest"][0].isupper())
    return [(start + begins, start + ends) for begins, ends in spans]


def _joined(parted: re.Match[str], known: set[str]) -> str:
    least_rest = 4
    head, rest = parted["head"], parted["rest"]
    small_head, small = head.casefold(), rest.casefold()
    if parted["sign"] == "\u00ad":
        return head + rest
    if small in _SUSPENDED:
        return f"{head}- {rest}"

    hyphenated = f"{head}-{rest}"
    if head[-1].isdigit() or rest[0].isdigit() or len(head) == 1:
        return hyphenated
    if rest[0].isupper() and not (head.isupper() and rest.isupper()):
        return hyphenated
    if small_head + small in known:
        return head + rest
    is_compound = small_head in _HEADS or {small_head, small} <= known
    is_written = f"{small_head}-{small}" in known
    return hyphenated if is_written or (is_compound and len(rest) >= least_rest) else head + rest


def words_as_typed(text: str) -> str:
    """Return the words of a text as they are typed that it does not hold as it is, each once."""
    plain = as_typed(text)
    if plain == text:
        return ""
    held = set(_WORD.findall(text))
    return " ".join(dict.fromkeys(word for word in _WORD.findall(plain) if word not in held))

"""Pure: a text with its numbers as ASCII writes them: other digits, signs and ideographs."""

# ruff: noqa: RUF001 - signs that look like others are what is read here
from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from drift.core.folding import as_typed
from drift.evidence.figure_words import IDEOGRAPH_SCALES, IDEOGRAPH_TENS, IDEOGRAPHS

_COUNTED = frozenset(
    "年月日人円元个個台名点回度歳岁号章条份家座本件套栋棟欧美公米英天周週小時时分秒吨層层"
)


def plain(text: str) -> str:
    """Return a text with digits and signs as ASCII has them, and ideographic numbers as digits."""
    signs = str.maketrans({"−": "-", "٬": ",", "٫": ".", "’": "'", "，": ", ", "、": ", "})
    text = as_typed(text).translate(signs)
    text = re.sub(r"(?<=[\w.,%])[⁰¹²³⁴-⁹]+", "", text)
    if text.isascii():
        return text
    text = "".join(
        str(unicodedata.decimal(sign)) if sign.isdecimal() and not sign.isascii() else sign
        for sign in unicodedata.normalize("NFKC", text)
    )
    return re.sub(
        r"(?:(?<!\d)\d++(?:\.\d++)?)?[〇一二三四五六七八九零两兩十百千万萬億亿兆]+(?:\d+[万萬億亿]?)*",
        _as_digits,
        text,
    )


def _as_digits(found: re.Match[str]) -> str:
    said = found[0]
    if len(said) == 1 and found.string[found.end() : found.end() + 1] not in _COUNTED:
        return said

    total = section = 0.0
    digits = ""
    for sign in said:
        if sign.isdecimal() or sign == ".":
            digits += sign
        elif sign in IDEOGRAPHS:
            digits += str(IDEOGRAPHS[sign])
        elif sign in IDEOGRAPH_TENS:
            section += float(digits or 1) * IDEOGRAPH_TENS[sign]
            digits = ""
        else:
            total += (section + float(digits or 0) or 1) * IDEOGRAPH_SCALES[sign]
            section, digits = 0.0, ""
    return f"{total + section + float(digits or 0):.12g}"


def any_of(words: Iterable[str]) -> str:
    """Return a pattern of words, the longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))

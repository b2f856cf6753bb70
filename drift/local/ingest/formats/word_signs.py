"""Pure: the signs that elements of Word and of slides stand for."""

from __future__ import annotations

from drift.local.ingest.formats.packages import Element, number_of, said_of
from drift.local.ingest.formats.word_styles import is_on

_SIGNS = {"tab": "\t", "ptab": "\t", "cr": "\n", "noBreakHyphen": "-"}
_PRIVATE = range(0xF000, 0xF100)
_SYMBOLS = dict(
    zip(
        "ABCDEFGHIKLMNOPQRSTUWXYZabcdefghiklmnopqrstuwxyz"
        "\xa3\xa5\xb0\xb1\xb3\xb4\xb7\xb8\xb9\xbb\xae\xd6\xe5",
        "\u0391\u0392\u03a7\u0394\u0395\u03a6\u0393\u0397\u0399\u039a\u039b\u039c\u039d\u039f\u03a0"
        "\u0398\u03a1\u03a3\u03a4\u03a5\u03a9\u039e\u03a8\u0396\u03b1\u03b2\u03c7\u03b4\u03b5\u03c6"
        "\u03b3\u03b7\u03b9\u03ba\u03bb\u03bc\u03bd\u03bf\u03c0\u03b8\u03c1\u03c3\u03c4\u03c5\u03c9"
        "\u03be\u03c8\u03b6\u2264\u221e\xb0\xb1\u2265\xd7\u2022\xf7\u2260\u2248\u2192\u221a\u2211",
        strict=True,
    )
)
_DINGBATS = dict(
    zip(
        "o\xa8\xfe\xfdx\xfc\xfb\xe0\xa7\xd8",
        "\u2610\u2610\u2611\u2612\u2612\u2713\u2717\u2192\u2022\u2022",
        strict=True,
    )
)


def signs_of(one: Element, name: str) -> str:
    """Return what an element says by itself, without what is in it."""
    if name == "t":
        return one.text or ""
    if name == "br":
        return "" if said_of(one, "type") == "page" else "\n"
    if name == "sym":
        return _symbol(one)
    return _field(one) if name == "fldChar" else _SIGNS.get(name, "")


def _symbol(one: Element) -> str:
    """Return a sign that is told by its font and its place there."""
    try:
        place = int(said_of(one, "char"), 16)
    except ValueError:
        return ""
    sign, font = chr(place & 0xFF if place in _PRIVATE else place), said_of(one, "font").lower()
    if font == "symbol":
        return _SYMBOLS.get(sign) or (sign if sign.isascii() else "")
    if font.startswith("wingdings"):
        return _DINGBATS.get(sign, "")
    return sign if sign.isprintable() and place not in _PRIVATE else ""


def _field(one: Element) -> str:
    """Return what a field of a form shows that has no text of its own."""
    box = one.find("{*}ffData/{*}checkBox")
    if box is not None:
        told = box.find("{*}checked")
        return "\u2612" if is_on(box.find("{*}default") if told is None else told) else "\u2610"
    choices = one.findall("{*}ffData/{*}ddList/{*}listEntry")
    place = number_of(one.find("{*}ffData/{*}ddList/{*}result"), "val", 0, len(choices))
    return said_of(choices[place], "val") if place < len(choices) else ""

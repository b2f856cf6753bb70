"""Pure: numbers as a sheet shows them, where its format adds a sign: a percentage, a currency."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal

BUILT_IN = {9: "0%", 10: "0.00%"}
_NOT_SHOWN = re.compile(r"\[\$([^]-]*)[^]]*]|\[[^]]*]|[_*].|\\(.)|\"([^\"]*)\"|(;.*)", re.DOTALL)
_DIGITS = re.compile(r"[#0?][#0?,]*(\.[0#?]*)?")
_MOST_OF_CODE, _MOST_DECIMALS, _MOST = 255, 15, 1e12
_ELSE = re.compile(r"[a-z/@;#0?,]", re.IGNORECASE)
"""What stands outside of quotations in formats of dates, fractions, texts and parts of a number."""

Shown = Callable[[float], str]


def shown_by(code: str) -> Shown | None:
    """Return what writes numbers by a format, or None where they look as they are."""
    code = code[:_MOST_OF_CODE]
    place = _DIGITS.search(_NOT_SHOWN.sub(lambda found: "\0" * len(found[0]), code))
    if place is None or place[0].endswith(","):  # one that shows thousands
        return None
    before, behind = code[: place.start()], code[place.end() :]
    plain = _NOT_SHOWN.sub("", before + behind)
    before, behind = (_NOT_SHOWN.sub(_said, part) for part in (before, behind))
    if _ELSE.search(plain) or not (before + behind).strip(" ()-+"):
        return None

    decimals = (place[1] or ".")[1 : 1 + _MOST_DECIMALS]
    step, groups = Decimal(1).scaleb(-len(decimals)), "," if "," in place[0] else ""
    least = len(decimals.rstrip("#?"))
    power = 2 * plain.count("%")

    def shown(value: float) -> str:
        if abs(value) > _MOST:
            return str(value)
        number = Decimal(repr(value)).scaleb(power).quantize(step, ROUND_HALF_UP)
        whole, dot, part = f"{abs(number):{groups}f}".partition(".")
        part = part[:least] + part[least:].rstrip("0")
        sign = "-" if number < 0 else ""
        return f"{sign}{before.lstrip()}{whole}{dot if part else ''}{part}{behind.rstrip()}"

    return shown


def _said(found: re.Match[str]) -> str:
    return found[1] or found[2] or found[3] or ""

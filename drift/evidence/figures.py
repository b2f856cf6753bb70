"""Pure: the figures of a text, numbers and dates with their units, however they are written.

`4,850`, `4.850,00`, `4 850`, `4.85k`, `four thousand` and 四千八百 are read; the numbers of lists,
notes and pages are not. Where a writing is ambiguous, each reading counts.
"""

# ruff: noqa: RUF001 - signs that look like others are what is read here
from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from drift.core.folding import as_typed
from drift.core.stop_words import STOP_WORDS_OF_FOUR_LANGUAGES
from drift.evidence.figure_words import (
    CARDINALS,
    IDEOGRAPH_SCALES,
    IDEOGRAPH_TENS,
    IDEOGRAPHS,
    MONTHS,
    PERIODS,
    PLACES,
    SCALES,
    UNITS,
)

Date = tuple[int, int, int]
"""Year, month and day, 0 where that is not said."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number in each reading of its writing, or a date, and where it stands in the plain text.

    `kind` is what its unit measures (`money:eur`, `length`), or `date`, `time`, `version`; "" where
    it has no unit. `nouns` are words that it counts, `label` the one that it numbers. `until` ends
    a range. `precision` is how far it may be rounded, `bound` is `<`, `>`, `~` or "", and `times`
    is how often a year the amount is meant.
    """

    start: int
    end: int
    kind: str = ""
    readings: tuple[float, ...] = ()
    dates: tuple[Date, ...] = ()
    factor: float = 1.0
    nouns: tuple[str, ...] = ()
    label: str = ""
    until: float | None = None
    precision: float = 0.0
    bound: str = ""
    times: int = 0
    is_negated: bool = False
    written: str = ""


# ------------------------------------------------------------------------------------- plain text

_SIGNS = str.maketrans({"−": "-", "٬": ",", "٫": ".", "’": "'", "，": ", ", "、": ", "})
_RAISED = re.compile(r"(?<=[\w.,%])[⁰¹²³⁴-⁹]+")
_IDEOGRAPHIC = re.compile(
    r"(?:\d+(?:\.\d+)?)?[〇一二三四五六七八九零两兩十百千万萬億亿兆]+(?:\d+[万萬億亿]?)*"
)
_COUNTED = frozenset(
    "年月日人円元个個台名点回度歳岁号章条份家座本件套栋棟欧美公米英天周週小時时分秒吨層层"
)


def plain(text: str) -> str:
    """Return a text with digits and signs as ASCII has them, and ideographic numbers as digits."""
    text = _RAISED.sub("", as_typed(text).translate(_SIGNS))
    if text.isascii():
        return text
    text = "".join(
        str(unicodedata.decimal(sign)) if sign.isdecimal() and not sign.isascii() else sign
        for sign in unicodedata.normalize("NFKC", text)
    )
    return _IDEOGRAPHIC.sub(_as_digits, text)


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


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


# ------------------------------------------------------------------------------------------- dates

_MONTH = rf"(?P<month>{_any(MONTHS)})\b\.?"
_DAY = r"(?P<day>\d\d?)"
_YEAR = r"(?P<year>(?:1\d|20|21)\d\d)"
_TO = r"\s?(?:-|–|—|~|\bto\b|\band\b|\bbis\b|\bund\b|\bà\b|\bet\b|\ba\b|\by\b|から|至|到)\s?"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<![\w.]){_YEAR}([-/.])(?P<number>\d\d?)\2{_DAY}\b",
        rf"(?<![\w.])(?P<either>\d\d?)([./-])\s?(?P<other>\d\d?)\2\s?{_YEAR}\b",
        r"(?:(?P<year>\d{4})\s?[年년]\s?)?(?P<number>\d\d?)\s?[月월](?:\s?(?P<day>\d\d?)\s?[日号號일])?",
        r"(?P<year>\d{4})\s?[年년](?!間)",
        rf"(?<![\w.,]){_DAY}(?:st|nd|rd|th|er|\.|º)?\s+(?:of\s+|de\s+)?{_MONTH}"
        rf"(?:,?\s+(?:de\s+)?{_YEAR}\b)?",
        rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}(?:st|nd|rd|th)?(?!\w|[.,:]\d)(?:,?\s+{_YEAR}\b)?",
        rf"\b{_MONTH},?\s+(?:of\s+|de\s+)?{_YEAR}\b",
        rf"\b(?:in|im|en) {_MONTH}(?!\s*\d)",
        rf"(?<![\w.,:€$£¥/-]){_YEAR}{_TO}(?P<until>\d{{4}}|\d\d)\b(?!\s?%)",
        rf"(?<![\w.,:€$£¥/-]){_YEAR}(?:(?P<decade>s\b|er\b)|\b)(?![.,:/'-]\d)",
    )
)


def _date(found: re.Match[str]) -> tuple[Date, ...]:
    said = found.groupdict()
    year, day = int(said.get("year") or 0), int(said.get("day") or 0)
    if said.get("either"):
        one, other = int(said["either"]), int(said["other"])
        return tuple(
            (year, month, day) for day, month in {(one, other), (other, one)} if month <= 12
        )
    if until := said.get("until"):
        last = int(until) if len(until) == 4 else year // 100 * 100 + int(until)
        return tuple((one, 0, 0) for one in range(year, min(last, year + 100) + 1))
    if said.get("decade"):
        return tuple((one, 0, 0) for one in range(year, year + 10))
    month = MONTHS[said["month"].casefold()] if said.get("month") else int(said.get("number") or 0)
    return ((year, month, day),)


_TIME = re.compile(
    r"(?<![\w.:])(?P<hour>\d\d?)(?:[:.](?P<minute>\d\d))?\s?(?P<half>[ap])\.?m\b"
    r"|(?<![\w.:])(?P<h>\d\d?):(?P<m>\d\d)(?![\w:])",
    re.IGNORECASE,
)
_VERSION = re.compile(r"(?<![\w.])v?\d+(?:\.\d+){2,}(?!\w)|\bv\d+(?:\.\d+)*\b", re.IGNORECASE)


def _time(found: re.Match[str]) -> float:
    hour, minute = int(found["hour"] or found["h"]), int(found["minute"] or found["m"] or 0)
    if found["half"]:
        hour = hour % 12 + 12 * (found["half"] in "pP")
    return hour * 60 + minute


# ----------------------------------------------------------------------------------------- numbers

_NUMBER = re.compile(
    r"(?<![^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])(?<![^\W\d_]-)(?P<prefix>[€$£¥₹]\s?|\b(?:EUR|USD|GBP|CHF|JPY)\s?)?"
    r"(?P<digits>\d{1,3}(?:(?P<group>[ '])\d{3}(?:(?P=group)\d{3})*)(?![\d'])(?:[.,]\d+)?"
    r"|\d+(?:[.,]\d+)*)(?P<ordinal>(?:st|nd|rd|th|er|ème|e|º|ª)\b|\.(?=[ ]+[a-zäöü]))?"
)
_WORDS = re.compile(
    rf"(?<![\w-])(?:{_any(CARDINALS)})"
    rf"(?:(?:-|\s|\sand\s)(?:{_any([*CARDINALS, 'hundred', 'thousand'])})\b)*(?![\w-])",
    re.IGNORECASE,
)
_GERMAN_WORD = re.compile(
    r"\b(?:(\w+?)?tausend)?(?:(\w+?)?hundert)?(?:und)?(\w+)?\b", re.IGNORECASE
)
_SCALE = re.compile(rf"[ -]?(?:{_any(SCALES)})\b\.?|(?-i:[kKMB]\b)|[千만억]", re.IGNORECASE)
_SIGN_UNITS = [name for name in UNITS if not name.isascii() or not name.isalpha()]
_UNIT = re.compile(
    rf"[ -]?(?P<unit>{_any(_SIGN_UNITS)}|(?:{_any(set(UNITS) - set(_SIGN_UNITS))})\b)"
    r"| ?(?:°|degrees |grad ) ?(?P<degrees>[cf])(?:elsius|ahrenheit)?\b"
    r"| (?P<percent>per cent|pour cent|por ciento|v\. ?h\.)",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    rf"\s?(?:/|\b(?:per|an?|each|every|pro|je|im|par|por|al|à la|la)\s)\s?(?P<period>{_any(PERIODS)})\b",
    re.IGNORECASE,
)
_NOUNS = re.compile(r"[ -]?([^\W\d_]+)(?: ([^\W\d_]+))?")
_BEFORE = re.compile(r"([^\W\d_]+)\.? $")
_EAST = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_BOUNDS = {
    bound: re.compile(rf"(?:\b(?:{words})\s(?:the\s|a\s|of\s)?|{east})$", re.IGNORECASE)
    for bound, words, east in (
        (
            ">",
            r"(?:no|not) less than|not under|more than|over|above|exceed\w*|at least|minimum|from|since"
            r"|mindestens|mehr als|über|ab|plus de|au moins|más de|al menos",
            "至少|超过|超過",
        ),
        (
            "<",
            r"(?:no|not) more than|not over|less than|fewer than|under|below|up to|at most|maximum"
            r"|within|bis(?: zu)?|höchstens|unter|weniger als|moins de|jusqu'à|menos de|hasta",
            "最多|不到|最大",
        ),
        (
            "~",
            r"about|around|approx\.?|approximately|roughly|nearly|almost|some|circa|ca\.?|c\.|etwa|rund"
            r"|fast|knapp|ungefähr|environ|presque|unos|unas|casi",
            "約|约|大约|ほぼ",
        ),
    )
}
_BOUND_BEHIND = re.compile(
    r"\s?(?:\+|or (?:more|later|newer|above|older|over)|and (?:more|above|over)|以上|oder mehr)"
)
_BOUND_BELOW = re.compile(r"\s?(?:or (?:less|fewer|younger|under)|以下|以内|未満|oder weniger)")
_NEGATED = re.compile(
    r"(?:\b(?:not|no longer|never|nicht(?: mehr)?|kein\w*|statt|instead of|rather than|no|nunca|n't|pas|plus)"
    r"|n't)\s(?:[^\W\d]+\s){0,3}$|(?:不是|不再是?)$",
    re.IGNORECASE,
)


def figures(text: str) -> tuple[Figure, ...]:
    """Return the figures of a plain text in their order."""
    found: list[Figure] = []
    for pattern in _DATES:
        here = [one for one in pattern.finditer(text) if not _counts(text, one)]
        found += (Figure(*one.span(), "date", dates=_date(one)) for one in here)
        text = _without(text, here)
    for kind, pattern in (("time", _TIME), ("version", _VERSION)):
        here = list(pattern.finditer(text))
        found += (
            Figure(
                *one.span(),
                kind,
                (_time(one),) if kind == "time" else (),
                written=one[0].lstrip("vV"),
            )
            for one in here
        )
        text = _without(text, here)

    numbers = list(filter(None, (_number(text, one) for one in _NUMBER.finditer(text))))
    text = _without(text, _NUMBER.finditer(text))
    numbers += filter(None, (_number(text, one) for one in _WORDS.finditer(text)))
    found += _ranges(text, sorted(numbers, key=lambda one: one.start))
    return tuple(sorted(found, key=lambda one: one.start))


def _without(text: str, found: Iterable[re.Match[str]]) -> str:
    """Return a text with these places blanked out, as long as it was."""
    written, at = [], 0
    for start, end in (one.span() for one in found):
        written += [text[at:start], "\0" * (end - start)]
        at = end
    return "".join([*written, text[at:]])


def _counts(text: str, found: re.Match[str]) -> bool:
    """Tell whether what looks like a year is a number: `2000 metres`, `1,850 a month`."""
    said = found.groupdict()
    if set(said) != {"year", "decade"} or said["decade"]:
        return False
    if _UNIT.match(text, found.end()) or _SCALE.match(text, found.end()):
        return True
    if _PERIOD.match(text, found.end()):
        return True
    noun = _NOUNS.match(text, found.end())
    before = _BEFORE.search(text[max(0, found.start() - 20) : found.start()])
    is_named = before and before[1].casefold() in {
        "in",
        "of",
        "since",
        "year",
        "im",
        "jahr",
        "seit",
        "en",
        "de",
    }
    return bool(noun and not is_named and _content(noun[1]) and not _EAST.match(noun[1]))


def _content(word: str) -> bool:
    return len(word) > 1 and word.casefold() not in STOP_WORDS_OF_FOUR_LANGUAGES


def _number(text: str, found: re.Match[str]) -> Figure | None:
    """Return a number with its unit; None for one that is the name of something, or its place."""
    digits = found.groupdict().get("digits")
    if digits is None:
        readings, precision = (_cardinal(found[0]),), 0.0
    elif found["ordinal"] or len(digits) > 15 or _is_name(text, found):
        return None
    else:
        readings, precision = _readings(digits)

    at = found.end()
    scale = 1
    while match := _SCALE.match(text, at):
        at = match.end()
        scale *= SCALES[match[0].strip(" -.").casefold()]
    if scale > 1:
        precision = precision * scale or scale / 2

    unit = _UNIT.match(text, at)
    symbol = (found["prefix"] or "").strip().casefold() if digits else ""
    kind, factor = UNITS[symbol] if symbol else ("", 1.0)
    if unit and unit["unit"]:
        kind, factor = UNITS[unit["unit"].casefold()]
    elif unit and unit["degrees"]:
        kind = "celsius" if unit["degrees"] in "cC" else "fahrenheit"
    elif unit:
        kind = "percent"
    at = unit.end() if unit else at
    if not unit and digits and text[at : at + 1].isalpha() and not _EAST.match(text, at):
        return None

    period = _PERIOD.match(text, at)
    at = period.end() if period else at
    before = text[max(0, found.start() - 60) : found.start()]
    before = before[max(map(before.rfind, ".;,:(\n")) + 1 :]
    is_negative = before.endswith("minus ") or re.search(r"(?:^|[\s(:=])-\s?$", before)
    values = tuple((-one if is_negative else one) * scale for one in readings)
    return Figure(
        found.start(),
        at,
        kind,
        values,
        factor=factor,
        nouns=() if kind else _nouns(text, at),
        label="" if kind else _label(before),
        precision=precision,
        bound=_bound(text, before, at),
        times=PERIODS[period["period"].casefold()] if period else 0,
        is_negated=_NEGATED.search(before) is not None,
        written=digits or "",
    )


def _is_name(text: str, found: re.Match[str]) -> bool:
    """Tell whether a number is that of a list, a note, a page, or a part of a longer name."""
    start, end = found.span()
    line = text.rfind("\n", 0, start) + 1
    if not text[line:start].strip(" \t#*>-") and re.match(r"[.)]\s", text[end : end + 2]):
        return True
    if text[start - 1 : start] in {"[", "#", "§"} or re.match(r"\s?[]]", text[end : end + 2]):
        return True
    before = _BEFORE.search(text[max(0, start - 20) : start])
    return bool(before and before[1].casefold() in PLACES)


def _readings(digits: str) -> tuple[tuple[float, ...], float]:
    """Return the numbers that digits with separators may mean, and half of the last decimal."""
    plain_digits = re.sub(r"[ ']", "", digits)
    marks = re.findall(r"[.,]", plain_digits)
    if not marks:
        return (float(plain_digits),), 0.0

    whole = float(re.sub(r"[.,]", "", plain_digits))
    decimals = len(plain_digits) - plain_digits.rfind(marks[-1]) - 1
    fraction = whole / 10**decimals
    grouped = re.fullmatch(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*", plain_digits)
    grouped = grouped or re.fullmatch(r"\d{1,3}(?:,\d{2})*,\d{3}", plain_digits)
    if grouped and len(marks) > 1:
        return (whole,), 0.0
    if grouped:
        return (whole,) if plain_digits.startswith("0") else (whole, fraction), 0.0
    return (fraction,), 0.5 / 10**decimals


def _cardinal(words: str) -> float:
    total = section = 0
    for word in re.findall(r"\w+", words.casefold()):
        if word in {"hundred", "thousand"}:
            section = max(section, 1) * SCALES[word]
            if word == "thousand":
                total, section = total + section, 0
        else:
            section += CARDINALS.get(word, 0)
    return float(total + section)


def _nouns(text: str, at: int) -> tuple[str, ...]:
    if _EAST.match(text, at):
        return (text[at],)
    found = _NOUNS.match(text, at)
    return (
        tuple(word.casefold() for word in found.groups() if word and _content(word))
        if found
        else ()
    )


def _label(before: str) -> str:
    found = _BEFORE.search(before)
    return found[1].casefold() if found and _content(found[1]) else ""


def _bound(text: str, before: str, end: int) -> str:
    if _BOUND_BEHIND.match(text, end):
        return ">"
    if _BOUND_BELOW.match(text, end):
        return "<"
    return next((bound for bound, words in _BOUNDS.items() if words.search(before)), "")


def _ranges(text: str, numbers: list[Figure]) -> Iterator[Figure]:
    """Yield numbers, two with a dash or `to` between them as one; a longer chain is an id."""
    at = 0
    while at < len(numbers):
        one = numbers[at]
        at += 1
        if at == len(numbers) or not re.fullmatch(
            _TO, text[one.end : numbers[at].start], re.IGNORECASE
        ):
            yield one
            continue
        between, other = text[one.end : numbers[at].start], numbers[at]
        is_list = "and" in between or "und" in between or between.strip() in {"et", "y"}
        opened = re.search(
            r"\b(?:between|zwischen|entre)\W+$", text[: one.start][-20:], re.IGNORECASE
        )
        if (is_list and not opened) or one.readings[0] >= other.readings[0]:
            yield one
            continue
        at += 1
        yield replace(other, start=one.start, readings=one.readings, until=other.readings[0])

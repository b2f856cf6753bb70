"""Pure: the figures of a text, numbers and dates with their units, however they are written.

`4,850`, `4.850,00`, `4 850`, `4.85k`, `four thousand` and 四千八百 are read; the numbers of lists,
notes and pages are not. Where a writing is ambiguous, each reading counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from drift.core.stop_words import STOP_WORDS_OF_FOUR_LANGUAGES
from drift.evidence.figure_bounds import bound_of, is_negated
from drift.evidence.figure_dates import DATES, TIME, TO, VERSION, Date, dates_of, minutes_of
from drift.evidence.figure_text import any_of
from drift.evidence.figure_words import CARDINALS, PERIODS, PLACES, SCALES, UNITS


@dataclass(frozen=True, slots=True)
class Figure:
    """A number in each reading of its writing, or a date, and where it stands in the plain text.

    `kind` is that of its unit (`money:eur`, `length`), or `date`, `time`, `version`; "" where
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


_NUMBER = re.compile(
    r"(?<![^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])(?<![^\W\d_]-)(?P<prefix>[€$£¥₹]\s?|\b(?:EUR|USD|GBP|CHF|JPY)\s?)?"
    r"(?P<digits>\d{1,3}(?:(?P<group>[ '])\d{3}(?:(?P=group)\d{3})*)(?![\d'])(?:[.,]\d+)?"
    r"|\d+(?:[.,]\d+)*)(?P<ordinal>(?:st|nd|rd|th|er|ème|e|º|ª)\b|\.(?=[ ]+[a-zäöü]))?"
)
_WORDS = re.compile(
    rf"(?<![\w-])(?:{any_of(CARDINALS)})"
    rf"(?:(?:-|\s|\sand\s)(?:{any_of([*CARDINALS, 'hundred', 'thousand'])})\b)*(?![\w-])",
    re.IGNORECASE,
)
_SCALE = re.compile(rf"[ -]?(?:{any_of(SCALES)})\b\.?|(?-i:[kKMB]\b)|[千만억]", re.IGNORECASE)
_FACTORS = {**SCALES, "m": 10**6, "b": 10**9}  # of which the signs are great letters
_SIGN_UNITS = [name for name in UNITS if not name.isascii() or not name.isalpha()]
_UNIT = re.compile(
    rf"[ -]?(?P<unit>{any_of(_SIGN_UNITS)}|(?:{any_of(set(UNITS) - set(_SIGN_UNITS))})\b)"
    r"| ?(?:°|degrees |grad ) ?(?P<degrees>[cf])(?:elsius|ahrenheit)?\b"
    r"| (?P<percent>per cent|pour cent|por ciento|v\. ?h\.)",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    r"\s?(?:/|\b(?:per|an?|each|every|pro|je|im|par|por|al|à la|la)\s)\s?"
    rf"(?P<period>{any_of(PERIODS)})\b",
    re.IGNORECASE,
)
_NOUNS = re.compile(r"[ -]?([^\W\d_]+)(?: ([^\W\d_]+))?")
_BEFORE = re.compile(r"(?<![^\W\d_])([^\W\d_]++)\.? $")
_EAST = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def figures(text: str) -> tuple[Figure, ...]:
    """Return the figures of a plain text in their order."""
    found: list[Figure] = []
    for pattern in DATES:
        here = [one for one in pattern.finditer(text) if not _counts(text, one)]
        found += (Figure(*one.span(), "date", dates=dates_of(one)) for one in here)
        text = without(text, [one.span() for one in here])
    for kind, pattern in (("time", TIME), ("version", VERSION)):
        here = list(pattern.finditer(text))
        found += (
            Figure(
                *one.span(),
                kind,
                (minutes_of(one),) if kind == "time" else (),
                written=one[0].lstrip("vV"),
            )
            for one in here
        )
        text = without(text, [one.span() for one in here])

    numbers = list(filter(None, (_number(text, one) for one in _NUMBER.finditer(text))))
    text = without(text, [one.span() for one in _NUMBER.finditer(text)])
    numbers += filter(None, (_number(text, one) for one in _WORDS.finditer(text)))
    found += _ranges(text, sorted(numbers, key=lambda one: one.start))
    return tuple(sorted(found, key=lambda one: one.start))


def without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text with these places blanked out, as long as it was."""
    written, at = [], 0
    for start, end in spans:
        written += [text[at:start], "\0" * (end - start)]
        at = end
    return "".join([*written, text[at:]])


def _counts(text: str, found: re.Match[str]) -> bool:
    """Tell whether a seeming year is a number: `2000 metres`, `1,850 a month`."""
    said = found.groupdict()
    if set(said) != {"year", "decade"} or said["decade"]:
        return False
    if _UNIT.match(text, found.end()) or _SCALE.match(text, found.end()):
        return True
    if _PERIOD.match(text, found.end()):
        return True
    noun = _NOUNS.match(text, found.end())
    before = _BEFORE.search(text[max(0, found.start() - 20) : found.start()])
    leads = {"in", "of", "since", "year", "im", "jahr", "seit", "en", "de"}
    is_named = before and before[1].casefold() in leads
    return bool(noun and not is_named and _content(noun[1]) and not _EAST.match(noun[1]))


def _content(word: str) -> bool:
    return len(word) > 1 and word.casefold() not in STOP_WORDS_OF_FOUR_LANGUAGES


def _number(text: str, found: re.Match[str]) -> Figure | None:
    """Return a number with its unit; None for one that is the name of something, or its place."""
    digits = found.groupdict().get("digits")
    readings: tuple[float, ...]
    if digits is None:
        readings, precision = (_cardinal(found[0]),), 0.0
    elif found["ordinal"] or digits[15:] or _is_name(text, found):  # a longer number is a name
        return None
    else:
        readings, precision = _readings(digits)

    at = found.end()
    scale = 1
    while match := _SCALE.match(text, at):
        at = match.end()
        scale *= _FACTORS[match[0].strip(" -.").casefold()]
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
        bound=bound_of(text, before, at),
        times=PERIODS[period["period"].casefold()] if period else 0,
        is_negated=is_negated(before),
        written=digits or "",
    )


def _is_name(text: str, found: re.Match[str]) -> bool:
    """Tell whether a number is that of a list, a note, a page, or a part of a longer name."""
    start, end = found.span()
    line = text.rfind("\n", 0, start) + 1
    if not text[line:start].strip(" \t#*>-") and re.match(r"[.)]\s", text[end : end + 2]):
        return True
    if re.search(  # it counts only a part
        r"\b(?:first|last|next|ersten?|letzten?|premi\w+|dernier\w*) $",
        text[max(0, start - 12) : start],
        re.IGNORECASE,
    ):
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


def _ranges(text: str, numbers: list[Figure]) -> Iterator[Figure]:
    """Yield numbers, two with a dash or `to` between them as one; a longer chain is an id."""
    at = 0
    while at < len(numbers):
        one = numbers[at]
        at += 1
        if at == len(numbers) or not re.fullmatch(
            TO, text[one.end : numbers[at].start], re.IGNORECASE
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

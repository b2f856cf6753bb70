"""Pure: handles that a model wrote into its prose, taken out before anybody reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

_SOURCE = r"(?i:(?:the\s)?(?:chunks?|passages?|excerpts?|sources?|communit(?:y|ies)))"
_LEADING = r"(?i:according\sto|as\s(?:stated|said)\sin|in|see|per|from|cf\.)"
_LABEL = r"(?i:sentences?|lines?|s\u00e4tze|satz|s\.?)"
_MORE = r"(?:\s?(?:[,\u2013-]|and|to|und|bis)\s?\d{1,3})*\b"
_GAP = "\ufdd0"  # Marks what was taken out; no text may hold this character


def without_handles(text: str, names: Mapping[str, str], said_by: Sequence[str] = ()) -> str:
    """Return prose without the handles of a request.

    `names` gives the replacement of each, a document's name or nothing. `(K1)` and `[K3,
    sentence 4]` go with their brackets. A handle that is a word of a text of `said_by` stays.
    """
    any_handle = _word(names)
    if not any_handle.search(text):
        return text

    own = {word for said in said_by for word in any_handle.findall(said)}
    known = {handle: name for handle, name in names.items() if handle and handle not in own}
    handle = _word(known)
    if not known or not handle.search(text):
        return text

    def named(found: re.Match[str]) -> str:
        handles = handle.findall(found["prose"] or "")
        shown = [name for name in dict.fromkeys(map(known.get, handles)) if name]
        leading, going_on = found["leading"] or "", found["going_on"] or ""

        if shown:
            both = " and " if re.search(r"\s(?:and|und)\s", found["prose"]) else ", "
            return leading + both.join(shown) + going_on
        before = text[max(0, found.start() - 3) : found.start()].rstrip()
        is_a_beginning = not before or before[-1] in ".!?:*#-"
        if leading and going_on and is_a_beginning:
            return _GAP + going_on[-1].upper()

        return _GAP + going_on

    text = _mentions(handle.pattern).sub(named, text)
    return re.sub(rf"(?<![ \t])([ \t]*){_GAP}([ \t{_GAP}]*)", _closed, text)


def _word(words: Iterable[str]) -> re.Pattern[str]:
    longest_first = sorted(map(re.escape, words), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)")


def _mentions(handle: str) -> re.Pattern[str]:
    both = rf"(?:\s?[,;/&+\u2013-]\s?(?:and\s|or\s|und\s)?|\s(?:and|or|und)\s)(?:{_SOURCE}\s)?"
    in_prose, in_brackets = (
        f"{handle}{part}(?:{both}{handle}{part})*"
        for part in (
            rf"(?:[.:]\d{{1,3}}(?:[\u2013-]\d{{1,3}})?\b)?(?:,?\s{_LABEL}\s?\d{{1,3}}{_MORE})?",
            rf"(?:[.:,#]?\s?(?:{_LABEL}\s?)?\d{{1,3}}{_MORE})?",
        )
    )
    return re.compile(
        rf"[(\[]\s?(?:(?:{_LEADING}|{_SOURCE}):?\s){{0,2}}{in_brackets}\s?[)\]]"
        rf"|(?:(?<!\w)(?P<leading>{_LEADING}\s))?(?:(?<!\w){_SOURCE}\s)?(?P<prose>{in_prose})"
        r"(?P<going_on>,\s\w)?"
    )


def _closed(gap: re.Match[str]) -> str:
    before = gap.string[max(0, gap.start() - 1) : gap.start()]
    after = gap.string[gap.end() : gap.end() + 1]
    if before in {"", "\n"}:
        return gap[1]
    if before in "([" or after in {"", "\n"} or after in ".,;:!?)]":
        return ""

    is_spaced = gap[1] or gap[2].strip(_GAP) or (before.isalnum() and after.isalnum())
    return " " if is_spaced else ""

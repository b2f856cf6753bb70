"""Pure: whether passages bear out what a model says of them: its figures, its dates, its names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from drift.core.names import proper_names
from drift.core.sentence_ends import language_of, split_sentences
from drift.core.stop_words import MONTHS_AND_DAYS
from drift.evidence.figure_text import plain
from drift.evidence.figures import Figure, figures
from drift.evidence.same_figures import are_same, is_one
from drift.evidence.text import KnownWords, folded, places_of

PRONOUNS = frozenset(
    (
        *("he", "she", "it", "they", "him", "them", "his", "hers", "her", "its", "their", "theirs"),
        *("who", "which"),
        *("er", "sie", "es", "ihn", "ihm", "ihr", "ihnen", "sein", "seine", "seinen", "ihre"),
        *("il", "elle", "ils", "elles", "lui", "leur", "él", "ella", "ellos", "ellas", "su"),
    )
)
"""Words that stand for a name of the sentence before."""

_WORD = re.compile(r"[^\W\d_]{2,}")
_RELATIVE = re.compile(
    r"\b(?:(?:last|past|this|next|recent)\s(?:few\s)?"
    r"(?:year|month|week|quarter|decade|spring|summer|autumn|fall|winter)s?"
    r"|recently|lately|currently|presently|nowadays|yesterday|tomorrow|ago|so far(?! as)|these days"
    r"|at present|to date|(?-i:today|Today(?=,))"
    r"|(?:letzt|vergangen|dies|nächst)e\w?\s(?:Jahr|Monat|Woche|Quartal|Jahrzehnt)\w*"
    r"|kürzlich|neulich|derzeit|gegenwärtig|zurzeit|heute|heutzutage|gestern"
    r"|vor\s\w+\s(?:Jahren|Monaten|Wochen|Tagen)"
    r"|récemment|actuellement|aujourd'hui|l'an(?:née)?\sderni\w+|cette\sannée"
    r"|il\sy\sa\s\w+\s(?:ans|mois|semaines|jours)"
    r"|recientemente|actualmente|hoy|ayer|(?:el\saño|la\ssemana)\spasad[oa]|este\saño"
    r"|hace\s\w+\s(?:años|meses|semanas|días))\b",
    re.IGNORECASE,
)
"""A time that only the day tells on which a text was written, which files do not say."""
_AROUND = 2
"""Words on either side of a time that stand there too where it is copied."""
_LEAST, _ENDING = 4, 3
"""Letters that two forms of a name share, and that one has more: `Germany`, `Germans`."""


class Shown:
    """What a model was shown, to which each of its sentences is held."""

    def __init__(self, texts: Iterable[str], said: Iterable[str] = ()) -> None:
        """Take the texts, and all that is said of them together."""
        self._text = plain("\n".join(texts))
        inside = (one.partition(" ")[2] for text in said for one in split_sentences(text))
        self._named = {word for text in inside for word in _named(text)}

    def bear_out(self, said: str) -> bool:
        """Tell whether all of a sentence stands here, and no relative time in other words."""
        return self.has_all_of(said) and all(
            f" {phrase} " in self._line for phrase in _relative_times(said)
        )

    def has_all_of(self, said: str) -> bool:
        """Tell whether all figures, dates and names of a sentence or a title stand here.

        A figure may be written or measured another way. A first word is a name only where it is one
        inside another sentence too, or more follows. In German, where every noun has a capital,
        only two of them beside each other are a name.
        """
        said = plain(said)
        if not all(self._has(one, said[one.start : one.end]) for one in figures(said)):
            return False
        least = 2 if language_of(said) == "de" else 1
        names = proper_names(said)
        first = _WORD.findall(said)[:1]
        if names and " " not in names[0] and _WORD.findall(names[0])[:1] == first:
            names = names[not self._named.intersection(_named(names[0])) :]
        named = (_WORD.findall(folded(name)) for name in names)
        return all(self._knows(word) for words in named if len(words) >= least for word in words)

    def _has(self, figure: Figure, written: str) -> bool:
        if is_one(figure) or any(places_of(written, self._text, whole=True)):
            return True
        # A year has to stand here itself: a day and a month alone agree with those of each year.
        if not self._years.issuperset(date[0] for end in _ends(figure) for date in end.dates):
            return False
        return all(any(are_same(one, other) for other in self._figures) for one in _ends(figure))

    def _knows(self, word: str) -> bool:
        if word in MONTHS_AND_DAYS or word in self._forms or self._common.has(word):
            return True
        return any(
            word[:-n] in self._words for n in range(1, _ENDING + 1) if len(word) - n >= _LEAST
        )

    @cached_property
    def _figures(self) -> list[Figure]:
        return [end for figure in figures(self._text) for end in _ends(figure)]

    @cached_property
    def _years(self) -> set[int]:
        of_dates = {date[0] for figure in self._figures for date in figure.dates}
        return {0, *map(int, re.findall(r"(?<!\d)\d{4}(?!\d)", self._text))} | of_dates

    @cached_property
    def _line(self) -> str:
        return f" {' '.join(_read(self._text))} "

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(folded(self._text)))

    @cached_property
    def _forms(self) -> frozenset[str]:
        """The words, and those of which a word here has a few letters more."""
        cut = (
            word[: len(word) - n]
            for word in self._words
            for n in range(1, _ENDING + 1)
            if len(word) - n >= _LEAST
        )
        return self._words.union(cut)

    @cached_property
    def _common(self) -> KnownWords:
        """The words without a capital: no names, so that they may have another ending."""
        small = (word for word in _WORD.findall(self._text) if word.islower())
        return KnownWords(map(folded, small))


def _named(text: str) -> Iterator[str]:
    """Yield the words of the names in a text."""
    return (word for name in proper_names(text) for word in _WORD.findall(folded(name)))


def _read(text: str) -> list[str]:
    return re.findall(r"\w+", folded(text))


def _relative_times(said: str) -> Iterator[str]:
    """Yield each relative time with the words around it."""
    said = plain(said)
    for time in _RELATIVE.finditer(said):
        before, after = _read(said[: time.start()]), _read(said[time.end() :])
        yield " ".join((*before[-_AROUND:], *_read(time[0]), *after[:_AROUND]))


def _ends(figure: Figure) -> list[Figure]:
    """Return what a figure says itself: the ends of a range, and none that it bounds."""
    if len(figure.dates) > 2:  # noqa: PLR2004 - two are a date that may be read in two ways
        return [replace(figure, dates=(date,)) for date in (figure.dates[0], figure.dates[-1])]
    said = replace(figure, bound="", until=None, readings=figure.readings[:1])
    return [said] if figure.until is None else [said, replace(said, readings=(figure.until,))]

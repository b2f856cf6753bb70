"""Pure: which headings say what a passage is about, and how they are told."""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re

from drift.local.ingest.formats.titles import own_title

_NUMBER = re.compile(
    r"\A(?:(?:(?:chapter|part|section|appendix|kapitel|teil|abschnitt|anhang)\s+)?"
    r"(?:\d+(?:\.\d+)*|[A-Z](?:\.\d+)+|[ivxIVX]+)[.:)]\s+|\d+(?:\.\d+)+\s+|§\s*\d+\s*)",
    re.IGNORECASE,
)
_MARKS = re.compile(r"[*_`#]+(?=\W|$)|(?<!\w)[*_`#]+|\\(?=\W)")
_LINKED = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_IS_MARKUP = re.compile(r"\w:\w|[\"“”{}<>=|\\■^~$@]|::|->|://|&\w+;|\w\(|\.{3}|…$|[®™©]")
_WORD = re.compile(r"[\w’'-]+")
_LETTERS = re.compile(r"[^\W\d_]{3}|[\u3000-\u9fff\uac00-\ud7a3]")
_MOST, _LEAST, _LONGEST = 70, 2, 1000
_SAYS_NOTHING = frozenset(
    """
    a-z about account activity advertisement all alle allgemein anhang appendix archive archives
    aside author authors back back-matter background bibliography blog blogroll board body case
    categories center changelog citation collections comment comments conclusion conclusions contact
    content contents cookie cookies copyright credits data definition definitions details diskussion
    download downloads einführung ergebnis ergebnisse example examples explore faq features feedback
    figure figures footer footnotes fußnoten general glossary go header help hintergrund hinweis
    hinweise history home how impressum index info information inhalt introduction item kommentare
    kontakt language languages latest leave lemma licence license links list literatur
    literaturverzeichnis log login main menu menü methods misc miscellaneous more nav navigation
    news next note notes options other overview page pages parameters podcast post posts preamble
    preface preference preferences preview previous privacy proof publications quellen
    quellenangaben questions readme recommended references related remarks reply resources result
    results returns review reviews search section see settings share siehe sign sitemap skip sources
    step steps subscribe summary support tags terms text theorem title toc tools top topics
    translations trending usage version versions verweise weblinks weiteres welcome work works zitat
    zusammenfassung übersicht
    """.split()
)
"""Words that stand over parts of documents about anything, and over menus."""
_FILLING = frozenset("a all also an and auch das der die for in of on our the this to und".split())


def telling(heading: str) -> str:
    """Return a heading as a person would say it; empty where it tells nothing of its text.

    Numbers and markup go. What is left with no other words than those of menus and parts of any
    document, or is itself code or a formula, is empty.
    """
    if len(heading) > _LONGEST:
        return ""
    text = " ".join(_MARKS.sub("", _LINKED.sub(r"\1", heading)).split())
    text = _NUMBER.sub("", text, count=1).strip(" :-–—|*,;.")
    own = [word for word in _WORD.findall(text.lower()) if word not in _FILLING]
    if not _LEAST <= len(text) <= _MOST or _IS_MARKUP.search(text) or not own_title(text):
        return ""
    # Of formulas and scans, pieces of one or two letters are left.
    least = sum(not word.isdigit() for word in own) + any(sign.isdigit() for sign in text)
    is_language = 2 * sum(bool(_LETTERS.search(word)) for word in own) >= least
    return text if is_language and not _SAYS_NOTHING.issuperset(own) else ""

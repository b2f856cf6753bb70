"""Pure: which titles in a file's own metadata are those of a document."""

from __future__ import annotations

import re

_BY_PROGRAM = re.compile(r"microsoft \w+ - ", re.IGNORECASE)
_NO_TITLE = re.compile(
    r"\W*|untitled(?:[ _-]?(?:document|presentation|spreadsheet|\d+))*|"
    r"(?:document|dokument|presentation|pr\u00e4sentation|slide|folie|book|layout|sheet) ?\d*|"
    r"(?:microsoft )?(?:word|powerpoint|office)(?: (?:document|presentation|dokument))?|"
    r"powerpoint-pr\u00e4sentation|pr\u00e9sentation powerpoint|"
    r"(?:new|no|paper|document|your|the|insert|type|enter)?\W*(?:title|name)(?: (?:page|here))?\W*|"
    r"cover(?: page)?|(?:table of )?contents|preface|abstract|introduction|foreword|summary|"
    r"overview|"
    r"acknowledge?ments?|einleitung|vorwort|inhalt(?:sverzeichnis)?|sommaire|"
    r"main|index|print|null|none|draft|"
    r"(?:chapter|part|section|appendix|kapitel|teil|chapitre) ?[\divxlc]*\.?|"
    r".*\btemplate\b.*|\S+_\S+|(?:[a-z]:\\|/|\\\\|file:|about:|https?://)\S.*|"
    r".*\.(?:docx?|docm|dotx?|odt|rtf|pages|pptx?|odp|key|xlsx?|ods|pdf|e?ps|dvi|indd|qx[dp]|pub|fm|"
    r"wp[ds]|vsdx?|psd|cdr|ai)|"
    r"\S+\.(?:tex|txt|md|rst|html?|xml|csv|png|jpe?g|tiff?|texi?|docbook)",
    re.IGNORECASE,
)
"""Titles that programs and templates make, those of a file's name, and those of a part."""


def own_title(told: str) -> str:
    """Return a title of a file's metadata; nothing for one that no person gave the document."""
    title = _BY_PROGRAM.sub("", " ".join(told.split()), count=1)
    return "" if _NO_TITLE.fullmatch(title) else title

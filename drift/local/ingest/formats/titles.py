"""Pure: which titles in a file's own metadata are those of a document."""

from __future__ import annotations

import re

_BY_PROGRAM = re.compile(r"microsoft \w+ - ", re.IGNORECASE)
_NO_TITLE = re.compile(
    r"\s*|untitled(?:[ _-]?(?:document|presentation|spreadsheet|\d+))*|"
    r"(?:document|presentation|pr\u00e4sentation|slide|folie|dokument) ?\d*|"
    r"(?:microsoft )?(?:word|powerpoint|office)(?: (?:document|presentation|dokument))?|"
    r"powerpoint-pr\u00e4sentation|pr\u00e9sentation powerpoint|\W*(?:document )?title\W*|"
    r"(?:(?:title|cover)(?: page)?|(?:table of )?contents|preface|abstract)|"
    r"(?:chapter|part|section|appendix|kapitel|teil|chapitre) ?[\divxlc]*\.?|"
    r".*\.(?:docx?|docm|dotx?|odt|rtf|pages|pptx?|odp|key|xlsx?|ods|pdf|e?ps|dvi|indd|qx[dp]|pub|fm|"
    r"wp[ds]|vsdx?|psd|cdr|ai)|\S+\.(?:tex|txt|md|rst|html?|xml|csv|png|jpe?g|tiff?)",
    re.IGNORECASE,
)
"""Titles that programs and templates make, those of a file's name, and those of a part."""


def own_title(told: str) -> str:
    """Return a title of a file's metadata; nothing for one that no person gave the document."""
    title = _BY_PROGRAM.sub("", " ".join(told.split()), count=1)
    return "" if _NO_TITLE.fullmatch(title) else title

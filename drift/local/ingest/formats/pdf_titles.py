"""What a PDF is called and says of itself: its metadata, or the largest lines of its first page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from ctypes import c_ushort

from pypdfium2 import PdfDocument, raw

from drift.local.ingest.formats.pdf_layout import PageLine, plain
from drift.local.ingest.formats.pdf_text import Entry, body_size, key
from drift.local.ingest.formats.titles import own_title
from drift.local.ingest.front_matter import attributes_of
from drift.model.attributes import Attributes

_PART = re.compile(r"(?:\d+|[ivx]+|[A-Z])[.:)]?[ \t]|(?:chapter|part|kapitel)\b", re.IGNORECASE)
_BEHIND = re.compile(r"\s*(?:by|version|release|edition|v?\d)\b", re.IGNORECASE)
_NOTED = "*\u2217\u2020\u2021 "
_LARGER, _NEAR, _LONGEST, _MOST_LINES, _LOOKED_AT = 1.15, 0.9, 200, 6, 10
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-]\d\d)'?(\d\d)?)?")


def title_of(
    told: str,
    first: Sequence[PageLine],
    pages: Sequence[Sequence[PageLine]],
    outline: Sequence[Entry],
) -> str:
    """Return the title of metadata, or else the largest lines of the first page; maybe none.

    Metadata that names a later part, and is not on the first page, is of that part.
    """
    told = own_title(told)
    parts = {key(one.title) for one in outline}
    is_of_part = key(told) in {key(one.title) for one in outline[1:]}
    if is_of_part and key(told) in key(" ".join(line.text for line in first)):
        is_of_part = key(told) not in {key(line.text) for line in first if _PART.match(line.text)}
    if told and not is_of_part:
        return told

    usual = body_size([one for page in pages[:_LOOKED_AT] for one in page])
    found = [
        text
        for text in _large(first, _LARGER * usual)
        if own_title(text) and not (key(text) in parts and _PART.match(text))
    ]
    # A single small word may be the rest of a picture.
    return next((text for text in found if text[0].isupper() or " " in text), (*found, "")[0])


def _large(lines: Sequence[PageLine], least: float) -> Iterator[str]:
    """Yield the texts of the largest size, then of the next, as long as they are that large."""
    worded = [one for one in lines if re.search(r"[^\W\d_]{2}", one.text)]
    for size in sorted({one.size for one in worded if one.size >= least}, reverse=True):
        found: list[PageLine] = []
        for one in worded:
            is_same = abs(one.size - size) < size / 50
            if found and (
                not is_same
                or found[-1].box.bottom - one.box.top > _NEAR * size
                or found[-1].text.rstrip()[-1:] in _NOTED
                or _BEHIND.match(one.text)
            ):
                break
            if is_same:
                found.append(one)
        text = " ".join(" ".join(plain(one.text) for one in found[:_MOST_LINES]).split())
        text = text.rstrip(_NOTED)
        if text and len(text) <= _LONGEST:
            yield text


def own_of(told: Mapping[str, str], document: PdfDocument) -> Attributes:
    """Return what a PDF says of itself beside its title; what no document holds is left out."""
    language = (c_ushort * 64)()
    size = raw.FPDFCatalog_GetLanguage(document, language, len(language) * 2)
    said = bytes(language)[: max(size - 2, 0)].decode("utf-16-le", errors="replace")
    every = {
        "author": told.get("Author", ""),
        "language": said,
        "keywords": told.get("Keywords", "").replace(";", ","),
        "created": _moment(told.get("CreationDate")),
        "updated": _moment(told.get("ModDate")),
    }
    words = {name: " ".join(one.strip(" ,;\0").split()) for name, one in every.items()}
    return attributes_of({name: one for name, one in words.items() if one})[0]


def _moment(written: str | None) -> str:
    """Return a date of a PDF as RFC 3339 writes it."""
    found = _DATE.match(written or "")
    if found is None:
        return ""
    year, month, day, hour, minute, second, _, zone, rest = found.groups("")
    at = f"{year}-{month or '01'}-{day or '01'}T{hour or '00'}:{minute or '00'}:{second or '00'}"
    return at + (f"{zone}:{rest or '00'}" if zone else "Z")

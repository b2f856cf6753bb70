"""Books of EPUB: their chapters, which are pages of HTML, in the order in which they are read."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from urllib.parse import unquote

from drift.indexing.documents import Skipped, text_of
from drift.local.ingest.formats import DamagedError, Growth, NoDocumentError, Read
from drift.local.ingest.formats.encodings import decoded_page
from drift.local.ingest.formats.html_text import read_page
from drift.local.ingest.formats.office import note_on, told_by
from drift.local.ingest.formats.packages import Element, Package, every, said_of

_META = {
    "title": "title",
    "creator": "author",
    "language": "language",
    "subject": "keywords",
    "date": "created",
}


def read_book(content: bytes) -> Read:
    """Return the chapters of a book; its contents are left out, as they say them all again."""
    package = Package(content)
    container = package.xml("META-INF/container.xml")
    name = said_of(next(every(container, "rootfile"), None), "full-path")
    root = package.xml(name)
    if root is None:
        raise DamagedError("is no EPUB that can be read (it names no contents)")

    locked = package.xml("META-INF/encryption.xml")
    locked_names = {unquote(said_of(one, "URI")) for one in every(locked, "CipherReference")}
    chapters = list(dict.fromkeys(_chapters(root, posixpath.dirname(name))))
    if locked_names.intersection(chapters):
        raise NoDocumentError("is locked against copies: save it without that")
    texts = (text_of(package.content(one), one, decoded_page) for one in chapters)
    pages = (read_page(found[0])[0] for found in texts if not isinstance(found, Skipped))
    title, own = told_by(root.find("{*}metadata"), _META)
    return Read(
        "\n\n".join(Growth.of(content).seen(filter(str.strip, pages))),
        title,
        note=note_on(package.damaged),
        own=own,
    )


def _chapters(root: Element, folder: str) -> Iterator[str]:
    """Yield the names of the parts that are read one after the other."""
    items = {said_of(one, "id"): one for one in root.iterfind("{*}manifest/{*}item")}
    for one in root.iterfind("{*}spine/{*}itemref"):
        item = items.get(said_of(one, "idref"))
        if "html" in said_of(item, "media-type") and "nav" not in said_of(item, "properties"):
            yield posixpath.normpath(posixpath.join(folder, unquote(said_of(item, "href"))))

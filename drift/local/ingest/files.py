"""One file: its content, what it says as a document, or the reason why it is none.

Whatever a file holds or does costs that file, never a run.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

from drift.graph.writing.rows import parts
from drift.indexing.chunking import PATH_SEPARATOR
from drift.indexing.documents import (
    FORMATS,
    PAGES,
    Piece,
    Skipped,
    SourceDocument,
    decode,
    document_with,
    sha256,
    text_of,
)
from drift.indexing.reading_process import Guard, guarded
from drift.local.ingest import formats
from drift.local.ingest.code.code_documents import read_code
from drift.local.ingest.code.languages import LANGUAGES
from drift.local.ingest.formats import tools
from drift.local.ingest.formats.encodings import decoded
from drift.local.ingest.formats.secrets import is_private_key
from drift.local.ingest.front_matter import without_front_matter
from drift.local.ingest.html_text import read_page
from drift.local.ingest.kinds import MEDIA_TYPES
from drift.model.attributes import NOTHING_SAID, Attributes

MAX_FILE_BYTES = 50 * 1024 * 1024
_AT_ONCE = 64
"""Files that one call looks at: of small files, asking costs more than looking."""


def printable(name: str) -> str:
    """Return a file's name with the bytes that are not UTF-8 spelled out in hexadecimal."""
    return os.fsencode(name).decode(errors="backslashreplace")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a source, known by its content before anybody reads what it says.

    `id` is its path below the source with forward slashes, `content_hash` the SHA-256 of its bytes,
    in hex, and `updated_at` when it was last changed, in milliseconds since 1970. One with
    `content` is read from that, wherever it is. `given` is what others say of it.
    """

    path: Path
    id: str
    content_hash: str
    updated_at: int
    source_uri: str = ""
    content: bytes | None = None
    given: Attributes = NOTHING_SAID

    def loaded(self) -> SourceFile | Skipped:
        """Return it with its content, as it is now, or why it is not read."""
        found = _bytes_of(self.path, self.id)
        if isinstance(found, Skipped):
            return found
        return replace(self, content=found[0], updated_at=found[1])

    def read(self) -> SourceDocument | Skipped:
        """Return it as a document, as it is now, or why it is none."""
        held = self if self.content is not None else self.loaded()
        if isinstance(held, Skipped):
            return held
        read = document_in(held.content or b"", held.id, held.updated_at)
        if isinstance(read, Skipped):
            return read
        own, said = read.own, self.given.over(read.own)
        left_out = len({*self.given.tags, *own.tags}) - len(said.tags)
        left_out += len(own.metadata.keys() | self.given.metadata) - len(said.metadata)
        remark = f"has too many tags or metadata: {left_out:,} are left out" if left_out else ""
        note = "; ".join(filter(None, (read.note, remark)))
        return replace(read, source_uri=self.source_uri, given=self.given, note=note)


def look_at(path: Path, name: str, guard: Guard = guarded) -> SourceFile | Skipped:
    """Return the file as one called `name`, or why it is none; nothing is raised."""
    return guard(printable(name), partial(_look_at, path, name))


def look_at_all(files: Sequence[tuple[Path, str]], guard: Guard) -> Iterator[SourceFile | Skipped]:
    """Yield each file as `look_at` does, of paths and names."""
    for group in parts(files, _AT_ONCE):
        found = guard("", partial(_look_at_each, group))
        if isinstance(found, Skipped):  # one of them takes too long, or ended the process
            found = [look_at(path, name, guard) for path, name in group]
        yield from found


def read_document(path: Path, name: str, guard: Guard = guarded) -> SourceDocument | Skipped:
    """Return the file as a document called `name`, or why it is none; nothing is raised."""
    return guard(printable(name), SourceFile(path, name, "", 0).read)


def document_in(content: bytes, name: str, updated_at: int | None) -> SourceDocument | Skipped:
    """Return the content of a file called `name` as a document, or why it is none."""
    read = _read_by_ending(content, name, updated_at)
    if isinstance(read, Skipped):
        return read
    return replace(read, media_type=MEDIA_TYPES.get(formats.kind_of(name), ""))


def _read_by_ending(content: bytes, name: str, updated_at: int | None) -> SourceDocument | Skipped:
    ending = formats.kind_of(name)
    if ending in LANGUAGES:
        return read_code(content, name, updated_at)
    if PurePosixPath(name).name in tools.NAMES:
        return tools.read_tools(content, name, updated_at)
    if ending not in formats.ENDINGS:
        is_headed = FORMATS.get(ending) == "markdown" and ending not in PAGES
        return (_read_markdown if is_headed else _read_text)(content, name, updated_at)
    if not content:
        return Skipped(name, "is empty")

    try:
        read = formats.reader_of(ending)(content)
    except formats.NoDocumentError as error:
        return Skipped(name, str(error), unreadable=isinstance(error, formats.DamagedError))
    is_untitled = ending in formats.WITHOUT_TITLES or read.format == "text"
    return document_with(
        name,
        content,
        read.text,
        read.format,
        read.title or (PurePosixPath(name).name if is_untitled else ""),
        has_lines=read.has_lines,
        updated_at=updated_at,
        pieces=tuple(_below(PurePosixPath(name).name, one) for one in read.pieces),
        has_pages=read.has_pages,
        note=read.note,
        own=read.own,
    )


def _below(title: str, piece: Piece) -> Piece:
    """Return a piece of data under its file's name: without it, keys say little."""
    return replace(piece, heading=PATH_SEPARATOR.join(filter(None, (title, piece.heading))))


def _read_text(content: bytes, name: str, updated_at: int | None) -> SourceDocument | Skipped:
    if is_private_key(content):
        return Skipped(name, "is a private key")
    return decode(content, name, updated_at, read_page, decoded)


def _read_markdown(content: bytes, name: str, updated_at: int | None) -> SourceDocument | Skipped:
    """Return Markdown without its front matter, which is said of it instead."""
    found = text_of(content, name, decoded)
    if isinstance(found, Skipped):
        return found
    text, own, remark = without_front_matter(found[0].replace("\r\n", "\n"))
    read = decode(text.encode(), name, updated_at)
    if isinstance(read, Skipped):
        return read
    return replace(
        read,
        title=own.title or read.title,
        content_hash=sha256(content),
        note="; ".join(filter(None, (found[1], remark))),
        own=own,
    )


def _look_at_each(files: Sequence[tuple[Path, str]]) -> list[SourceFile | Skipped]:
    return [look_at(path, name) for path, name in files]


def _look_at(path: Path, name: str) -> SourceFile | Skipped:
    found = _bytes_of(path, name)
    if isinstance(found, Skipped):
        return found
    return SourceFile(path, name, sha256(found[0]), found[1])


def _bytes_of(path: Path, name: str) -> tuple[bytes, int] | Skipped:
    """Return a file's content, and when it was last changed; or why it is not read."""
    if printable(name) != name:
        return Skipped(printable(name), "has a name that is not valid UTF-8")
    if not stat.S_ISREG(path.stat().st_mode):  # looked at first: a device may act when it is opened
        return Skipped(name, "is not a regular file")

    # It may have become a link, a pipe or another file since: nothing is followed and nothing
    # waited for.
    with open(path, "rb", opener=open_at_once) as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            return Skipped(name, "is not a regular file")
        if facts.st_size > MAX_FILE_BYTES:
            return Skipped(name, f"has {facts.st_size:,} bytes, more than {MAX_FILE_BYTES:,}")
        content = file.read(facts.st_size + 1)

    if len(content) != facts.st_size:
        return Skipped(
            name, "has another length than it says: it may just be written", unreadable=True
        )

    return content, facts.st_mtime_ns // 1_000_000


def open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting for it, and no link."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW)

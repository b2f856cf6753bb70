"""One file: its content, what it says as a document, or the reason why it is none.

Whatever a file holds or does costs that file, never a run.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

from drift.contracts.attributes import MOST_CHARACTERS as MOST_OF_VALUE
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
from drift.indexing.links import place_links
from drift.indexing.reading_process import Guard, guarded
from drift.local.ingest import formats
from drift.local.ingest.code.code_documents import read_code
from drift.local.ingest.code.languages import LANGUAGES
from drift.local.ingest.formats import NO_TALK, Talk, tool_configurations
from drift.local.ingest.formats.encodings import decoded, decoded_page
from drift.local.ingest.formats.html_text import read_page
from drift.local.ingest.formats.quotes import QUOTED
from drift.local.ingest.formats.secrets import is_private_key
from drift.local.ingest.front_matter import MOST_CHARACTERS, without_front_matter
from drift.local.ingest.kinds import MEDIA_TYPES, why_machine_made
from drift.local.ingest.markdown_comments import without_comments
from drift.model.attributes import NOTHING_SAID, Attributes, Value

MAX_FILE_BYTES = 50 * 1024 * 1024
REPEATS = " without what it quotes"
"""What the hash of a message ends with that is read so."""


def printable(name: str) -> str:
    """Return a file's name with the bytes that are not UTF-8 spelled out in hexadecimal."""
    return os.fsencode(name).decode(errors="backslashreplace")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a source, known by its content before anybody reads what it says.

    `id` is its path below the source with forward slashes, `content_hash` the SHA-256 of its bytes,
    in hex, and `updated_at` when it was last changed, in milliseconds since 1970. One with
    `content` is read from that, wherever it is. `given` is what others say of it, and `made_by`
    what tells that no person wrote it. It `supersedes` others, by names with commas between them.

    A message may be the bytes of a `span` of its file. What is `within` a message is told by its
    number there, once more for each message around it, and `parent` is the id of the innermost.
    """

    path: Path
    id: str
    content_hash: str
    updated_at: int
    source_uri: str = ""
    content: bytes | None = None
    given: Attributes = NOTHING_SAID
    made_by: str = ""
    supersedes: str = ""
    span: tuple[int, int] | None = None
    within: tuple[int, ...] = ()
    parent: str = ""
    talk: Talk = NO_TALK

    def loaded(self) -> SourceFile | Skipped:
        """Return it with its content, as it is now, or why it is not read."""
        found = bytes_of(self.path, self.id, self.span)
        if isinstance(found, Skipped):
            return found
        content, changed = found
        if self.span or self.within:
            from drift.local.ingest.formats import mail  # noqa: PLC0415 - most folders hold none

            content = mail.taken_out(content, self.within, is_escaped=self.span is not None)
            changed = self.updated_at
            if sha256(content) != self.content_hash.removesuffix(REPEATS):
                return Skipped(self.id, "has changed since it was looked at", unreadable=True)
        return replace(self, content=content, updated_at=changed)

    def attached_to(self, name: str) -> SourceFile:
        """Return it as what is attached to the document of this id."""
        told: dict[str, Value] = {"attached_to": name} if len(name) <= MOST_OF_VALUE else {}
        return replace(self, given=Attributes((), told).over(self.given))

    def read(self) -> SourceDocument | Skipped:
        """Return it as a document, as it is now, or why it is none."""
        held = self if self.content is not None else self.loaded()
        if isinstance(held, Skipped):
            return held
        read = document_in(held.content or b"", held.id, held.updated_at)
        if isinstance(read, Skipped):
            return read
        if self.content_hash.endswith(REPEATS) and QUOTED in read.text:
            read = _without_quoted(read)
        own = read.own
        if self.parent and own.created_at is None:
            own = replace(own, created_at=self.updated_at)
        said = self.given.over(own)
        left_out = len({*self.given.tags, *own.tags}) - len(said.tags)
        left_out += len(own.metadata.keys() | self.given.metadata) - len(said.metadata)
        remark = f"has too many tags or metadata: {left_out:,} are left out" if left_out else ""
        note = "; ".join(filter(None, (read.note, remark)))
        return replace(read, source_uri=self.source_uri, own=own, given=self.given, note=note)


def _without_quoted(read: SourceDocument) -> SourceDocument:
    text, _, quoted = read.text.rpartition(QUOTED)
    lines = sum(line.strip("> ") != "" for line in quoted.split("\n"))
    note = f"{lines:,} quoted lines are left out: they are read where they were written"
    note = "; ".join(filter(None, (read.note, note)))
    return replace(read, text=text.rstrip(), content_hash=read.content_hash + REPEATS, note=note)


def look_at(path: Path, name: str, guard: Guard = guarded) -> SourceFile | Skipped:
    """Return the file as one called `name`, or why it is none; nothing is raised."""
    return guard(printable(name), partial(_look_at, path, name))


def read_document(path: Path, name: str, guard: Guard = guarded) -> SourceDocument | Skipped:
    """Return the file as a document called `name`, or why it is none; nothing is raised."""
    return guard(printable(name), SourceFile(path, name, "", 0).read)


def document_in(content: bytes, name: str, updated_at: int | None) -> SourceDocument | Skipped:
    """Return the content of a file called `name` as a document, or why it is none."""
    read = _read_by_ending(content, name, updated_at)
    if isinstance(read, Skipped):
        return read
    return replace(read, media_type=MEDIA_TYPES.get(formats.canonical_ending(name), ""))


def _read_by_ending(content: bytes, name: str, updated_at: int | None) -> SourceDocument | Skipped:
    ending = formats.canonical_ending(name)
    if ending in LANGUAGES:
        return read_code(content, name, updated_at)
    if PurePosixPath(name).name in tool_configurations.NAMES:
        return tool_configurations.read_tools(content, name, updated_at)
    if ending not in formats.ENDINGS:
        is_headed = FORMATS.get(ending) == "markdown"
        in_words = _read_page if ending in PAGES else _read_markdown if is_headed else _read_text
        return in_words(content, name, updated_at)
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
    return decode(content, name, updated_at, decoded)


def _read_page(content: bytes, name: str, updated_at: int | None) -> SourceDocument | Skipped:
    found = text_of(content, name, decoded_page)
    if isinstance(found, Skipped):
        return found
    page = read_page(found[0])
    if page.is_redirect:
        return Skipped(name, "leads to another page, and says nothing itself")
    return document_with(
        name,
        content,
        page.text,
        "markdown",
        page.title,
        updated_at=updated_at,
        note="; ".join(filter(None, (found[1], page.note))),
        links=place_links(page.text, page.links),
        own=page.own,
    )


def _read_markdown(content: bytes, name: str, updated_at: int | None) -> SourceDocument | Skipped:
    """Return Markdown without comments and its front matter, which is said of it instead."""
    found = text_of(content, name, decoded)
    if isinstance(found, Skipped):
        return found
    text, own, remark = without_front_matter(found[0].replace("\r\n", "\n"))
    text, comments = without_comments(text)
    read = decode(text.encode(), name, updated_at)
    if isinstance(read, Skipped):
        return read
    return replace(
        read,
        title=own.title or read.title,
        content_hash=sha256(content),
        note="; ".join(filter(None, (found[1], remark, comments))),
        own=own,
    )


def _look_at(path: Path, name: str) -> SourceFile | Skipped:
    found = bytes_of(path, name)
    return found if isinstance(found, Skipped) else known_by(path, name, *found)


def known_by(path: Path, name: str, content: bytes, updated_at: int) -> SourceFile:
    """Return a file by its content."""
    return SourceFile(
        path,
        name,
        sha256(content),
        updated_at,
        made_by=why_machine_made(name, content),
        supersedes=_superseded_in(content),
    )


def _superseded_in(content: bytes) -> str:
    """Return what front matter says that its document supersedes."""
    if not content.startswith(b"---") or b"supersedes" not in content[: MOST_CHARACTERS + 4]:
        return ""
    text = content.decode(errors="replace").replace("\r\n", "\n")
    return str(without_front_matter(text)[1].metadata.get("supersedes", ""))


def bytes_of(
    path: Path, name: str, span: tuple[int, int] | None = None
) -> tuple[bytes, int] | Skipped:
    """Return a file's content, and when it was last changed; or why it is not read.

    Of a `span` only those bytes are read.
    """
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
        begin, end = span or (0, facts.st_size)
        file.seek(begin)
        content = file.read(end - begin + (span is None))

    if len(content) != end - begin:
        return Skipped(
            name, "has another length than it says: it may just be written", unreadable=True
        )

    return content, facts.st_mtime_ns // 1_000_000


def open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting for it, and no link."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW)

"""One file as a document, or the reason why it is none.

Whatever a file holds or does costs that file, never a run.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from drift.local.ingest.blocks import MAX_TITLE_CHARS, Format, first_heading
from drift.local.ingest.cleaning import clean, is_crawled
from drift.local.ingest.html_text import read_page

FORMATS: dict[str, Format] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".rst": "rst",
    ".txt": "text",
    "": "text",
    ".html": "markdown",
    ".htm": "markdown",
    ".xhtml": "markdown",
}
"""Endings that are read, and none, as in README; HTML is turned into Markdown first."""

_CONVERTED = {".html", ".htm", ".xhtml"}

MAX_FILE_BYTES = 50 * 1024 * 1024
MAX_FILE_SECONDS = 120.0
"""What one file may take to read, and again to cut, where it is read in a process of its own."""

_FIRST_HEADING = re.compile(r"\s*#{1,3} \S")
_HEADING = re.compile(r"#{1,6} \S")
_FENCE = re.compile(r"(```|~~~)[\w-]*$")
_BLOCKS_OF_MARKDOWN = 2

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, with which it begins
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LOOKED_AT = 1024
"""Bytes of a file without a mark that tell whether it is UTF-16."""

_MAX_REASON = 200

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document as it is read.

    `id` is its path below the source with forward slashes; lines of `text` end with line feeds.
    `source_uri` is the address at which a reader finds it, or empty. `has_lines` says that the
    lines of the text are those of the file, as people find them there; what was converted has none.
    `updated_at` is when the file was last changed, in milliseconds since 1970.
    """

    id: str
    title: str
    text: str
    format: Format
    source_uri: str = ""
    has_lines: bool = False
    updated_at: int | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not read; `unreadable` when it may well be readable the next time."""

    path: str
    reason: str
    unreadable: bool = False


class Guard(Protocol):
    """Does the work on one file as `guarded` does, or `ReadingProcess.guarded`."""

    def __call__(
        self, name: str, work: Callable[[], Result], seconds: float | None = MAX_FILE_SECONDS
    ) -> Result | Skipped:
        """Return what the work gives, or why the file is skipped."""


def guarded(
    name: str,
    work: Callable[[], Result],
    seconds: float | None = None,  # noqa: ARG001 - nothing can be ended in this process
) -> Result | Skipped:
    """Return what the work on one file gives.

    An error of whatever kind makes it a skipped file, with the reason.
    """
    try:
        return work()
    except OSError as error:
        return Skipped(name, f"cannot be read: {words_of(error)}", unreadable=True)
    except Exception as error:  # noqa: BLE001 - parsers fail in ways of their own, and the next file is not to blame
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return Skipped(name, f"cannot be understood ({' '.join(what.split())[:_MAX_REASON]})")


def printable(name: str) -> str:
    """Return a file's name with the bytes that are not UTF-8 spelled out in hexadecimal."""
    return os.fsencode(name).decode(errors="backslashreplace")


def words_of(error: Exception) -> str:
    """Return the system's words for what went wrong, without the path."""
    return getattr(error, "strerror", None) or str(error)


def read_document(path: Path, name: str, guard: Guard = guarded) -> SourceDocument | Skipped:
    """Return the file as a document called `name`, or why it is none.

    Nothing that it holds or does is raised.
    """
    return guard(printable(name), partial(_read, path, name))


def _read(path: Path, name: str) -> SourceDocument | Skipped:
    if printable(name) != name:
        return Skipped(printable(name), "has a name that is not valid UTF-8")
    if not stat.S_ISREG(path.stat().st_mode):  # looked at first: a device may act when it is opened
        return Skipped(name, "is not a regular file")

    # It may have become a link, a pipe or another file since: nothing is followed and nothing
    # waited for.
    with open(path, "rb", opener=_open_at_once) as file:
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

    return _decode(content, name, facts.st_mtime_ns // 1_000_000)


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW)


def _decode(content: bytes, name: str, updated_at: int) -> SourceDocument | Skipped:
    encoding = _encoding(content)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding == "utf-8" and b"\0" in content:
            return Skipped(name, "is a binary file: it holds NUL bytes")
        where = f"byte {error.start:,} is 0x{content[error.start]:02x}"
        return Skipped(name, f"is not {encoding.removesuffix('-sig').upper()}: {where}")

    if "\0" in text:
        return Skipped(name, "is a binary file: it holds NUL bytes")

    title, suffix = "", Path(name).suffix.lower()
    is_converted = suffix in _CONVERTED
    if is_converted:
        text, title = read_page(text)

    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text_format = FORMATS[suffix]
    if text_format == "text" and _is_markdown(text):
        text_format = "markdown"

    read = text
    if not is_converted and text_format != "rst" and is_crawled(text):
        text = clean(text)
    if not text.strip():
        reason = "holds nothing but links, banners and buttons" if read.strip() else "holds no text"
        return Skipped(name, reason if content else "is empty")

    title = title[:MAX_TITLE_CHARS].strip() or first_heading(text, text_format) or Path(name).name
    return SourceDocument(
        name, title, text, text_format, has_lines=not is_converted, updated_at=updated_at
    )


def _encoding(content: bytes) -> str:
    """Return UTF-16 or UTF-32 where the file says so, or where every other byte is zero."""
    for mark, name in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return name

    beginning = content[:_LOOKED_AT]
    first, second = beginning[::2].count(0), beginning[1::2].count(0)
    if max(first, second) > len(beginning) / 4 and not min(first, second):
        guessed = "utf-16-be" if first else "utf-16-le"
        text = beginning.decode(guessed, errors="replace")
        if len(content) % 2 == 0 and all(c.isprintable() or c.isspace() for c in text):
            return guessed

    return "utf-8"


def _is_markdown(text: str) -> bool:
    """Tell whether plain text is Markdown in fact.

    It begins with a `#` heading, or it has a fenced block and such a heading, or another block. A
    single block stands in many a text that has underlined headings.
    """
    if _FIRST_HEADING.match(text):
        return True

    blocks, has_heading, fence = 0, False, ""
    for line in text.split("\n"):
        if found := _FENCE.match(line):
            blocks += found[1] == fence
            fence = found[1] if not fence else "" if found[1] == fence else fence
        elif not fence and _HEADING.match(line):
            has_heading = True

    return blocks + has_heading >= _BLOCKS_OF_MARKDOWN and blocks > 0

"""Pure: the bytes of one file as a document, or the reason why they are none."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from drift.core.hyperlinks import Link, links_in
from drift.graph.writing.records import Definition
from drift.indexing.blocks import MAX_TITLE_CHARS, Format, first_heading
from drift.indexing.cleaning import clean, is_crawled
from drift.indexing.links import PlacedLink, place_links
from drift.indexing.pages import without_running_heads
from drift.model.attributes import NOTHING_SAID, Attributes

DECODING_VERSION = "7"
"""Changes with what is made of the same bytes: then documents are written again."""

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

PAGES = frozenset({".html", ".htm", ".xhtml"})

CONFIGURATIONS = frozenset({"mcp.json", ".mcp.json", "claude_desktop_config.json", "tools.json"})
"""Files about tools. They may hold secrets, so they are no text, whatever they are called."""

MAY_HOLD_SECRETS = (
    "configures tools, and may hold secrets: `drift ingest` reads it without them, called mcp.json"
)


ReadFile = Callable[[str, bytes], "SourceDocument | Skipped"]
"""Reads a file of any kind by its name and content."""
Detect = Callable[[bytes], tuple[str, str]]
"""Gives the text of a content in whatever encoding, and a note on that."""
_LICENCE = re.compile(
    r"(?i)(?:(?:un)?licen[cs]e|copying|notice|copyright)[^.]*\."
    r"(?:mit|isc|bsd|zlib|[al]?gpl|mpl|epl|apache|lesser|lib|cc0|ofl|boost|psf)[-v]?[0-9]*$"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters `start` to `end` of a text as one chunk, with what it defines and names."""

    start: int
    end: int
    heading: str
    defines: tuple[Definition, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document as it is read.

    `id` is its path below the source with forward slashes; lines of `text` end with line feeds.
    `source_uri` is the address at which a reader finds it, or empty. `has_lines` says that the
    lines of the text are those of the file, as people find them there; what was converted has none.
    One that `has_pages` has a form feed before each of them but the first.
    `updated_at` is when the file was last changed, in milliseconds since 1970. `content_hash` is
    the SHA-256, in hex, of the bytes that it was read from; without it, of the text. `note` says
    what a reader of the report should know of how it was read. `pieces` are its chunks, where
    whoever read it knows better than the rules of its format. `links` are those of which the text
    has the words alone. `own` is what it says of itself beside its text, and `given` what others
    say of it, which counts for more. Without a `media_type` it has that of its format. The text of
    one that `is_shown_whole` lacks no secret of the file. Where it `keeps_attributes`, what others
    said of it earlier stays.
    """

    id: str
    title: str
    text: str
    format: Format
    source_uri: str = ""
    has_lines: bool = False
    updated_at: int | None = None
    content_hash: str = ""
    has_pages: bool = False
    note: str = ""
    pieces: tuple[Piece, ...] = ()
    links: tuple[PlacedLink, ...] = ()
    own: Attributes = NOTHING_SAID
    given: Attributes = NOTHING_SAID
    media_type: str = ""
    is_shown_whole: bool = True
    keeps_attributes: bool = False

    def __post_init__(self) -> None:
        """Hash the text where nothing else is hashed."""
        if not self.content_hash:
            object.__setattr__(self, "content_hash", sha256(self.text.encode()))


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not read; `unreadable` when it may well be readable the next time."""

    path: str
    reason: str
    unreadable: bool = False


def ending_of(name: str) -> str:
    """Return how a file's name ends, in small letters: `.md`.

    Behind what is no ending, as in Apache-2.0, README.1 and LICENSE.MIT, it has none, or another.
    """
    name = _file_name(name)
    # That of a version, a section or a copy.
    while number := re.search(
        r"(?<=.)\.[0-9]+(?:[-+_][^.]*|(?:a|b|rc|alpha|beta|dev|post)[0-9]*)?$", name
    ):
        name = name[: number.start()]
    return "" if _LICENCE.match(name) else PurePosixPath(name).suffix.lower()


def sha256(content: bytes) -> str:
    """Return the SHA-256 of a content, in hex."""
    return hashlib.sha256(content).hexdigest()


def decode(
    content: bytes,
    name: str,
    updated_at: int | None = None,
    detect: Detect | None = None,
) -> SourceDocument | Skipped:
    """Return the content of a file called `name` as a document, or why it is none.

    `detect` gives the text of what is in no Unicode encoding, and a note; without it that is no
    document. Pages of HTML are none.
    """
    suffix = ending_of(name)
    if suffix not in FORMATS or suffix in PAGES:
        return Skipped(name, f"ends with {suffix}, which is not read here")

    found = text_of(content, name, detect)
    if isinstance(found, Skipped):
        return found

    text, note = found
    links: Iterable[Link] = ()
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text_format = FORMATS[suffix]
    if text_format == "text" and _is_markdown(text):
        text_format = "markdown"

    read = text
    if text_format != "rst" and is_crawled(text):
        text, links = clean(text), links_in(text)
    if read.strip() and not text.strip():
        return Skipped(name, "holds nothing but links, banners and buttons")

    has_pages = "\f" in text
    if has_pages:
        text = "\f".join(without_running_heads(text.split("\f")))
    return document_with(
        name,
        content,
        text,
        text_format,
        has_lines=True,
        updated_at=updated_at,
        has_pages=has_pages,
        note=note,
        links=place_links(text, links),
    )


def document_with(
    name: str,
    content: bytes,
    text: str,
    text_format: Format,
    title: str = "",
    **more: Any,  # noqa: ANN401 - the other fields of a document
) -> SourceDocument | Skipped:
    """Return a document that says this text, called by its title, first heading or file."""
    if not text.strip():
        return Skipped(name, "holds no text" if content else "is empty")
    if text.lstrip().startswith("{") and '"mcpServers"' in text:
        return Skipped(name, MAY_HOLD_SECRETS)
    own = " ".join(title.split())[:MAX_TITLE_CHARS].strip()
    called = own or first_heading(text, text_format) or _file_name(name)
    return SourceDocument(name, called, text, text_format, content_hash=sha256(content), **more)


def document_of(
    name: str, content: bytes, *, title: str = "", source_uri: str = "", default: str = ""
) -> SourceDocument | Skipped:
    """Return a content that was handed over under any name as a document, or why it is none.

    The ending of the name tells what it is; of one that is not known, the ending `default` does.
    """
    suffix = ending_of(name)
    if suffix in PAGES:
        return Skipped(name, f"ends with {suffix}: HTML is read by `drift ingest` alone")
    if _file_name(name).lower() in CONFIGURATIONS:
        return Skipped(name, MAY_HOLD_SECRETS)

    known_as = name if suffix in FORMATS else f"text{default}"
    read = decode(content, known_as)
    if isinstance(read, Skipped):
        return replace(read, path=name)

    told = _file_name(name) if is_file_name(read.title, known_as) else read.title
    return replace(read, id=name, title=title or told, source_uri=source_uri)


def is_file_name(title: str, name: str) -> bool:
    """Tell whether a document of this name has no title but that of its file."""
    return title == _file_name(name)


def _file_name(name: str) -> str:
    return PurePosixPath(name).name


def text_of(content: bytes, name: str, detect: Detect | None = None) -> tuple[str, str] | Skipped:
    """Return the text of a content with a note on its encoding, or why there is none."""
    encoding = _encoding(content)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding == "utf-8" and b"\0" in content:
            return Skipped(name, "is a binary file: it holds NUL bytes")
        if detect is not None and encoding.startswith("utf-8"):
            return detect(content)
        where = f"byte {error.start:,} is 0x{content[error.start]:02x}"
        return Skipped(name, f"is not {encoding.removesuffix('-sig').upper()}: {where}")

    return Skipped(name, "is a binary file: it holds NUL bytes") if "\0" in text else (text, "")


def _encoding(content: bytes) -> str:
    """Return UTF-16 or UTF-32 where the file says so, or where every other byte is zero."""
    byte_order_marks = (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, with which it begins
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    )
    for mark, name in byte_order_marks:
        if content.startswith(mark):
            return name

    beginning = content[:1024]  # so much tells whether it is UTF-16 without a mark
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
    blocks_of_markdown = 2
    if re.match(r"\s*#{1,3} \S", text):
        return True

    blocks, has_heading, fence = 0, False, ""
    for line in text.split("\n"):
        if found := re.match(r"(```|~~~)[\w-]*$", line):
            blocks += found[1] == fence
            fence = found[1] if not fence else "" if found[1] == fence else fence
        elif not fence and re.match(r"#{1,6} \S", line):
            has_heading = True

    return blocks + has_heading >= blocks_of_markdown and blocks > 0

"""Read documents from a file or a folder; what cannot be read is skipped with a reason, never guessed at."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from drift.errors import IngestError
from drift.ingest.blocks import Format, first_heading
from drift.ingest.html_text import html_to_markdown

FORMATS: dict[str, Format] = {".md": "markdown", ".rst": "rst", ".txt": "text", ".html": "markdown", ".htm": "markdown"}
"""Endings that are read; HTML is turned into Markdown first."""

MAX_FILE_BYTES = 50 * 1024 * 1024
_MARKDOWN = re.compile(r"\A\s*#{1,3} \S|^(?:```|~~~)[\w-]*$", re.MULTILINE)
"""Plain text that is Markdown in fact: it begins with a `#` heading or has a fenced block."""

_LEFT_OUT = {"node_modules", "__pycache__"}
_ENDINGS = ", ".join(sorted(FORMATS))


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document as read: `id` its path below the source with forward slashes, `text` with line feeds as line ends."""

    id: str
    title: str
    text: str
    format: Format


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not read; `unreadable` when it may well be readable the next time."""

    path: str
    reason: str
    unreadable: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """All that one place holds; `name` tells it from other sources of the same project."""

    name: str
    documents: tuple[SourceDocument, ...]
    skipped: tuple[Skipped, ...] = field(default=())


def read_source(path: Path) -> Source:
    """Return the documents of a folder (recursively) or of one file, in the order of their ids.

    Links are not followed, hidden folders and node_modules are left out.

    Raises:
        IngestError: when there is no such path, nothing in it can be read, or the one file cannot be.
    """
    try:
        root = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: a link to itself, before Python 3.13
        raise IngestError(f"{path} cannot be read: {_words(error)}. Name a folder or a file that exists.") from error
    return _read_folder(root) if root.is_dir() else _read_single(root)


def _read_folder(root: Path) -> Source:
    documents: list[SourceDocument] = []
    skipped: list[Skipped] = []
    for found in _walk(root):
        read = found if isinstance(found, Skipped) else _read(found, found.relative_to(root).as_posix())
        if isinstance(read, Skipped):
            skipped.append(read)
        else:
            documents.append(read)
    if not documents:
        reasons = "".join(f" {s.path}: {s.reason}." for s in skipped[:10])
        raise IngestError(f"{root} holds no file that can be read. Looked for {_ENDINGS}, in all its folders.{reasons}")
    return Source(str(root), tuple(sorted(documents, key=lambda d: d.id)), tuple(sorted(skipped, key=lambda s: s.path)))


def _read_single(path: Path) -> Source:
    if path.suffix.lower() not in FORMATS:
        raise IngestError(
            f"{path} is not a kind of file that is read. Give a folder, or a file that ends with {_ENDINGS}."
        )
    read = _read(path, path.name)
    if isinstance(read, Skipped):
        raise IngestError(f"{path} cannot be ingested: {read.reason}.")
    return Source(str(path), (read,))


def _walk(root: Path) -> Iterator[Path | Skipped]:
    """Yield files with a known ending; links and unreadable folders as skipped."""
    refused: list[Skipped] = []

    def refuse(error: OSError) -> None:
        refused.append(
            Skipped(_below(Path(str(error.filename)), root), f"cannot be read: {_words(error)}", unreadable=True)
        )

    for folder, subfolders, files in os.walk(root, onerror=refuse):
        here = Path(folder)
        subfolders[:] = sorted(s for s in subfolders if not s.startswith(".") and s not in _LEFT_OUT)
        for name in [s for s in subfolders if (here / s).is_symlink()]:
            yield Skipped(_below(here / name, root), _about_link(here / name, root))
        for name in sorted(f for f in files if Path(f).suffix.lower() in FORMATS and not f.startswith(".")):
            link = (here / name).is_symlink()
            yield Skipped(_below(here / name, root), _about_link(here / name, root)) if link else here / name
    yield from refused


def _about_link(link: Path, root: Path) -> str:
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):
        return "is a link that leads nowhere or to itself"
    inside = target == root or root in target.parents
    return (
        "is a link within the folder: what it names is read in its own place"
        if inside
        else "is a link that leaves the folder"
    )


def _read(path: Path, name: str) -> SourceDocument | Skipped:
    try:
        name.encode()
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            return Skipped(name, "is not a regular file")
        if facts.st_size > MAX_FILE_BYTES:
            return Skipped(name, f"has {facts.st_size:,} bytes, more than {MAX_FILE_BYTES:,}")
        content = path.read_bytes()
    except UnicodeEncodeError:
        return Skipped(name.encode(errors="replace").decode(), "has a name that is not valid UTF-8")
    except OSError as error:
        return Skipped(name, f"cannot be read: {_words(error)}", unreadable=True)
    return _decode(content, name)


def _decode(content: bytes, name: str) -> SourceDocument | Skipped:
    if b"\0" in content:
        return Skipped(name, "is a binary file: it holds NUL bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Skipped(name, f"is not UTF-8: byte {error.start:,} is 0x{content[error.start]:02x}")
    text, title = text.replace("\r\n", "\n").replace("\r", "\n"), ""
    suffix = Path(name).suffix.lower()
    if suffix in {".html", ".htm"}:
        text, title = html_to_markdown(text)
    if not text.strip():
        return Skipped(name, "is empty" if not content else "holds no text")
    text_format = "markdown" if suffix == ".txt" and _MARKDOWN.search(text) else FORMATS[suffix]
    return SourceDocument(name, first_heading(text, text_format) or title or Path(name).name, text, text_format)


def _below(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix().encode(errors="replace").decode()


def _words(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)

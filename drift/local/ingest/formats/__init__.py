"""Readers of formats: each gives Markdown, with a form feed between pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePosixPath
from typing import Self

from drift.indexing.blocks import Format
from drift.indexing.documents import FORMATS, Piece, ending_of
from drift.model.attributes import NOTHING_SAID, Attributes

FREE_CHARACTERS, CHARACTERS_A_BYTE = 1_000_000, 100
"""What any file may become, and more for each of its bytes; what was packed well becomes 20."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a reader found in a file.

    `text` is Markdown, or of another `format`, with a form feed before each page but the first
    where it `has_pages`; it `has_lines` where they are those of the file. `title` is the one of the
    file's own metadata, or empty, and `note` says what was left out. `own` is all else that the
    file says of itself, such as its author. `pieces` are its chunks, where the reader knows them.
    """

    text: str
    title: str = ""
    has_pages: bool = False
    note: str = ""
    own: Attributes = NOTHING_SAID
    format: Format = "markdown"
    has_lines: bool = False
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Talk:
    """Which message a file is, which one it answers, and how many characters it quotes."""

    id: str = ""
    answers: str = ""
    quoted: int = 0


NO_TALK = Talk()


class NoDocumentError(Exception):
    """A file holds nothing that can be read, for the reason that is told."""


class DamagedError(NoDocumentError):
    """A file is not whole, maybe because it is just being written."""


@dataclass(slots=True)
class Growth:
    """Counts the characters that a file becomes, so that a small one becomes no large document."""

    most: int
    _sum: int = 0

    @classmethod
    def of(cls, content: bytes) -> Self:
        """Return the count of a file with this content."""
        return cls(FREE_CHARACTERS + CHARACTERS_A_BYTE * len(content))

    def seen(self, parts: Iterable[str]) -> Iterator[str]:
        """Yield the parts of a text; NoDocumentError as soon as they are too long together."""
        for part in parts:
            self._sum += len(part)
            if self._sum > self.most:
                raise NoDocumentError(
                    f"would become more than {self.most:,} characters, which is over "
                    f"{CHARACTERS_A_BYTE} times its size"
                )
            yield part


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of files: how they end, the module and function that read them, their media type."""

    endings: tuple[str, ...]
    module: str
    function: str
    media_type: str


_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN = "application/vnd.oasis.opendocument"
KINDS = (
    Kind((".pdf",), "pdf", "read_pdf", "application/pdf"),
    Kind((".docx",), "word", "read_word", f"{_OFFICE}.wordprocessingml.document"),
    Kind((".pptx",), "slides", "read_slides", f"{_OFFICE}.presentationml.presentation"),
    Kind((".odt",), "open_documents", "read_open_document", f"{_OPEN}.text"),
    Kind((".odp",), "open_documents", "read_open_document", f"{_OPEN}.presentation"),
    Kind((".rtf",), "rich_text", "read_rich_text", "application/rtf"),
    Kind((".epub",), "books", "read_book", "application/epub+zip"),
    Kind((".xlsx",), "sheets", "read_workbook", f"{_OFFICE}.spreadsheetml.sheet"),
    Kind((".ods",), "sheets", "read_workbook", f"{_OPEN}.spreadsheet"),
    Kind((".csv",), "delimited", "read_csv", "text/csv"),
    Kind((".tsv",), "delimited", "read_csv", "text/tab-separated-values"),
    Kind((".ipynb",), "notebook", "read_notebook", "application/x-ipynb+json"),
    Kind((".eml",), "mail", "read_mail", "message/rfc822"),
    Kind((".mbox",), "mail", "read_mailbox", "application/mbox"),
    Kind((".json", ".jsonc", ".json5", ".geojson"), "json_yaml", "read_json", "application/json"),
    Kind((".jsonl", ".ndjson"), "json_yaml", "read_json_lines", "application/x-ndjson"),
    Kind((".yaml", ".yml"), "json_yaml", "read_yaml", "application/yaml"),
    Kind((".xml", ".xsd", ".wsdl"), "xml_files", "read_xml", "application/xml"),
    Kind((".toml",), "head_lines", "read_toml", "application/toml"),
    Kind((".ini", ".cfg", ".conf", ".properties"), "head_lines", "read_ini", "text/plain"),
    Kind((".sql", ".ddl"), "head_lines", "read_sql", "application/sql"),
    Kind((".sh", ".bash"), "head_lines", "read_shell", "application/x-sh"),
    Kind((".dockerfile",), "head_lines", "read_dockerfile", "text/x-dockerfile"),
    Kind((".mk",), "head_lines", "read_makefile", "text/x-makefile"),
)
"""All that a module of this package reads; source code, Markdown and pages have their own."""

_BY_ENDING = {ending: kind for kind in KINDS for ending in kind.endings}
ENDINGS = frozenset(_BY_ENDING)
MEDIA_TYPES = {ending: kind.media_type for ending, kind in _BY_ENDING.items()}

OF_SEVERAL = frozenset({".eml", ".mbox", ""})
"""Files that may be several documents, each at a path below that of the file."""

WITHOUT_TITLES = frozenset({".pdf"})
"""Those of whose text the first heading is no title: it is the first of the outline."""

_NAMED = {
    **dict.fromkeys(("dockerfile", "containerfile"), ".dockerfile"),
    **dict.fromkeys(("makefile", "gnumakefile"), ".mk"),
}
NO_SECRETS = "keys and passwords are not read"

NOT_TAKEN = {
    **dict.fromkeys((".doc", ".pages"), "save it as .docx or .pdf"),
    **dict.fromkeys((".xls", ".xlsb", ".numbers"), "save it as .xlsx or .csv"),
    **dict.fromkeys((".ppt", ".key"), "save it as .pptx or .pdf"),
    **dict.fromkeys((".docm", ".xlsm", ".pptm"), "save it without macros"),
    **dict.fromkeys((".mobi",), "convert it to .epub or .html"),
    **dict.fromkeys((".zip", ".tar", ".gz", ".7z"), "unpack it"),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".tif", ".tiff"), "pictures are not read"),
    ".msg": "save the message as .eml",
    **dict.fromkeys((".env", ".pem", ".p12", ".pfx", ".jks", ".kdbx"), NO_SECRETS),
    **dict.fromkeys((".tfstate", ".tfvars", ".ppk", ".ovpn"), NO_SECRETS),
}
"""What to do about endings that people may expect to be read."""


def canonical_ending(name: str) -> str:
    """Return the ending of a file's name, or the one that a Dockerfile or Makefile stands for."""
    ending = ending_of(name)
    if ending in ENDINGS or ending in NOT_TAKEN or (ending and ending in FORMATS):
        return ending
    return _NAMED.get(PurePosixPath(name).name.split(".")[0].lower(), ending)


def module_of(ending: str) -> str:
    """Return the name of the module that reads files of an ending; empty where none here does."""
    kind = _BY_ENDING.get(ending)
    return kind.module if kind else ""


def reader_of(ending: str) -> Callable[[bytes], Read]:
    """Return what reads files of an ending; its parser is loaded only now."""
    kind = _BY_ENDING[ending]
    module = import_module(f".{kind.module}", __name__)
    read: Callable[[bytes], Read] = getattr(module, kind.function)
    return read

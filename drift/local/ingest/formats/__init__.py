"""Readers of formats: each gives Markdown, with a form feed between pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Self

FREE_CHARACTERS, CHARACTERS_A_BYTE = 1_000_000, 100
"""What any file may become, and more for each of its bytes; what was packed well becomes 20."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a reader found in a file.

    `text` is Markdown, with a form feed before each page but the first where it `has_pages`.
    `title` is the one of the file's own metadata, or empty, and `note` says what was left out.
    """

    text: str
    title: str = ""
    has_pages: bool = False
    note: str = ""


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


_READERS = {
    ".pdf": ("pdf", "read_pdf"),
    ".docx": ("word", "read_word"),
    ".pptx": ("slides", "read_slides"),
    ".xlsx": ("sheets", "read_workbook"),
    ".ods": ("sheets", "read_workbook"),
    ".csv": ("sheets", "read_csv"),
    ".tsv": ("sheets", "read_csv"),
    ".ipynb": ("notebook", "read_notebook"),
}
"""The module of this package, and the function in it, by the ending of a file."""

ENDINGS = frozenset(_READERS)

WITHOUT_TITLES = frozenset({".pdf"})
"""Those of whose text the first heading is no title: it is the first of the outline."""

NOT_TAKEN = {
    **dict.fromkeys((".doc", ".odt", ".rtf", ".pages"), "save it as .docx or .pdf"),
    **dict.fromkeys((".xls", ".xlsb", ".numbers"), "save it as .xlsx or .csv"),
    **dict.fromkeys((".ppt", ".odp", ".key"), "save it as .pptx or .pdf"),
    **dict.fromkeys((".docm", ".xlsm", ".pptm"), "save it without macros"),
    **dict.fromkeys((".epub", ".mobi"), "convert it to .html"),
    **dict.fromkeys((".zip", ".tar", ".gz", ".7z"), "unpack it"),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".tif", ".tiff"), "pictures are not read"),
    **dict.fromkeys((".eml", ".msg"), "save the message as .html or .txt"),
}
"""What to do about endings that people may expect to be read."""


def reader_of(ending: str) -> Callable[[bytes], Read]:
    """Return what reads files of an ending; its parser is loaded only now."""
    module, name = _READERS[ending]
    read: Callable[[bytes], Read] = getattr(import_module(f"{__name__}.{module}"), name)
    return read

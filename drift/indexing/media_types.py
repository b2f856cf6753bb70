"""Pure: the media type of a document, by how its file's name ends."""

from __future__ import annotations

from drift.indexing.blocks import Format
from drift.indexing.documents import ending_of

_OFFICE = "application/vnd.openxmlformats-officedocument."
_OF_ENDINGS = {
    ".htm": "text/html",
    ".html": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".txt": "text/plain",
    ".pdf": "application/pdf",
    ".docx": f"{_OFFICE}wordprocessingml.document",
    ".pptx": f"{_OFFICE}presentationml.presentation",
    ".xlsx": f"{_OFFICE}spreadsheetml.sheet",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".ipynb": "application/x-ipynb+json",
    ".json": "application/json",
}
_OF_FORMATS = {"markdown": "text/markdown", "rst": "text/x-rst", "text": "text/plain"}


def media_type_of(name: str, text_format: Format) -> str:
    """Return the media type of a file of this name; of another ending, that of its text."""
    return _OF_ENDINGS.get(ending_of(name), _OF_FORMATS[text_format])

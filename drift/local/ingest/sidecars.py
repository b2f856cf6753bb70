"""What a file beside a document says of it: `guide.pdf.meta.json` of `guide.pdf`, a JSON object."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from drift.contracts.attributes import DocumentAttributes
from drift.contracts.body import plain_text
from drift.core.errors import InvalidRequestError
from drift.http.http import parse
from drift.indexing.blocks import MAX_TITLE_CHARS
from drift.indexing.documents import Skipped
from drift.indexing.reading_process import words_of
from drift.local.ingest.files import SourceFile
from drift.model.attributes import NOTHING_SAID, Attributes

ENDING = ".meta.json"
MOST_BYTES = 64 * 1024


class Sidecar(DocumentAttributes):
    """What such a file holds; unknown fields are refused."""

    title: Annotated[
        str, StringConstraints(max_length=MAX_TITLE_CHARS), AfterValidator(plain_text)
    ] = ""


def document_beside(path: Path) -> Path | None:
    """Return the document that a file of this name tells of, where there is one."""
    name = path.name.removesuffix(ENDING)
    document = path.with_name(name) if name and name != path.name else None
    return document if document is not None and document.is_file() else None


def read_sidecar(document: Path, name: str) -> Attributes | Skipped:
    """Return what the file beside a document says of it; nothing of a document without one."""
    path, called = document.with_name(document.name + ENDING), name + ENDING
    try:
        found = SourceFile(path, called, "", 0).loaded()
    except FileNotFoundError:
        return NOTHING_SAID
    except OSError as error:
        return Skipped(called, f"cannot be read: {words_of(error)}")
    if isinstance(found, Skipped):
        return found
    if len(found.content or b"") > MOST_BYTES:
        return Skipped(called, f"has more than {MOST_BYTES:,} bytes, and is not used")

    try:
        told = parse(found.content or b"", Sidecar)
    except InvalidRequestError as error:
        problem = error.problems[0]
        said = " ".join(filter(None, (problem.field and f"`{problem.field}`", problem.message)))
        return Skipped(called, f"is not used: {said}")
    return replace(told.said(), title=told.title)

"""A file that was sent to the local host, as an ingest reads it."""

from __future__ import annotations

from functools import partial
from pathlib import PurePosixPath

from drift.indexing.documents import CONFIGURATIONS, Skipped, SourceDocument, document_of, ending_of
from drift.local.ingest import formats
from drift.local.ingest.files import document_in
from drift.local.ingest.kinds import READ
from drift.local.ingest.reading_process import ReadingProcess

MAX_SECONDS = 20.0
"""What a file of at most 1 MiB may take to read, while somebody waits for it."""


def read_sent(name: str, content: bytes) -> SourceDocument | Skipped:
    """Return the file as a document called `name`, or why it is none; nothing is raised.

    Source code is text here: what a repository defines is known of all its files together.
    """
    ending = ending_of(name)
    if ending in formats.NOT_TAKEN:
        return Skipped(name, f"ends with {ending}: {formats.NOT_TAKEN[ending]}")
    if ending not in READ and PurePosixPath(name).name not in CONFIGURATIONS:
        return document_of(name, content)

    with ReadingProcess() as process:
        return process.guarded(name, partial(document_in, content, name, None), MAX_SECONDS)

"""A reader of files that takes its time, in a process beside the function."""

from __future__ import annotations

import time

from drift.indexing.documents import Skipped, SourceDocument, document_of


def read_slowly(name: str, content: bytes) -> SourceDocument | Skipped:
    """Return the file as text, after a while."""
    time.sleep(2)
    return document_of(name, content)

"""A source with all of its files read, as an ingestion does when they are new."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from drift.indexing.documents import Skipped, SourceDocument
from drift.local.ingest.sources import Source, read_source


def read_whole(folder: Path) -> tuple[list[SourceDocument], Source]:
    """Return the documents of a folder, and the source with every file that was skipped."""
    source = read_source(folder)
    read = [file.read() for file in source.documents if not isinstance(file, SourceDocument)]
    skipped = [one for one in read if isinstance(one, Skipped)]
    return (
        [one for one in read if isinstance(one, SourceDocument)],
        replace(source, skipped=(*source.skipped, *skipped)),
    )

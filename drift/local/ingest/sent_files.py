"""A file that was sent to the local host, as an ingest reads it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

from drift.indexing.documents import CONFIGURATIONS, Skipped, SourceDocument, document_of


def read_sent(name: str, content: bytes) -> SourceDocument | Skipped:
    """Return the file as a document called `name`, or why it is none.

    Source code is text here: what a repository defines is known of all its files together.
    """
    # Where the file is read, in a process beside the server, which needs none of these.
    from drift.local.ingest import formats  # noqa: PLC0415 - see above
    from drift.local.ingest.files import document_in  # noqa: PLC0415 - the same
    from drift.local.ingest.kinds import READ, hides_secrets  # noqa: PLC0415 - the same

    ending = formats.canonical_ending(name)
    if ending in formats.NOT_TAKEN:
        return Skipped(name, f"ends with {ending}: {formats.NOT_TAKEN[ending]}")
    is_read = ending in READ or PurePosixPath(name).name in CONFIGURATIONS
    read = document_in(content, name, None) if is_read else document_of(name, content)
    if isinstance(read, Skipped):
        return read
    return replace(read, is_shown_whole=not hides_secrets(name, content))

"""The sample corpus: the reference manual that every Python ships, one document a topic."""

from __future__ import annotations

from pydoc_data.topics import topics

from drift.indexing.blocks import first_heading
from drift.indexing.documents import SourceDocument
from drift.local.ingest.sources import Source

SAMPLE_NAME = "pydoc_data.topics"


def sample_sources() -> Source:
    """Return the topics of `pydoc_data`, 500 KB in some 80 documents, with their names as ids."""
    return Source(
        SAMPLE_NAME,
        tuple(
            SourceDocument(name, first_heading(text, "text") or name, text, "text")
            for name, text in sorted(topics.items())
            if text.strip()
        ),
    )

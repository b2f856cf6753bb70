"""A few small documents, and a project that holds them.

What the function is asked about in these tests.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from drift.core.deadline import Deadline
from drift.core.source_uri import below
from drift.graph.connection import Connection
from drift.graph.writing.records import ChunkRecord, DocumentBatch, DocumentRecord, DocumentVersion
from drift.http import wiring
from drift.http.settings import Settings
from drift.indexing.documents import SourceDocument
from drift.local.ingest.context import IngestContext
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.report import IngestReport
from drift.local.ingest.sources import Source
from drift.local.wiring import build_writer
from tests.contract.graph_backends import prepare_once

TEXTS = {
    "Harbour Office": """# Harbour Office

The Harbour Office assigns every berth of the North Quay. A ship must report to the Harbour Office
two hours before it arrives.

## Berth rules

The Harbour Office refuses a berth when the Tide Table shows less than four metres of water. The
Pilot Service tells the Harbour Office which ships need a pilot.
""",
    "Pilot Service": """# Pilot Service

The Pilot Service guides every ship longer than ninety metres through the Narrow Channel. A pilot
boards at the Outer Buoy.

## Night passages

At night the Pilot Service reads the Tide Table twice, because the Narrow Channel shifts. The
Pilot Service stops all passages when the Lighthouse is dark.
""",
    "Tide Table": """# Tide Table

The Tide Table is computed by the Harbour Office each spring. It lists the depth of the North Quay
and of the Narrow Channel for every hour of the year.

## Corrections

A storm makes the Tide Table wrong by up to one metre. The Lighthouse measures the true depth, and
the Harbour Office publishes a correction.
""",
    "Lighthouse": """# Lighthouse

The Lighthouse stands beside the Outer Buoy and measures wind, fog and depth. Its keeper reports
to the Harbour Office every hour.

## Fog signal

In fog the Lighthouse sounds a signal every thirty seconds. The Pilot Service waits at the Outer
Buoy until the signal ends.
""",
}
"""Document titles to their Markdown."""

ADDRESS = "https://docs.example.com/harbour"
"""Where the documents are from."""

LAST_CHANGED = int(1000 * time.time())
"""When they were changed, in milliseconds since 1970: just now, so that all of them are fresh."""

PROJECT = "harbour"
WITHOUT_COMMUNITIES = "harbour-chunks-only"
QUESTION = "When does the Harbour Office refuse a berth at the North Quay?"


@dataclass(frozen=True, slots=True)
class Corpus:
    """What the graph holds, for comparing answers with it."""

    texts: dict[str, str]

    def holds(self, span: str) -> bool:
        """Tell whether one of the documents contains these very words."""
        return bool(span) and any(span in text for text in self.texts.values())


async def fill_from(source: Source, project: str, settings: Settings) -> IngestReport:
    """Ingest a source, as `drift ingest` does it without a model."""
    writer = build_writer(settings)
    _, embedder = wiring.build_models(settings)
    try:
        return await ingest(
            source, project, IngestContext(writer, embedder, settings.vector_index_dimensions)
        )
    finally:
        await writer.close()
        await embedder.client.close()


async def fill(settings: Settings) -> Corpus:
    """Put the documents into two projects: one with communities, one with chunks alone."""
    async with Connection(*wiring.database(settings)) as connection:
        await prepare_once(connection)
    documents = tuple(
        SourceDocument(
            f"{title}.md",
            title,
            text,
            "markdown",
            below(ADDRESS, f"{title}.md"),
            has_lines=True,
            updated_at=LAST_CHANGED,
        )
        for title, text in TEXTS.items()
    )
    await fill_from(Source("tests", documents), PROJECT, settings)
    _, embedder = wiring.build_models(settings)
    embedded = await embedder.embed(list(TEXTS.values()), Deadline.after(120))
    await embedder.client.close()
    records = tuple(
        DocumentRecord(title, title, "tests", DocumentVersion(title)) for title in TEXTS
    )
    chunks = tuple(
        ChunkRecord(f"only-{number}", title, 0, title, text, embedded.vectors[number])
        for number, (title, text) in enumerate(TEXTS.items())
    )
    writer = build_writer(settings)
    await writer.write_documents(WITHOUT_COMMUNITIES, DocumentBatch(records, chunks))
    await writer.close()
    return Corpus(TEXTS)

"""The project of the OpenAPI document's examples, as a graph."""

from __future__ import annotations

from drift.core.moments import milliseconds
from drift.graph.writing.records import (
    ChunkRecord,
    CommunityRecord,
    DocumentBatch,
    DocumentRecord,
    DocumentVersion,
    EntityRecord,
    KnowledgeBatch,
    RelationRecord,
)
from drift.http.description import EXAMPLES
from drift.http.settings import Settings
from drift.local.wiring import build_writer
from drift.model.attributes import Attributes

PROJECT = EXAMPLES["readProject"]["parameters"]["id"]
DOCUMENT = EXAMPLES["readDocument"]["parameters"]["id"]
CHUNK = EXAMPLES["readChunk"]["parameters"]["id"]
ENTITY = EXAMPLES["readEntity"]["parameters"]["id"]
PARAGRAPHS = {
    "5b1f0c52-7d0e-5b0e-8a52-3f3f7a1f9d01": "The Harbour Office assigns every berth.",
    CHUNK: "The Harbour Office refuses a berth when the Tide Table shows less than four "
    "metres of water.",
    "c2a9d4e7-1b6f-5c3a-9e80-64d1b7f0a853": "A ship reports two hours before it arrives.",
}
TIDE_TABLE = "3e8b5a90-2c7d-5f14-a6b3-918c0d5e7f26"


async def fill_handbook(settings: Settings) -> None:
    """Make the graph hold the project of the examples."""
    vector = (1.0,) + (0.0,) * (settings.vector_index_dimensions - 1)
    document = DOCUMENT
    chunks = tuple(
        ChunkRecord(id_, document, ordinal, "Harbour Office > Berths", text, vector)
        for ordinal, (id_, text) in enumerate(PARAGRAPHS.items())
    )
    address = f"https://docs.example.com/{document}"
    record = DocumentRecord(
        document,
        "Harbour Office",
        "handbook",
        DocumentVersion("1", source_uri=address),
        milliseconds("2026-11-20T08:00:00Z"),
        media_type="text/markdown",
        attributes=Attributes(("harbour",), {"department": "port"}, milliseconds("2026-03-01")),
    )
    refusal, office = CHUNK, ENTITY
    knowledge = KnowledgeBatch(
        (
            EntityRecord(office, "HARBOUR OFFICE", "Assigns berths.", tuple(PARAGRAPHS), vector),
            EntityRecord(TIDE_TABLE, "TIDE TABLE", "Lists depths.", (refusal,), vector),
        ),
        (RelationRecord(office, TIDE_TABLE, "refuses berths by", 2.0),),
        (
            CommunityRecord(
                1,
                0,
                None,
                "Berths",
                "Who assigns berths, and when they are refused.",
                (office, TIDE_TABLE),
                tuple(PARAGRAPHS),
                vector,
            ),
        ),
        "1",
        "text-embedding-3-small",
        questions=(f"{refusal}\nWhat does the Harbour Office do?",),
    )
    writer = build_writer(settings)
    try:
        await writer.prepare(settings.vector_index_dimensions)
        await writer.write_documents(PROJECT, DocumentBatch((record,), chunks))
        await writer.write_knowledge(PROJECT, knowledge)
    finally:
        await writer.close()

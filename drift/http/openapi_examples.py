"""What the examples of the read routes answer; a test sends them and compares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ANSWERS: Mapping[str, Mapping[str, Any]] = {
    "readProjects": {"projects": [{"id": "handbook"}], "next": None},
    "readProject": {
        "id": "handbook",
        "documents": 1,
        "chunks": 3,
        "entities": 2,
        "communities": 1,
        "embedding_models": ["text-embedding-3-small"],
        "written_at": "2026-11-24T09:30:00Z",
    },
    "readDocuments": {
        "documents": [
            {
                "id": "harbour-office.md",
                "name": "Harbour Office",
                "source_uri": "https://docs.example.com/harbour-office.md",
                "chunk_count": 3,
            }
        ],
        "next": None,
    },
    "readCommunities": {
        "communities": [
            {
                "id": 1,
                "level": 0,
                "title": "Berths",
                "summary": "Who assigns berths, and when they are refused.",
                "members": 5,
                "parents": [],
            }
        ],
        "next": None,
    },
    "readDocument": {
        "id": "harbour-office.md",
        "name": "Harbour Office",
        "source_uri": "https://docs.example.com/harbour-office.md",
        "chunk_count": 3,
        "chunks": [
            {
                "id": "5b1f0c52-7d0e-5b0e-8a52-3f3f7a1f9d01",
                "heading": "Harbour Office > Berths",
                "place": "1 of 3",
            },
            {
                "id": "0f5a2f0e-3c56-5d0b-9f1e-2b7d8a4c6e10",
                "heading": "Harbour Office > Berths",
                "place": "2 of 3",
            },
            {
                "id": "c2a9d4e7-1b6f-5c3a-9e80-64d1b7f0a853",
                "heading": "Harbour Office > Berths",
                "place": "3 of 3",
            },
        ],
        "next": None,
    },
    "readChunk": {
        "id": "0f5a2f0e-3c56-5d0b-9f1e-2b7d8a4c6e10",
        "heading": "Harbour Office > Berths",
        "place": "2 of 3",
        "text": "The Harbour Office refuses a berth when the Tide Table shows less "
        "than four metres of water.",
        "document": {"id": "harbour-office.md", "name": "Harbour Office"},
        "before": {
            "id": "5b1f0c52-7d0e-5b0e-8a52-3f3f7a1f9d01",
            "heading": "Harbour Office > Berths",
            "place": "1 of 3",
            "text": "The Harbour Office assigns every berth.",
        },
        "after": {
            "id": "c2a9d4e7-1b6f-5c3a-9e80-64d1b7f0a853",
            "heading": "Harbour Office > Berths",
            "place": "3 of 3",
            "text": "A ship reports two hours before it arrives.",
        },
        "entities": [
            {
                "id": "7d1c3b2a-8e4f-5a6b-8c9d-0e1f2a3b4c5d",
                "title": "HARBOUR OFFICE",
                "communities": [1],
            },
            {
                "id": "3e8b5a90-2c7d-5f14-a6b3-918c0d5e7f26",
                "title": "TIDE TABLE",
                "communities": [1],
            },
        ],
        "communities": [
            {
                "id": 1,
                "level": 0,
                "title": "Berths",
                "summary": "Who assigns berths, and when they are refused.",
            }
        ],
        "more_entities": False,
    },
    "readEntity": {
        "id": "7d1c3b2a-8e4f-5a6b-8c9d-0e1f2a3b4c5d",
        "title": "HARBOUR OFFICE",
        "description": "Assigns berths.",
        "relations": [
            {
                "direction": "out",
                "entity_id": "3e8b5a90-2c7d-5f14-a6b3-918c0d5e7f26",
                "title": "TIDE TABLE",
                "description": "refuses berths by",
                "weight": 2.0,
            }
        ],
        "chunks": [
            {
                "id": "0f5a2f0e-3c56-5d0b-9f1e-2b7d8a4c6e10",
                "heading": "Harbour Office > Berths",
                "place": "2 of 3",
                "document_name": "Harbour Office",
                "beginning": "The Harbour Office refuses a berth when the Tide "
                "Table shows less than four metres of water.",
            },
            {
                "id": "5b1f0c52-7d0e-5b0e-8a52-3f3f7a1f9d01",
                "heading": "Harbour Office > Berths",
                "place": "1 of 3",
                "document_name": "Harbour Office",
                "beginning": "The Harbour Office assigns every berth.",
            },
            {
                "id": "c2a9d4e7-1b6f-5c3a-9e80-64d1b7f0a853",
                "heading": "Harbour Office > Berths",
                "place": "3 of 3",
                "document_name": "Harbour Office",
                "beginning": "A ship reports two hours before it arrives.",
            },
        ],
        "more_relations": False,
        "more_chunks": False,
    },
}

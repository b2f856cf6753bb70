"""Small files of chunks with vectors, as another program would have made them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from drift.llm import local_embedding
from drift.local.ingest.made.rows import MadeChunks

Row = dict[str, Any]
MODEL = "wordllama-256"

THINGS = ("ferry", "mill", "bakery", "library", "harbour", "school", "orchard", "museum")
TELLS = (
    'opens at {n} and "closes" at noon, each day\nbut Sunday; the warden has key {n}.',
    "was built by the mason Reed in 19{n:02}, \\ and costs {n} crowns: https://a.example/{n}.",
)


def rows(documents: int) -> list[Row]:
    """Return two rows for each document, with all that a row may say in some of them."""
    found: list[Row] = []
    for number in range(documents):
        thing = THINGS[number % len(THINGS)]
        about: Row = {"document": f"town/{number}.md"}
        if number % 3 == 0:
            about |= {
                "title": f"The {thing}, no. {number}",
                "tags": ["town", f"größe;{number % 5}"],
                "metadata": {"year": 2000 + number, "share": number / 7, "open": number % 2 == 0},
                "created_at": "2026-03-01",
                "updated_at": "2026-11-20T08:00:00.250Z",
                "source_uri": f"https://docs.example.com/{number}",
            }
        for place, tells in enumerate(TELLS):
            text = f"The {thing} {number} {tells.format(n=number)}"
            found.append(
                {**about, "heading": f"{thing} > {place}", "text": text, "page": place + 1}
            )
    vectors = local_embedding.embed([f"{row['heading']}\n{row['text']}" for row in found])
    return [row | {"embedding": v} for row, v in zip(found, vectors.tolist(), strict=True)]


def written(file: Path, some: Iterable[Row]) -> Path:
    """Write rows as JSON lines."""
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in some))
    return file


def made_of(place: Path, project: str) -> MadeChunks:
    """Return the chunks of a place."""
    return MadeChunks(place, project, MODEL, local_embedding.DIMENSIONS)

"""How many of the names and terms that people ask about are entities of a folder's graph.

The list is made by reading questions, never documents: what somebody would call a name (a person, a
place, an organisation, a work, an event, a product, a species) or a technical term. Dates, numbers,
roles, nationalities and common words are none. One line a question: `{"terms": ["La Niña", ...]}`;
a term counts once, however many questions name it.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from drift.local.evals.lines import Line, read_lines
from drift.local.ingest.graph_records import ChunkRecord, DocumentRecord
from drift.local.ingest.knowledge import derive
from drift.local.ingest.prose import singular
from drift.local.ingest.records import chunk_records
from drift.local.ingest.sources import Source, read_source
from tests.bench.command import Options, read_options, run, show

_WORD = re.compile(r"\w+")


class _Listed(Line):
    terms: list[str]
    topic: str = ""


def read_terms(path: Path, topic: str = "") -> tuple[str, ...]:
    """Return the listed terms, each once; with a topic only those of its lines.

    Raises:
        IngestError: when the file cannot be read or a line holds no list of terms.
    """
    lines = [line for line in read_lines(path, _Listed) if topic in ("", line.topic)]
    return tuple(dict.fromkeys(term for line in lines for term in line.terms))


def measure_terms(source: Source, terms: Sequence[str], sampled: int = 200) -> dict[str, Any]:
    """Cut the documents, derive their knowledge, and look the terms up among the entities.

    A term is an entity when a title says the same, whatever its case, its punctuation and its
    plural. `missing` are the others, in the list's order. `density` is the number of entities that
    chunks mention, for 1,000 characters of the chunks; `sample` are titles of entities, drawn at
    random, to be judged by reading.
    """
    chunks: list[ChunkRecord] = []
    for document in source.documents:
        record = DocumentRecord(document.id, document.title, source.name, "")
        chunks += chunk_records("terms", record, document)
    entities = derive("terms", chunks, "").entities

    known = {_folded(entity.title) for entity in entities}
    missing = [term for term in terms if _folded(term) not in known]
    mentions = sum(len(entity.chunk_ids) for entity in entities)
    characters = sum(len(chunk.text) for chunk in chunks)
    drawn = random.Random(1).sample(entities, min(sampled, len(entities)))  # noqa: S311
    return {
        "share": round(100 * (len(terms) - len(missing)) / max(1, len(terms)), 1),
        "terms": len(terms),
        "missing": missing,
        "entities": len(entities),
        "density": 1000 * mentions / max(1, characters),
        "sample": [entity.title for entity in drawn],
    }


def _folded(name: str) -> str:
    words = _WORD.findall(name.casefold())
    return " ".join([*words[:-1], singular(words[-1])]) if words else ""


async def bench(asked: Options) -> None:
    """Derive the knowledge of a folder, without any server, and look the terms up."""
    wanted = read_terms(asked.terms, asked.topic)
    show(await asyncio.to_thread(measure_terms, read_source(asked.documents), wanted), asked)


if __name__ == "__main__":
    run(
        bench,
        read_options(
            __doc__,
            documents=(Path, "the documents, as `drift ingest` takes them"),
            terms=(Path, 'a line a question: {"terms": [...], "topic": "..."}'),
            topic=("", "only the terms of this topic's lines"),
        ),
    )

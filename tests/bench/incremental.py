"""What an ingestion costs after a change, beside the first one.

    python -m tests.bench.incremental FOLDER [--json]

The folder is copied, ingested into a project of its own of the configured Neo4j, and ingested again
after each change. The first time Neo4j makes plans for the statements of a change; "it changed
again" is without that. The project and the copy are removed afterwards.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from drift.http import settings as configuration
from drift.indexing.reading_process import ReadingProcess
from drift.llm.local_embedder import LocalEmbedder
from drift.local.ingest.context import IngestContext
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.ingest.pipeline import ingest, remove
from drift.local.ingest.sources import read_source
from drift.local.wiring import build_writer, closing

MODEL = "wordllama-256"
DIMENSIONS = 256


def _edit(folder: Path) -> Path:
    file = sorted(folder.rglob("*.md"))[len(list(folder.rglob("*.md"))) // 2]
    text = file.read_text()
    file.write_text(f"{text[: len(text) // 2]}\n\nThe old mill was sold.\n{text[len(text) // 2 :]}")
    return folder


def _rename(folder: Path) -> Path:
    file = max(folder.rglob("*.md"), key=lambda one: one.stat().st_size)
    file.rename(file.with_name("renamed.md"))
    return folder


def _remove(folder: Path) -> Path:
    min(folder.rglob("*.md")).unlink()
    return folder


CHANGES: dict[str, Callable[[Path], Path]] = {
    "first": lambda folder: folder,
    "nothing changed": lambda folder: folder,
    "one document changed": _edit,
    "it changed again": _edit,
    "one document renamed": _rename,
    "one document removed": _remove,
    "the folder renamed": lambda folder: folder.rename(folder.with_name("renamed")),
}


async def measure(folder: Path, writer: Neo4jWriter) -> list[dict[str, object]]:
    """Return the seconds of each run, as a whole and by stage."""
    project, rows = f"incremental-{uuid.uuid4().hex[:8]}", []
    with tempfile.TemporaryDirectory() as room, ReadingProcess() as process:
        copy = await asyncio.to_thread(shutil.copytree, folder, Path(room) / "documents")
        for name, change in CHANGES.items():
            copy = change(copy)
            began = time.perf_counter()
            source = await asyncio.to_thread(read_source, copy, guard=process.guarded)
            report = await ingest(
                source,
                project,
                IngestContext(
                    writer, LocalEmbedder(), DIMENSIONS, model=MODEL, guard=process.guarded
                ),
            )
            rows.append(
                {
                    "run": name,
                    "seconds": round(time.perf_counter() - began, 3),
                    "chunks": report.chunks,
                    "stages": {stage: round(spent, 3) for stage, spent in report.seconds.items()},
                }
            )
        await remove(None, project, IngestContext(writer, LocalEmbedder(), DIMENSIONS, model=MODEL))
    return rows


async def main() -> None:
    """Measure, and print a line a run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    async with closing(build_writer(configuration.load())) as writer:
        rows = await measure(given.folder, writer)

    if given.json:
        print(json.dumps(rows, indent=1))
        return
    for row in rows:
        share = 100 * row["seconds"] / rows[0]["seconds"]
        print(
            f"{row['run']:<22} {row['seconds']:>8.2f} s {share:>6.1f} %  {row['chunks']:>6} chunks"
        )
        print("   ", ", ".join(f"{stage} {spent:.2f}" for stage, spent in row["stages"].items()))


if __name__ == "__main__":
    asyncio.run(main())

"""What an ingestion costs after a change, beside the first one.

The folder is copied, ingested into a project of its own of the configured Neo4j, and ingested again
after each change. The first time Neo4j makes plans for the statements of a change; "it changed
again" is without that. The project and the copy are removed afterwards.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from drift.http import settings
from drift.indexing.reading_process import ReadingProcess
from drift.llm.local_embedder import LocalEmbedder
from drift.local.ingest.context import IngestContext
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.ingest.pipeline import ingest, remove
from drift.local.ingest.sources import read_source
from drift.local.wiring import build_writer, closing
from tests.bench.command import Options, read_options, run, show

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


async def measure(folder: Path, writer: Neo4jWriter) -> list[dict[str, Any]]:
    """Return the seconds of each run, as a whole and by stage."""
    project, rows = f"incremental-{uuid.uuid4().hex[:8]}", []
    with tempfile.TemporaryDirectory() as room, ReadingProcess() as process:
        copy = await asyncio.to_thread(shutil.copytree, folder, Path(room) / "documents")
        for name, change in CHANGES.items():
            copy = change(copy)
            began = time.perf_counter()
            source = await asyncio.to_thread(read_source, copy, guard=process.guarded)
            context = IngestContext(
                writer, LocalEmbedder(), DIMENSIONS, model=MODEL, guard=process.guarded
            )
            report = await ingest(source, project, context)
            row = {"run": name, "seconds": round(time.perf_counter() - began, 3)}
            stages = {stage: round(spent, 3) for stage, spent in report.seconds.items()}
            rows.append({**row, "chunks": report.chunks, "stages": stages})
        await remove(None, project, IngestContext(writer, LocalEmbedder(), DIMENSIONS, model=MODEL))
    return rows


async def bench(asked: Options) -> None:
    """Show every run."""
    async with closing(build_writer(settings.load())) as writer:
        show(await measure(asked.folder, writer), asked)


if __name__ == "__main__":
    run(bench, read_options(__doc__, folder=(Path, "a folder of Markdown files")))

"""Work on files in a process of its own: what cannot be stopped otherwise costs one file."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from drift.core.errors import IngestError
from drift.indexing.documents import Skipped, SourceDocument
from drift.indexing.reading_process import ReadingProcess, Result
from drift.local.ingest import pipeline
from drift.local.ingest.sources import Source, read_source
from tests.ingest.fakes import DIMENSIONS, HashEmbedder, MemoryWriter


@pytest.fixture
def process() -> Iterator[ReadingProcess]:
    with ReadingProcess() as process:
        yield process


def _never() -> object:
    """Be where nothing but the system can end a process: inside one call of C."""
    return re.match(r"(a+)+$", "a" * 60 + "!")


def test_documents_are_those_that_are_read_without_a_process(
    process: ReadingProcess, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("# A\n\ntext")
    (tmp_path / "b.md").write_bytes(b"\xff")
    assert read_source(tmp_path, guard=process.guarded) == read_source(tmp_path)


def test_a_file_that_takes_too_long_is_skipped_by_name_and_the_next_one_is_read(
    process: ReadingProcess,
) -> None:
    assert process.guarded("a.md", _never, 0.5) == Skipped(
        "a.md", "takes longer than 0.5 seconds to read", unreadable=True
    )
    assert process.guarded("b.md", os.getpid) != os.getpid()


def test_a_file_that_ends_its_process_is_skipped_by_name(process: ReadingProcess) -> None:
    skipped = process.guarded("a.md", partial(signal.raise_signal, signal.SIGKILL))
    assert skipped == Skipped("a.md", "ended the process that read it (signal 9)", unreadable=True)


def test_of_files_that_are_looked_at_together_one_that_takes_too_long_costs_itself_alone(
    tmp_path: Path,
) -> None:
    for name in ("a.md", "b.md", "c.md"):
        (tmp_path / name).write_text(f"# {name}")

    def guard(
        name: str, work: Callable[[], Result], seconds: float | None = None
    ) -> Result | Skipped:
        del seconds
        is_slow = name in {"", "b.md"}
        return Skipped(name, "takes too long", unreadable=True) if is_slow else work()

    source = read_source(tmp_path, guard=guard)
    assert [one.id for one in source.documents] == ["a.md", "c.md"]
    assert source.skipped == (Skipped("b.md", "takes too long", unreadable=True),)


def test_who_waits_for_a_file_is_let_go_when_the_process_is_closed(
    process: ReadingProcess,
) -> None:
    timer = threading.Timer(0.5, process.close)
    timer.start()
    with pytest.raises(IngestError, match="reading was stopped"):
        process.guarded("a.md", _never, None)
    with pytest.raises(IngestError, match="reading was stopped"):
        process.guarded("b.md", os.getpid)


async def test_a_document_that_takes_too_long_to_cut_is_skipped_and_its_earlier_text_stays() -> (
    None
):
    writer = MemoryWriter()
    documents = [SourceDocument(f"{n}.md", n, f"text of {n}", "markdown") for n in "ab"]
    await pipeline.ingest(Source("s", tuple(documents)), "p", writer, HashEmbedder(), DIMENSIONS)

    def guard(
        name: str, work: Callable[[], Result], seconds: float | None = None
    ) -> Result | Skipped:
        del seconds
        return Skipped(name, "takes longer", unreadable=True) if name == "b.md" else work()

    newer = [SourceDocument(f"{n}.md", n, f"new text of {n}", "markdown") for n in "ab"]
    report = await pipeline.ingest(
        Source("s", tuple(newer)), "p", writer, HashEmbedder(), DIMENSIONS, guard=guard
    )
    assert (report.changed, report.kept) == (["a.md"], ["b.md"])
    assert [one.path for one in report.skipped] == ["b.md"]
    (stored,) = writer.project("p").chunks["b.md"]
    assert stored.text == "text of b"


async def test_the_event_loop_goes_on_while_a_file_is_read(process: ReadingProcess) -> None:
    reading = asyncio.create_task(asyncio.to_thread(process.guarded, "a.md", _never, 1.0))
    longest, before = 0.0, time.monotonic()
    while not reading.done():
        await asyncio.sleep(0.01)
        longest, before = max(longest, time.monotonic() - before), time.monotonic()
    assert longest < 0.9

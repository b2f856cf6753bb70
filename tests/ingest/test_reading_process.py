"""Work on files in a process of its own: what cannot be stopped otherwise costs one file."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from drift.core.errors import BusyError, IngestError, StoppingError
from drift.indexing.documents import Skipped, SourceDocument
from drift.indexing.readers import AT_ONCE, WAITING, Readers
from drift.indexing.reading_process import ReadingProcess, Result
from drift.indexing.records import cut_up
from drift.local.ingest import pipeline
from drift.local.ingest.files import document_in
from drift.local.ingest.sources import Source, read_source
from tests.ingest import made_files as made
from tests.ingest.fakes import MemoryWriter, context

WORD = "word/document.xml"
_kept: list[bytearray] = []


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
    assert isinstance(skipped, Skipped)
    assert skipped.unreadable
    assert skipped.reason.startswith("ended the process that read it (signal 9)")


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


def _twice_packed(size: int) -> bytes:
    """Return a PDF of a page that is drawn by so many spaces."""
    packed = zlib.compress(zlib.compress(bytes(size), 9), 9)
    return (
        b"%%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj\n"
        b"4 0 obj<</Length %d/Filter[/FlateDecode/FlateDecode]>>stream\n%b\nendstream endobj\n"
        b"trailer<</Root 1 0 R>>"
    ) % (len(packed), packed)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems limit no memory")
@pytest.mark.parametrize(
    ("name", "make", "reason"),
    [
        ("a.docx", lambda: made.within(".docx", WORD, "<w:p>", "<w:p/>" * 2**20), ""),
        ("a.pdf", lambda: _twice_packed(2**27), "READING_MEMORY_MB"),
        ("a.md", lambda: b"- a\n" * 2**17, "READING_MEMORY_MB"),
        ("a.csv", lambda: b"a,b\n" * 2**18, "READING_MEMORY_MB"),
    ],
)
def test_a_small_file_that_takes_all_memory_is_skipped_by_name_and_the_next_one_is_read(
    name: str, make: Callable[[], bytes], reason: str
) -> None:
    with ReadingProcess(memory_mb=64) as process:
        skipped = process.guarded(name, partial(_records, make(), name))
        assert isinstance(skipped, Skipped)
        assert (reason in skipped.reason, skipped.unreadable) == (True, True)
        assert not isinstance(process.guarded("b.md", partial(_records, b"# B", "b.md")), Skipped)


def _records(content: bytes, name: str) -> object:
    """Read and cut a file, as an ingest does."""
    read = document_in(content, name, None)
    return read if isinstance(read, Skipped) else cut_up(read)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems limit no memory")
def test_what_has_no_limit_of_time_has_none_of_memory_and_the_process_ends_with_it() -> None:
    with ReadingProcess(memory_mb=128) as process:
        first = process.guarded("a", os.getpid)
        assert process.guarded("b", os.getpid) == first
        assert process.guarded("knowledge", partial(_keep, 2**28), None) == 2**28
        assert process.guarded("c", os.getpid) != first


def _keep(size: int) -> int:
    _kept.append(bytearray(size))
    return size


async def test_of_many_files_a_few_are_read_a_few_wait_and_no_more_are_let_in() -> None:
    readers = Readers()
    works = [
        asyncio.create_task(readers.read(f"{n}.md", partial(_document, 0.3)))
        for n in range(AT_ONCE + WAITING + 3)
    ]
    try:
        # What others of the server run in threads is done at once.
        assert await asyncio.wait_for(asyncio.to_thread(int, "1"), 1) == 1
        done = await asyncio.gather(*works, return_exceptions=True)
        assert [type(one) for one in done[-3:]] == [BusyError] * 3
        assert [len(one.pieces) for one in done[:-3]] == [1] * (AT_ONCE + WAITING)

        left = asyncio.create_task(readers.read("a.md", partial(_document, 60)))
        await asyncio.sleep(0.1)
    finally:
        readers.close()
    with pytest.raises(StoppingError):
        await left


def _document(seconds: float) -> SourceDocument:
    time.sleep(seconds)
    return SourceDocument("a.md", "A", "# A\n\nWords.", "markdown")


async def test_a_document_that_takes_too_long_to_cut_is_skipped_and_its_earlier_text_stays() -> (
    None
):
    writer = MemoryWriter()
    documents = [SourceDocument(f"{n}.md", n, f"text of {n}", "markdown") for n in "ab"]
    await pipeline.ingest(Source("s", tuple(documents)), "p", context(writer))

    def guard(
        name: str, work: Callable[[], Result], seconds: float | None = None
    ) -> Result | Skipped:
        del seconds
        return Skipped(name, "takes longer", unreadable=True) if name == "b.md" else work()

    newer = [SourceDocument(f"{n}.md", n, f"new text of {n}", "markdown") for n in "ab"]
    report = await pipeline.ingest(
        Source("s", tuple(newer)),
        "p",
        context(writer, guard=guard),
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

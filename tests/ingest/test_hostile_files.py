"""Whatever one file holds or does, it costs that file.

It is read as far as it goes, or skipped by name with the reason.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.graph.writing.records import ChunkRecord
from drift.indexing.blocks import Format, split_blocks
from drift.indexing.chunking import MAX_CHARS, cut
from drift.indexing.documents import FORMATS, Skipped
from drift.indexing.reading_process import guarded
from drift.local.ingest.files import read_document
from drift.local.ingest.knowledge import derive
from drift.local.ingest.sources import read_source
from tests.ingest.fakes import as_members
from tests.ingest.reading import read_whole

PARTS = (
    "\r", "\r\n", "\n", "\n\n", "\t", " ", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\ufeff",
    "\u200b", "\u202e", "# a", "## a ##", "#", "a\n===\n", "a\n---\n", "- a\n", "  - b\n", "1. a\n",
    "> a\n", "    a\n", "\ta\n", "```", "~~~\n", "a|b\n-|-\n", "|", "[a]: b\n", "[", "](", "<!--",
    "-->", "`", "**", "__a__", "a.b()", "A B. C d. ", '"x y"', "\\", "<pre>", "</pre>", "&#13;",
    "&#10;", "&#0;", "&#xD800;", "&#x110000;", "&#99999999999;", "&nbsp", "<", ">", "<p>", "</p>",
    "<h1>", "</h1>", "<li>", "<title>", "</title>", "<script>", "</script>", "<svg>", "</nav>",
    "<head>", "<![CDATA[", "<!", "<?", "note:\n\n  a\n", "::\n\n  a\n", ".. code::\n\n  a\n",
    "====\na\n====\n", "+---+\n", ">>> a\n", "f(x)\n", "字。", "é", "a" * 300,
)  # fmt: skip
SEEDS = (
    "".join(PARTS),
    "<html><head><title>T</title></head><body><pre>a&#13;b</pre><ul><li>x</ul><table><tr><td>c</table>",
)


@pytest.mark.parametrize("part", ["&#13;", "&#13;&#10;", "&#10;&#13;"])
def test_a_carriage_return_written_as_a_reference_is_a_line_end(tmp_path: Path, part: str) -> None:
    (tmp_path / "page.html").write_text(f"<p>before</p><pre>a{part}b</pre><p>after</p>")
    ((document,), _) = read_whole(tmp_path)
    slices = cut(document.text, document.format)
    assert "\r" not in document.text
    assert [line for line in document.text.split("\n") if line] == [
        "before",
        "```",
        "a",
        "b",
        "```",
        "after",
    ]
    assert slices[-1].end == len(document.text)


@given(
    st.lists(st.sampled_from(PARTS), max_size=40).map("".join),
    st.sampled_from(["markdown", "rst", "text"]),
)
def test_blocks_hold_all_text_whatever_ends_its_lines(text: str, text_format: Format) -> None:
    blocks = split_blocks(text, text_format)
    covered = "".join(text[block.start : block.end] for block in blocks)
    assert "".join(covered.split()) == "".join(text.split())


def _mutated(seed: int) -> bytes:
    chance = random.Random(seed)  # noqa: S311 - damage that can be repeated
    content = bytearray(chance.choice(SEEDS).encode())
    for _ in range(chance.randint(1, 12)):
        at = chance.randrange(len(content))
        some = chance.choice(
            [
                chance.choice(PARTS).encode(),
                bytes([chance.randrange(1, 256)]),
                content[at : at + 40],
            ]
        )
        content[at : at + chance.randint(0, 8)] = some
    return bytes(content)


@given(st.integers(0, 2**32), st.sampled_from(sorted(FORMATS)))
def test_a_damaged_file_is_a_document_with_chunks_and_knowledge_or_skipped_with_a_reason(
    tmp_path_factory: pytest.TempPathFactory, seed: int, ending: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"damaged{ending}"
    path.write_bytes(_mutated(seed))
    read = read_document(path, path.name)
    if isinstance(read, Skipped):
        assert read.reason.startswith(("is not UTF-8", "is a binary file", "holds no text"))
        return
    slices = cut(read.text, read.format)
    assert all(0 < piece.size <= MAX_CHARS for piece in slices)
    texts = [(piece.heading, read.text[piece.start : piece.end]) for piece in slices]
    chunks = [
        ChunkRecord(str(place), "d", place, heading, text)
        for place, (heading, text) in enumerate(texts)
    ]
    vectors = np.zeros((len(chunks), 4), dtype=np.float32)
    assert derive(*as_members(chunks, vectors), "stamp").communities


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("<ul><li>" * 10_000, ".html"),
        ("<pre>" * 10_000, ".html"),
        ("> " * 10_000, ".md"),
        ("[" * 10_000, ".md"),
        ("(" * 10_000, ".rst"),
    ],
)
def test_ten_thousand_levels_are_read(tmp_path: Path, text: str, ending: str) -> None:
    (tmp_path / f"deep{ending}").write_text(f"before\n\n{text}x\n")
    ((document,), _) = read_whole(tmp_path)
    assert cut(document.text, document.format)


@pytest.mark.parametrize(
    "error",
    [RecursionError("too deep"), AssertionError(), ImportError("no"), ValueError("a\nb" * 200)],
)
def test_an_error_of_a_parser_is_the_reason_why_a_file_is_skipped(error: Exception) -> None:
    def fail() -> str:
        raise error

    skipped = guarded("a.md", fail)
    assert isinstance(skipped, Skipped)
    assert skipped.reason.startswith(f"cannot be understood ({type(error).__name__}")
    assert skipped.unreadable
    assert len(skipped.reason) < 250
    assert "\n" not in skipped.reason


def test_a_file_that_vanishes_or_becomes_another_between_listing_and_reading_is_skipped(
    tmp_path: Path,
) -> None:
    changes: dict[str, Callable[[Path], object]] = {
        "gone.md": lambda _: None,
        "pipe.md": os.mkfifo,
        "folder.md": Path.mkdir,
        "link.md": lambda path: path.symlink_to("/etc/hostname"),
    }
    for name, change in changes.items():
        change(tmp_path / name)
    reasons = {name: read_document(tmp_path / name, name) for name in changes}
    assert {name: one.reason for name, one in reasons.items() if isinstance(one, Skipped)} == {
        "gone.md": "cannot be read: No such file or directory",
        "pipe.md": "is not a regular file",
        "folder.md": "is not a regular file",
        "link.md": "cannot be read: Too many levels of symbolic links",
    }


def test_a_file_that_is_written_while_it_is_read_is_whole_or_skipped(tmp_path: Path) -> None:
    path, ended = tmp_path / "log.txt", threading.Event()
    path.write_text("line\n")

    def write() -> None:
        with path.open("a") as file:
            while not ended.is_set():
                file.write("line\n" * 1000)
                file.flush()
                if file.tell() > 1_000_000:
                    file.truncate(0)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        read = [read_document(path, path.name) for _ in range(200)]
    finally:
        ended.set()
        writer.join()
    reasons = {one.reason for one in read if isinstance(one, Skipped)}
    assert reasons <= {
        "has another length than it says: it may just be written",
        "is empty",
        "is a binary file: it holds NUL bytes",
    }


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="wants the proc file system of Linux"
)
def test_a_file_that_says_nothing_about_its_length_is_skipped() -> None:
    skipped = read_document(Path("/proc/self/status"), "status.txt")
    assert skipped == Skipped(
        "status.txt", "has another length than it says: it may just be written", unreadable=True
    )


def test_folders_as_deep_as_the_system_allows_are_walked_and_what_lies_deeper_is_named(
    tmp_path: Path,
) -> None:
    (tmp_path / "good.md").write_text("# Good")
    here = os.open(tmp_path, os.O_RDONLY)
    made = []
    for _ in range(2500):  # a path may have 4,096 characters
        os.mkdir("d", dir_fd=here)
        made.append(here)
        here = os.open("d", os.O_RDONLY, dir_fd=here)
        if len(made) > 100:
            os.close(made.pop(0))
    os.close(here)
    for one in made:
        os.close(one)
    source = read_source(tmp_path)
    assert [document.id for document in source.documents] == ["good.md"]
    assert [one.reason for one in source.skipped] == ["cannot be read: File name too long"]


@pytest.mark.parametrize(
    "name",
    ["a\nb.md", "\x1b[31mred.md", "\u202egnp.md", "a b.md", "'\".md", "-rf.md", "~.md", "ü.md"],
)
def test_a_strange_name_is_a_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("# Good")
    ((document,), _) = read_whole(tmp_path)
    assert (document.id, document.title) == (name, "Good")

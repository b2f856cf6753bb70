from __future__ import annotations

import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from drift.core.errors import IngestError
from drift.local.cli.sample import sample_sources
from drift.local.ingest import kinds
from drift.local.ingest.files import MAX_FILE_BYTES
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.sources import read_source
from tests.ingest.fakes import MemoryWriter, context
from tests.ingest.reading import read_whole

GOOD = b"# Good\n\nSome text.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.md").write_bytes(GOOD)
    return tmp_path


def _reasons(folder: Path) -> dict[str, str]:
    documents, source = read_whole(folder)
    assert [d.id for d in documents] == ["good.md"]
    return {s.path: s.reason for s in source.skipped}


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("empty.md", b"", "is empty"),
        ("bom.txt", b"\xef\xbb\xbf", "holds no text"),
        ("blank.txt", b" \n\t\n", "holds no text"),
        ("binary.txt", b"\x7fELF\0\0\1", "is a binary file: it holds NUL bytes"),
        ("utf16.txt", b"\xff\xfet\0e", "is not UTF-16: byte 4 is 0x65"),
        ("sound", b"\1\0\2\0\3\0", "is a binary file: it holds NUL bytes"),
        ("scripts.html", b"<script>x = 1</script><style>a{}</style>", "holds no text"),
    ],
)
def test_what_cannot_be_read_is_skipped_with_its_reason(
    folder: Path, name: str, content: bytes, reason: str
) -> None:
    (folder / name).write_bytes(content)
    assert _reasons(folder) == {name: reason}


@pytest.mark.parametrize(
    "broken",
    ["<![bad[x]]>", "<![if x]>", "<!", "<![", "<b", "</", "&#xFFFFFFFF;", "<!--", "<p/>", "<pre>"],
)
def test_broken_html_is_read_as_far_as_it_goes(tmp_path: Path, broken: str) -> None:
    (tmp_path / "page.html").write_text(f"<p>before</p>{broken}<p>after</p>")
    ((document,), _) = read_whole(tmp_path)
    assert document.text.startswith("before")


def test_a_file_over_the_limit_is_skipped(folder: Path) -> None:
    with (folder / "huge.txt").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)  # sparse: takes no room
    assert _reasons(folder) == {"huge.txt": "has 52,428,801 bytes, more than 52,428,800"}


def test_links_are_never_followed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.md").write_text("# Secret")
    (folder / "sub").mkdir()
    (folder / "sub" / "loop").symlink_to(folder)
    (folder / "itself.md").symlink_to(folder / "itself.md")
    (folder / "again.md").symlink_to(folder / "good.md")
    (folder / "out.md").symlink_to(outside / "secret.md")
    (folder / "outside").symlink_to(outside)

    assert _reasons(folder) == {
        "again.md": "is a link within the folder: what it names is read in its own place",
        "itself.md": "is a link that leads nowhere or to itself",
        "out.md": "is a link that leaves the folder",
        "outside": "is a link that leaves the folder",
        "sub/loop": "is a link within the folder: what it names is read in its own place",
    }


def test_pipes_and_sockets_are_not_opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(folder / "pipe.txt")
    monkeypatch.chdir(folder)  # a socket's path is limited to about 100 characters
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.md")
        assert _reasons(folder) == {
            "pipe.txt": "is not a regular file",
            "socket.md": "is not a regular file",
        }


@pytest.fixture
def without_rights() -> Iterator[Path]:
    """A folder everybody may enter, while this process has no more rights than anybody."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        root = os.geteuid() == 0
        if root:
            os.seteuid(65534)
        try:
            yield Path(name)
        finally:
            if root:
                os.seteuid(0)


def test_what_may_not_be_read_is_skipped_as_unreadable(without_rights: Path) -> None:
    for name in ("good.md", "closed.md", "shut/a.md"):
        (without_rights / name).parent.mkdir(exist_ok=True)
        (without_rights / name).write_bytes(GOOD)
    (without_rights / "closed.md").chmod(0)
    (without_rights / "shut").chmod(0)
    try:
        skipped = read_source(without_rights).skipped
    finally:
        (without_rights / "shut").chmod(0o700)
    assert [(s.path, s.reason, s.unreadable) for s in skipped] == [
        ("closed.md", "cannot be read: Permission denied", True),
        ("shut", "cannot be read: Permission denied", True),
    ]


def test_hidden_folders_packages_and_other_endings_are_left_out_and_counted(folder: Path) -> None:
    for name in (
        ".git/a.md",
        "node_modules/a.md",
        ".hidden.md",
        "a.doc",
        "b.DOC",
        "sub/c.doc",
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(GOOD)
    (folder / "d.doc").symlink_to(folder / "a.doc")
    assert _reasons(folder) == {}
    ignored = read_source(folder).ignored
    assert [(one.kind, one.count) for one in ignored] == [
        (".doc", 4),
        ("hidden", 2),
        ("node_modules", 1),
    ]
    assert ignored[0].reason == "save it as .docx or .pdf"


def test_a_name_that_is_not_utf8_is_skipped(folder: Path) -> None:
    try:
        (folder / os.fsdecode(b"caf\xe9.md")).write_bytes(GOOD)
    except OSError:
        assert sys.platform == "darwin"  # its file system refuses such a name
        return
    assert _reasons(folder) == {"caf\\xe9.md": "has a name that is not valid UTF-8"}


async def test_a_folder_with_nothing_to_read_is_refused_by_name_with_the_reasons(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.md").write_bytes(b"\0")
    (tmp_path / "b.c").write_bytes(GOOD)
    with pytest.raises(IngestError) as refused:
        await ingest(read_source(tmp_path), "p", context(MemoryWriter()))
    assert str(tmp_path) in refused.value.detail
    assert ".ts, .tsv, .tsx, .txt" in refused.value.detail
    assert "a.md: is a binary file" in refused.value.detail
    assert "Ignored: 1 .c." in refused.value.detail


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"nowhere cannot be read: No such file"):
        read_source(tmp_path / "nowhere")


def test_a_single_file_is_read_and_a_bad_one_refused(folder: Path) -> None:
    (document,) = read_source(folder / "good.md").documents
    assert (document.id, document.title, document.text) == ("good.md", "Good", GOOD.decode())
    for name, content, words in (
        ("a.c", GOOD, ".cs, .csv"),
        ("b.md", b"\0", "binary file"),
        ("c.md", b"", "is empty"),
    ):
        (folder / name).write_bytes(content)
        with pytest.raises(IngestError, match=words):
            read_source(folder / name)


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("a.md", "text\n\n## The `with` *statement*\n", "The with statement"),
        ("a.md", "only text", "a.md"),
        ("a.rst", "====\nTop\n====\n\ntext", "Top"),
        ("a.txt", "Top\n---\n\ntext", "Top"),
        ("a.txt", "# Marked up\n\ntext", "Marked up"),
        ("a.txt", "Top\n~~~\n\n```\n# no heading\n```\n", "Top"),
        ("a.txt", "text\n\n## Marked up\n\n```\ncode\n```\n", "Marked up"),
        ("LICENSE", "The licence\n===========\n\ntext", "The licence"),
        ("README", "# Marked up\n\ntext", "Marked up"),
        ("a.markdown", "text\n\n## In winter [\u00b6](#in-winter)\n", "In winter"),
        ("a.xhtml", "<?xml version='1.0'?><html><head><title/></head><h1>Top</h1></html>", "Top"),
        ("a.html", "<title>Page</title><p>text</p>", "Page"),
        ("a.HTM", "<title>Page</title><h2>First <b>bold</b></h2><p>text</p>", "First bold"),
    ],
)
def test_the_title_is_the_first_heading_else_the_name(
    tmp_path: Path, name: str, text: str, title: str
) -> None:
    (tmp_path / name).write_text(text)
    ((document,), _) = read_whole(tmp_path)
    assert document.title == title


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8"]
)
def test_text_is_read_in_every_encoding_of_unicode(tmp_path: Path, encoding: str) -> None:
    text = "# The harbour of Nessel\n\nna\u00efve text\n"
    (tmp_path / "a.md").write_bytes(text.encode(encoding))
    ((document,), _) = read_whole(tmp_path)
    assert document.text == text


def test_a_byte_order_mark_and_carriage_returns_are_not_text(tmp_path: Path) -> None:
    (tmp_path / "dos.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree")
    ((document,), _) = read_whole(tmp_path)
    assert document.text == "one\ntwo\nthree"


def test_html_keeps_headings_and_code_and_drops_scripts(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        "<head><title>T</title><style>p{}</style></head><body><nav>menu</nav><h1>Pump</h1><script>alert(1)</script>"
        "<p>It moves&nbsp;&lt;water&gt;,<br>mostly.<ul><li>fast<li>slow</ul><pre>a = 1\n```\n  "
        "b</pre><table><tr><td>cell</table>"
    )
    ((document,), _) = read_whole(tmp_path)
    expected = [
        "# Pump",
        "It moves <water>, mostly.",
        "- fast",
        "- slow",
        "````\na = 1\n```\n  b\n````",
        "cell",
    ]
    assert document.text.split("\n\n") == expected


def test_comments_are_dropped_and_lone_brackets_are_text(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        "<p>1 < 2<!-- <p>hidden</p> --> and <b>3</b> < 4<!-- never closed <p>gone"
    )
    ((document,), _) = read_whole(tmp_path)
    assert document.text == "1 < 2 and 3 < 4"


def test_the_sample_is_the_manual_that_comes_with_python() -> None:
    source = sample_sources()
    titles = {d.id: d.title for d in source.documents}
    assert len(titles) > 70
    assert titles["with"] == 'The "with" statement'


def test_source_code_without_its_grammar_is_counted_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_bytes(GOOD)
    (tmp_path / "b.py").write_text("a = 1")
    monkeypatch.setattr(kinds, "is_installed", lambda _: False)
    (ignored,) = read_source(tmp_path).ignored
    assert ignored.kind == ".py"
    assert "pip install 'drift-neo4j[code]'" in ignored.reason


@pytest.mark.parametrize(
    "part",
    [
        "<a ",
        "<!--",
        "&",
        "<p><b>",
    ],
)
def test_a_large_page_of_broken_html_does_not_hang(tmp_path: Path, part: str) -> None:
    (tmp_path / "page.html").write_text("<p>before</p>" + part * (300_000 // len(part)))
    ((document,), _) = read_whole(tmp_path)
    assert document.text.startswith("before")

"""What a run, a file beside a document and its head say of it: stored, changed, taken away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from drift.local.cli.ingest_options import IngestOptions
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.sources import Source, read_changed, read_source
from drift.model.attributes import Attributes
from tests.ingest.fakes import HashEmbedder, MemoryWriter, context

TEXT = "# Berths\n\nBerth 4 is closed in winter, and the harbour office says so.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.md").write_text(TEXT)
    (tmp_path / "b.md").write_text(f"---\ntags: own\n---\n{TEXT}")
    return tmp_path


def beside(document: Path, **said: Any) -> Path:
    """Write what a file beside a document says of it."""
    file = document.with_name(f"{document.name}.meta.json")
    file.write_text(json.dumps(said))
    return file


def given(source: Source) -> dict[str, Attributes]:
    return {one.id: one.given for one in source.documents}


async def test_a_change_of_tags_alone_embeds_nothing_and_is_taken_away_again(folder: Path) -> None:
    writer = MemoryWriter()
    run = context(writer)
    assert isinstance(run.embedder, HashEmbedder)

    async def ingested(said: Attributes) -> tuple[list[str], int]:
        before = run.embedder.texts  # type: ignore[attr-defined]
        report = await ingest(read_source(folder).saying(said), "p", run)
        return report.changed, run.embedder.texts - before  # type: ignore[attr-defined]

    await ingest(read_source(folder), "p", run)
    held = writer.project("p").documents
    hr = Attributes(("hr",), {"year": 2026})
    assert await ingested(hr) == (["a.md", "b.md"], 0)
    assert held["a.md"].attributes == hr
    assert held["b.md"].attributes == Attributes(("hr", "own"), {"year": 2026})
    assert await ingested(hr) == ([], 0)

    sidecar = beside(folder / "a.md", metadata={"year": 1999, "office": "north"}, title="Told")
    assert await ingested(hr) == (["a.md"], 1), "the topic that is called after it"
    assert held["a.md"].attributes.metadata == {"year": 2026, "office": "north"}
    assert held["a.md"].title == "Told"
    sidecar.unlink()
    await ingest(read_source(folder), "p", run)
    assert held["a.md"].attributes == Attributes()
    assert (held["a.md"].title, held["b.md"].attributes) == ("Berths", Attributes(("own",)))
    assert {one.media_type for one in held.values()} == {"text/markdown"}


def test_a_file_beside_a_document_tells_of_it_and_is_none(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "c.txt").write_text(TEXT)
    beside(folder / "sub" / "c.txt", tags=["hr"], created_at="1970-01-02", title="C")
    beside(folder / "gone.md", tags=["hr"])
    source = read_source(folder)
    assert given(source)["sub/c.txt"] == Attributes(("hr",), {}, 86_400_000, None, "C")
    assert [(one.kind, one.count) for one in source.ignored] == [(".json", 1)]
    assert (source.skipped, given(source)["a.md"]) == ((), Attributes())
    single = read_source(folder / "sub" / "c.txt")
    assert given(single)["c.txt"] == given(source)["sub/c.txt"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not used: is not valid JSON"),
        (b"[" * 60_000, "is not used: is not valid JSON"),
        (b"[]", "is not used: must be a JSON object"),
        (b"\xff", "is not used: is not valid JSON"),
        (b'{"tags": ["hr"], "tags": []}', "is not used: `tags` is given twice"),
        (b'{"tags": [""]}', "is not used: `tags.0` must have at least 1 character"),
        (b'{"metadata": {"a": NaN}}', "is not used: is not valid JSON"),
        (b'{"source": "x"}', "is not used: `source` is not a field of this request"),
        (b'{"title": "' + b"x" * 70_000 + b'"}', "has more than 65,536 bytes, and is not used"),
    ],
)
def test_a_bad_file_beside_a_document_costs_itself_alone(
    folder: Path, content: bytes, reason: str
) -> None:
    (folder / "a.md.meta.json").write_bytes(content)
    source = read_source(folder)
    (skipped,) = source.skipped
    assert skipped.path == "a.md.meta.json"
    assert skipped.reason.startswith(reason)
    assert given(source) == {"a.md": Attributes(), "b.md": Attributes()}
    assert [one.path for one in read_source(folder / "a.md").skipped] == ["a.md.meta.json"]


def test_no_link_is_followed_to_what_stands_beside_a_document(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = beside(tmp_path_factory.mktemp("outside") / "a.md", tags=["secret"])
    (folder / "a.md.meta.json").symlink_to(outside)
    source = read_source(folder)
    assert given(source)["a.md"] == Attributes()
    assert [one.path for one in source.skipped] == ["a.md.meta.json"]


def test_a_changed_file_beside_a_document_has_the_document_looked_at(folder: Path) -> None:
    sidecar = beside(folder / "a.md", tags=["hr"])
    source = read_changed(folder, [sidecar])
    assert given(source) == {"a.md": Attributes(("hr",))}
    assert source.only == (str(folder / "a.md"),)
    sidecar.unlink()
    assert given(read_changed(folder, [sidecar])) == {"a.md": Attributes()}


def options(**more: Any) -> IngestOptions:
    return IngestOptions(["docs"], project="p", **more)


def test_the_command_line_says_tags_and_metadata() -> None:
    pairs = ["department=hr", "year=2026", "share=0.5", "draft=true", 'version="1.10"', "x=a=b",
             "list=[1]", "none=null", "empty="]  # fmt: skip
    said = options(tag=[" hr ", "hr"], metadata=pairs).said.over(Attributes())
    assert said.tags == ("hr",)
    assert said.metadata == {
        "department": "hr", "year": 2026, "share": 0.5, "draft": True, "version": "1.10",
        "x": "a=b", "list": "[1]", "none": "null", "empty": "",
    }  # fmt: skip
    assert options().said == Attributes()


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"tag": [""]}, "at least 1 character"),
        ({"tag": [str(n) for n in range(33)]}, "at most 32 items"),
        ({"metadata": ["hr"]}, "NAME=VALUE"),
        ({"metadata": ["=hr"]}, "1 to 64"),
        ({"metadata": ["a=NaN"]}, "must hold text"),
        ({"metadata": ["a=" + "x" * 513]}, "512"),
        ({"metadata": [f"n{n}=1" for n in range(17)]}, "at most 16 items"),
    ],
)
def test_the_command_line_refuses_what_no_document_may_say(more: Any, problem: str) -> None:
    with pytest.raises(typer.BadParameter, match=problem) as refused:
        options(**more).check()
    assert refused.value.param_hint == f"--{next(iter(more))}"
    with pytest.raises(typer.BadParameter, match="goes with"):
        IngestOptions(graphrag=Path("x"), project="p", tag=["hr"]).check()

"""A file is one document of a project, whatever source it came from; and what is gone is gone."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from drift.core.errors import IngestError
from drift.indexing.documents import Skipped
from drift.local.ingest import kinds
from drift.local.ingest.pipeline import ingest, remove
from drift.local.ingest.report import IngestReport
from drift.local.ingest.sources import Source, read_changed, read_source
from tests.ingest.fakes import MemoryWriter, Project, comparable, context

TEXTS = {
    "a.md": "# Quay four\n\nIngrid Falk keeps the keys of `quay_four`.\n",
    "sub/b.md": "# Ropes\n\nThe `rope_store` is behind `quay_four`.\n",
    "sub/deep/c.md": "# Cranes\n\nThe `crane` stands beside the `rope_store`.\n",
    "d.txt": "The `crane` may not be used on Sundays.\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in TEXTS.items():
        _put(tmp_path / "docs" / name, text)
    return tmp_path / "docs"


def _put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _renamed(path: Path, new: Path) -> Path:
    return path.rename(new)


def _link(path: Path, target: Path) -> None:
    path.symlink_to(target)


async def _ingest(path: Path, writer: MemoryWriter, *, yes: bool = False) -> IngestReport:
    source = await asyncio.to_thread(read_source, path, may_be_empty=yes)
    return await ingest(source, "p", context(writer))


async def _remove(source: Path | None, writer: MemoryWriter) -> IngestReport:
    name = None if source is None else str(source)
    return await remove(name, "p", context(writer))


async def _clean(*sources: Path) -> Project:
    writer = MemoryWriter()
    for source in sources:
        await _ingest(source, writer)
    return writer.project("p")


def _texts(project: Project) -> list[str]:
    """Return the first lines of what questions can cite, in order."""
    return sorted(c.text.partition("\n")[0] for own in project.chunks.values() for c in own)


@pytest.mark.parametrize(
    "order",
    [
        ["docs/a.md", "docs"],
        ["docs", "docs/a.md"],
        ["docs/sub", "docs"],
        ["docs", "docs/sub"],
        ["docs/sub/deep/c.md", "docs/sub/deep", "docs/sub", "docs/a.md", "docs"],
        ["docs/sub/deep", "docs", "docs/sub"],
    ],
)
async def test_a_file_is_one_document_in_whatever_order_its_folders_are_ingested(
    folder: Path, order: list[str]
) -> None:
    writer = MemoryWriter()
    for name in order:
        await _ingest(folder.parent / name, writer)
    assert comparable(writer.project("p"), has_paths=False) == comparable(
        await _clean(folder), has_paths=False
    )

    edited = TEXTS["sub/deep/c.md"].replace("stands", "rests")
    _put(folder / "sub/deep/c.md", edited)
    _put(folder / "a.md", TEXTS["a.md"].replace("Ingrid Falk", "Nils Berg"))
    for name in order:
        await _ingest(folder.parent / name, writer)
    assert comparable(writer.project("p"), has_paths=False) == comparable(
        await _clean(folder), has_paths=False
    )


async def test_a_project_that_holds_a_file_twice_is_mended_by_either_source(folder: Path) -> None:
    for mends in (folder, folder / "a.md"):
        writer = MemoryWriter()
        await _ingest(folder, writer)
        project = writer.project("p")
        stored, chunks = project.documents["a.md"], project.chunks["a.md"]
        project.documents["docs/a.md"] = replace(stored, id="docs/a.md", key="docs/a.md")
        project.documents["a.md"] = replace(stored, source=str(folder / "a.md"))
        project.chunks["docs/a.md"] = tuple(
            replace(c, id=f"copy of {c.id}", document_id="docs/a.md") for c in chunks
        )

        report = await _ingest(mends, writer)

        assert report.removed == ["docs/a.md"]
        assert comparable(writer.project("p")) == comparable(await _clean(folder))


async def test_a_folder_inside_a_known_one_renews_only_its_part(folder: Path) -> None:
    writer = MemoryWriter()
    await _ingest(folder, writer)
    _put(folder / "a.md", "# Not read this time\n")
    (folder / "sub/b.md").unlink()
    _put(folder / "sub/new.md", "# Buoys\n\nA `buoy` is yellow.\n")

    report = await _ingest(folder / "sub", writer)

    assert (report.added, report.removed) == (["sub/new.md"], ["sub/b.md"])
    assert "# Quay four" in _texts(writer.project("p"))
    assert {d.source for d in writer.project("p").documents.values()} == {str(folder)}


async def test_a_hidden_folder_that_was_ingested_alone_stays_beside_the_one_around_it(
    folder: Path,
) -> None:
    _put(folder / ".own/z.md", "# Tides\n\nThe `tide` is low at six.\n")
    writer = MemoryWriter()
    for source in (folder / ".own", folder, folder / ".own"):
        report = await _ingest(source, writer)
    assert not report.wrote
    assert set(writer.project("p").documents) == {*TEXTS, "z.md"}


async def test_two_files_of_a_source_never_have_one_name(folder: Path, tmp_path: Path) -> None:
    writer = MemoryWriter()
    other = tmp_path / "other"
    _put(other / "a.md", "# Another\n")
    _put(folder / "docs/a.md", "# Inner\n\nThe `inner` one.\n")
    await _ingest(other, writer)
    for _ in range(2):
        report = await _ingest(folder, writer)
        assert len(writer.project("p").documents) == len(TEXTS) + 2
    assert not report.wrote


# ------------------------------------------------------------------------- renamed and moved
async def test_a_renamed_folder_is_recognised_at_no_cost(folder: Path, tmp_path: Path) -> None:
    writer = MemoryWriter()
    await _ingest(folder, writer)
    papers = _renamed(folder, tmp_path / "papers")
    report = await _ingest(papers, writer)
    assert (sorted(report.moved), report.chunks, report.added) == (sorted(TEXTS), 0, [])
    assert comparable(writer.project("p")) == comparable(await _clean(papers))
    assert not (await _ingest(papers, writer)).wrote


async def test_a_folder_renamed_edited_and_thinned_is_the_same_folder(
    folder: Path, tmp_path: Path
) -> None:
    writer = MemoryWriter()
    _put(folder / "e.md", "# Ebb\n\nThe `ebb` begins at noon.\n")
    await _ingest(folder, writer)
    papers = _renamed(folder, tmp_path / "papers")
    _put(papers / "a.md", TEXTS["a.md"].replace("Ingrid Falk", "Nils Berg"))
    (papers / "d.txt").unlink()
    _put(papers / "new.md", "# Buoys\n\nA `buoy` is yellow.\n")
    await _ingest(papers, writer)
    # Topics stay while a project changes: they are those that were found of the first folder.
    assert comparable(writer.project("p"))[:2] == comparable(await _clean(papers))[:2]


async def test_a_file_moved_between_two_sources_is_one_document_whichever_is_read_first(
    folder: Path, tmp_path: Path
) -> None:
    for first in ("docs", "other"):
        shutil.rmtree(tmp_path / "other", ignore_errors=True)
        other = tmp_path / "other"
        _put(other / "x.md", "# Lamps\n\nThe `lamp` is red.\n")
        _put(folder / "a.md", TEXTS["a.md"])
        writer = MemoryWriter()
        for source in (folder, other):
            await _ingest(source, writer)
        (folder / "a.md").rename(other / "moved.md")
        for source in sorted((folder, other), key=lambda source: source.name != first):
            await _ingest(source, writer)
            texts = _texts(writer.project("p"))
            assert len(texts) == len(set(texts))
        assert set(writer.project("p").documents) == {*TEXTS, "moved.md", "x.md"} - {"a.md"}


async def test_what_a_part_of_a_vanished_folder_lacks_stays_and_is_told(
    folder: Path, tmp_path: Path
) -> None:
    writer = MemoryWriter()
    await _ingest(folder, writer)
    part = tmp_path / "part"
    _put(part / "a.md", TEXTS["a.md"])
    shutil.rmtree(folder)

    report = await _ingest(part, writer)

    assert (report.moved, report.removed, report.left) == (["a.md"], [], {str(folder): 3})
    assert set(writer.project("p").documents) == set(TEXTS)


async def test_a_folder_has_one_name_however_it_is_given(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = MemoryWriter()
    await _ingest(folder, writer)
    _link(folder.parent / "link", folder)
    monkeypatch.chdir(folder / "sub")
    ways = ["..", "../../docs/", "../../link", "../sub/.."]
    assert not any([(await _ingest(Path(way), writer)).wrote for way in ways])

    monkeypatch.chdir(folder.parent)
    moved = _renamed(folder, folder.parent / "elsewhere")
    _link(folder, moved)
    assert not any([(await _ingest(place, writer)).wrote for place in (folder, moved)])


# ----------------------------------------------------------------------------------- taken out
@pytest.mark.parametrize("whole", [True, False], ids=["removed", "emptied"])
async def test_an_emptied_or_removed_folder_empties_its_source_when_yes_says_so(
    folder: Path, tmp_path: Path, *, whole: bool
) -> None:
    other = tmp_path / "other"
    _put(other / "x.md", "# Lamps\n\nThe `lamp` is red.\n")
    writer = MemoryWriter()
    for source in (folder, other):
        await _ingest(source, writer)
    shutil.rmtree(folder)
    if not whole:
        _put(folder / "nothing.bin", "")

    with pytest.raises(IngestError, match="--yes"):
        await _ingest(folder, writer)
    assert len(writer.project("p").documents) == len(TEXTS) + 1

    report = await _ingest(folder, writer, yes=True)
    assert report.removed == sorted(TEXTS)
    assert writer.project("p") == await _clean(other)
    with pytest.raises(IngestError, match="project p holds nothing of it"):
        await _ingest(folder, writer, yes=True)


async def test_the_only_file_of_a_source_is_taken_out_when_yes_says_so(folder: Path) -> None:
    writer = MemoryWriter()
    await _ingest(folder / "a.md", writer)
    (folder / "a.md").unlink()
    with pytest.raises(IngestError, match="--yes"):
        await _ingest(folder / "a.md", writer)
    assert (await _ingest(folder / "a.md", writer, yes=True)).removed == ["a.md"]
    assert writer.project("p") == Project(knowledge=writer.project("p").knowledge)
    assert not writer.project("p").knowledge.entities


async def test_what_cannot_be_read_is_kept_also_with_yes(folder: Path) -> None:
    writer = MemoryWriter()
    await _ingest(folder, writer)
    unreadable = tuple(Skipped(path, "cannot be read", unreadable=True) for path in (".", "a.md"))
    for skipped, kept in zip(unreadable, (sorted(TEXTS), ["a.md"]), strict=True):
        source = Source(str(folder), (), (skipped,))
        report = await ingest(source, "p", context(writer))
        assert report.kept == kept
    assert report.removed == sorted(TEXTS.keys() - {"a.md"})


async def test_a_document_stays_whose_package_is_missing_here(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _put(folder / "e.py", "def rope() -> str:\n    return 'hemp'\n")
    writer = MemoryWriter()
    await _ingest(folder, writer)
    with monkeypatch.context() as patch:
        patch.setattr(kinds, "is_installed", lambda _: False)
        report = await _ingest(folder, writer)
    assert (report.removed, report.kept) == ([], ["e.py"])
    assert "e.py" in writer.project("p").documents

    (folder / "e.py").unlink()
    assert (await _ingest(folder, writer)).removed == ["e.py"]


async def test_the_same_text_under_several_names_is_one_document(folder: Path) -> None:
    for name in ("a (1).md", "a (2).md", "old/deep/a.md", "said.md"):
        _put(folder / name, TEXTS["a.md"])
    _put(folder / "said.md.meta.json", '{"tags": ["staff"]}')
    writer = MemoryWriter()
    report = await _ingest(folder, writer)
    project = writer.project("p")
    # Filters by a tag or by a folder find those alone.
    others = {"said.md", "old/deep/a.md"}
    assert {*project.documents} == {*TEXTS} | others
    assert project.documents["a.md"].attributes.also_at == ("a (1).md", "a (2).md")
    assert {(one.path, one.reason) for one in report.skipped} == {
        ("a (1).md", "has the same text as a.md"),
        ("a (2).md", "has the same text as a.md"),
    }
    assert not (await _ingest(folder, writer)).wrote
    assert not (await _ingest(folder / "old", writer, yes=True)).wrote

    (folder / "a.md").unlink()
    report = await _ingest(folder, writer)
    assert (report.changed, report.removed) == (["a (1).md"], [])
    assert {*project.documents} == {*TEXTS, "a (1).md"} - {"a.md"} | others
    assert project.documents["a (1).md"].attributes.also_at == ("a (2).md",)
    _put(folder / "a (2).md", "# Another\n")
    assert (await _ingest(folder, writer)).added == ["a (2).md"]


async def test_a_document_that_is_off_is_so_at_each_of_its_places(folder: Path) -> None:
    writer = MemoryWriter()
    await _ingest(folder, writer)
    project = writer.project("p")

    def off() -> list[str]:
        return sorted(name for name, one in project.documents.items() if one.is_off)

    await writer.switch("p", ["a.md"], on=False)
    for name in ("y.md", "z.md"):
        _put(folder / name, TEXTS["a.md"])
    assert not (await _ingest(folder, writer)).added
    assert project.documents["a.md"].attributes.also_at == ("y.md", "z.md")
    _put(folder / "a.md", "# Quay nine\n\nNobody keeps the keys of `quay_nine`.\n")
    assert (await _ingest(folder, writer)).added == ["y.md"]
    assert off() == ["a.md", "y.md"]
    (folder / "y.md").unlink()
    await _ingest(folder, writer)
    assert off() == ["a.md", "z.md"]

    # A document that is seen stays so when another becomes the same, and goes when it does.
    _put(folder / "a.md", TEXTS["d.txt"])
    (folder / "d.txt").rename(folder / "d.md")
    await _ingest(folder, writer)
    assert ("d.md" in project.documents, off()) == (True, ["a.md", "z.md"])
    _put(folder / "d.md", TEXTS["a.md"])
    assert "d.md" in (await _ingest(folder, writer)).removed
    assert off() == ["a.md", "z.md"]


async def test_a_copy_is_read_when_its_document_changes_beside_another_folder(
    tmp_path: Path,
) -> None:
    for name in ("b.md", "keep.md", "s/x.md"):
        _put(tmp_path / name, TEXTS["a.md"])
    writer = MemoryWriter()
    await _ingest(tmp_path, writer)
    _put(tmp_path / "b.md", "# Another\n")
    changed = await asyncio.to_thread(read_changed, tmp_path, [tmp_path / "b.md"])
    report = await ingest(changed, "p", context(writer))
    assert (report.added, report.changed, report.skipped) == (["keep.md"], ["b.md"], ())


async def test_a_copy_is_no_document_of_another_folder_that_moved(tmp_path: Path) -> None:
    for name in ("b.md", "keep.md", "s/x.md"):
        _put(tmp_path / name, TEXTS["a.md"])
    writer = MemoryWriter()
    await _ingest(tmp_path, writer)
    await writer.switch("p", ["s/x.md"], on=False)
    (tmp_path / "s/x.md").unlink()
    report = await _ingest(tmp_path, writer)
    assert (report.unchanged, report.removed) == (["b.md"], ["s/x.md"])
    assert not writer.project("p").documents["b.md"].is_off


async def test_a_document_that_is_off_stays_so_when_it_was_the_same_as_another(
    tmp_path: Path,
) -> None:
    policy, draft = _put(tmp_path / "policy.md", TEXTS["a.md"]), tmp_path / "draft.md"
    _put(draft, TEXTS["d.txt"])
    writer = MemoryWriter()
    await _ingest(tmp_path, writer)
    await writer.switch("p", ["draft.md"], on=False)
    # The copy of what is seen is seen as well, whatever else says the same.
    _put(tmp_path / "z.md", TEXTS["a.md"])
    steps = [(draft, TEXTS["a.md"]), (tmp_path / "z.md", TEXTS["a.md"]), (policy, "# New\n")]
    for path, text in [*steps, (draft, TEXTS["d.txt"])]:
        _put(path, text)
        await _ingest(tmp_path, writer)
        held = writer.project("p").documents
        assert [name for name, one in held.items() if one.is_off] == ["draft.md"]
        assert "policy.md" in held
    assert {*held} == {"draft.md", "policy.md", "z.md"}

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from drift.core.deadline import Deadline
from drift.core.errors import IngestError, ModelMisconfiguredError
from drift.indexing.documents import Skipped
from drift.local.cli.sample import sample_sources
from drift.local.ingest.context import IngestContext
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.report import IngestReport
from drift.local.ingest.sources import Source, read_source
from drift.model.calls import Embeddings
from tests.ingest.fakes import DIMENSIONS, HashEmbedder, MemoryWriter, Project, comparable, context

TEXTS = {
    "pump.md": "# Pump manual\n\nThe `Feed Pump` moves *cooling water*. See the Control "
    "Panel.\n\n## Start\n\nOpen the `inlet_valve`.\n",
    "valve.md": "# Valve manual\n\nThe `inlet_valve` lets *cooling water* in. Ask the Control "
    "Panel.\n",
    "deep/panel.txt": "Control Panel\n=============\n\nThe Control Panel shows the `inlet_valve` "
    "and the `Feed Pump`.\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    for name, text in TEXTS.items():
        _put(root / name, text)
    return root


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


async def _run(
    source: Source | Path, writer: MemoryWriter, project: str = "p", **more: str
) -> IngestReport:
    source = await _read(source) if isinstance(source, Path) else source
    return await ingest(source, project, context(writer, **more))


async def _read(path: Path) -> Source:
    return await asyncio.to_thread(read_source, path)


async def _clean(*sources: Path) -> Project:
    writer = MemoryWriter()
    for source in sources:
        await _run(source, writer)
    return writer.project("p")


async def test_a_folder_becomes_documents_chunks_and_topics(
    folder: Path,
) -> None:
    writer = MemoryWriter()

    report = await _run(folder, writer)

    project = writer.project("p")
    assert report.added == sorted(TEXTS) == sorted(project.documents)
    assert {d.title for d in project.documents.values()} == {
        "Pump manual",
        "Valve manual",
        "Control Panel",
    }
    assert report.chunks == sum(len(own) for own in project.chunks.values())
    assert report.communities == {0: 1}
    assert (project.knowledge.entities, project.knowledge.relations) == ((), ())
    assert project.knowledge.fingerprint
    for name, own in project.chunks.items():
        assert own
        assert all(c.text == TEXTS[name][c.start : c.end] for c in own)
        assert all(len(c.embedding) == DIMENSIONS for c in own)
    assert all(len(c.embedding) == DIMENSIONS for c in project.knowledge.communities)


@pytest.mark.parametrize("lost", ["valve", "manual", ""])
async def test_chunks_whose_vector_is_of_zeros_are_told(folder: Path, lost: str) -> None:
    class Zeros(HashEmbedder):
        async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
            made = (await super().embed(texts, deadline)).vectors
            zeros = (0.0,) * DIMENSIONS
            return Embeddings(
                tuple(
                    zeros if lost in text.partition("\n")[0].lower() else vector
                    for text, vector in zip(texts, made, strict=True)
                )
            )

    writer, source = MemoryWriter(), await _read(folder)
    report = await ingest(source, "p", IngestContext(writer, Zeros(), DIMENSIONS))
    names = {name for name, text in TEXTS.items() if lost in text.partition("\n")[0].lower()}
    assert report.notes.keys() == names
    assert all("no search by vector finds them" in note for note in report.notes.values())
    assert not (await ingest(source, "q", context(writer))).notes


async def test_every_chunk_is_in_one_topic_below_a_root() -> None:
    writer = MemoryWriter()
    report = await _run(await asyncio.to_thread(sample_sources), writer)
    project = writer.project("p")
    communities = {c.community: c for c in project.knowledge.communities}

    inner = {c.parent for c in communities.values()}
    assert all(
        c.level == 0 and c.community not in inner
        for c in communities.values()
        if c.chunk_ids or c.entity_ids
    )
    assert all(
        communities[c.parent].level > c.level for c in communities.values() if c.parent is not None
    )
    in_leaves = [chunk for c in communities.values() for chunk in c.chunk_ids]
    assert sorted(in_leaves) == sorted(c.id for own in project.chunks.values() for c in own)
    members = [entity for c in communities.values() for entity in c.entity_ids]
    assert sorted(members) == sorted(e.id for e in project.knowledge.entities)
    assert 2 <= len(report.communities) <= 4


async def test_a_second_run_writes_nothing(folder: Path) -> None:
    writer = MemoryWriter()
    await _run(folder, writer)
    before = list(writer.writes)
    embedder = HashEmbedder()

    report = await ingest(await _read(folder), "p", IngestContext(writer, embedder, DIMENSIONS))

    assert writer.writes == before
    assert embedder.texts == 0
    assert report.unchanged == sorted(TEXTS)
    assert not report.wrote


async def test_an_address_is_written_when_it_changes_and_else_costs_nothing(folder: Path) -> None:
    writer = MemoryWriter()
    await _run(folder, writer)
    plain = dict(writer.project("p").documents)
    assert {document.version.source_uri for document in plain.values()} == {""}

    addressed = await asyncio.to_thread(read_source, folder, "https://docs.example.com/m/")
    report = await _run(addressed, writer)
    assert report.changed == sorted(TEXTS)
    assert {name: d.version.source_uri for name, d in writer.project("p").documents.items()} == {
        name: f"https://docs.example.com/m/{name}" for name in TEXTS
    }
    assert not (await _run(addressed, writer)).wrote

    assert (await _run(folder, writer)).changed == sorted(TEXTS)
    assert writer.project("p").documents == plain


async def test_a_changed_file_replaces_only_its_own_chunks(folder: Path) -> None:
    writer = MemoryWriter()
    await _run(folder, writer)
    before = dict(writer.project("p").chunks)
    _put(folder / "pump.md", TEXTS["pump.md"].replace("Open", "Slowly open"))

    report = await _run(folder, writer)

    after = writer.project("p").chunks
    assert report.changed == ["pump.md"]
    assert {name for name in after if after[name] != before[name]} == {"pump.md"}
    assert comparable(writer.project("p")) == comparable(await _clean(folder))


async def test_two_folders_of_one_project_both_stay_and_knowledge_covers_both(
    folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "more"
    _put(other / "pump.md", "# Spare parts\n\nA gasket for the `inlet_valve`.\n")
    writer = MemoryWriter()

    await _run(folder, writer)
    await _run(other, writer)

    project = writer.project("p")
    assert set(project.documents) == {*TEXTS, "more/pump.md"}
    assert {id_ for c in project.knowledge.communities for id_ in c.chunk_ids} == {
        c.id for own in project.chunks.values() for c in own
    }
    writes = len(writer.writes)
    for source in (folder, other):
        assert not (await _run(source, writer)).wrote
    assert len(writer.writes) == writes


async def test_projects_do_not_share_ids(folder: Path) -> None:
    writer = MemoryWriter()
    await _run(folder, writer, "p")
    await _run(folder, writer, "q")

    ids = [{c.id for own in writer.project(name).chunks.values() for c in own} for name in "pq"]
    assert ids[0]
    assert not ids[0] & ids[1]


async def test_another_embedding_model_embeds_everything_anew(folder: Path) -> None:
    writer = MemoryWriter()
    await _run(folder, writer, model="one")

    report = await _run(folder, writer, model="two")

    assert report.changed == sorted(TEXTS)


async def test_vectors_of_another_length_are_refused_before_anything_is_written(
    folder: Path,
) -> None:
    writer = MemoryWriter()
    with pytest.raises(ModelMisconfiguredError, match=r"\[5\] floats.*8 floats each were expected"):
        await ingest(await _read(folder), "p", IngestContext(writer, HashEmbedder(5), DIMENSIONS))
    assert not writer.writes


async def test_a_file_that_cannot_be_read_this_time_keeps_what_the_graph_holds(
    folder: Path,
) -> None:
    writer = MemoryWriter()
    await _run(folder, writer)
    source = await _read(folder)
    without = tuple(d for d in source.documents if d.id not in {"valve.md", "deep/panel.txt"})
    skipped = (Skipped("deep", "cannot be read", unreadable=True), Skipped("valve.md", "is empty"))

    report = await _run(replace(source, documents=without, skipped=skipped), writer)

    assert report.kept == ["deep/panel.txt"]
    assert report.removed == ["valve.md"]


async def test_progress_never_falls_and_every_stage_ends_complete(folder: Path) -> None:
    seen: dict[str, list[tuple[int, int]]] = {}

    def report(stage: str, done: int, total: int) -> None:
        seen.setdefault(stage, []).append((done, total))

    await ingest(
        await _read(folder),
        "p",
        context(MemoryWriter(), report=report),
    )

    assert list(seen) == [
        "read",
        "embed and write chunks",
        "derive knowledge",
        "embed knowledge",
        "write knowledge",
    ]
    for steps in seen.values():
        assert steps == sorted(steps)
        assert steps[-1][0] == steps[-1][1] > 0


@pytest.mark.parametrize("address", ["", "https://docs.example.com"])
@pytest.mark.parametrize("moved", ["elsewhere", "elsewhere/docs", "beside another"])
async def test_a_folder_that_was_copied_is_refused_before_anything_is_written(
    folder: Path, tmp_path: Path, moved: str, address: str
) -> None:
    writer = MemoryWriter()
    if moved == "beside another":  # so that it is stored as docs/pump.md and so on
        for name in TEXTS:
            _put(tmp_path / "other" / name, f"# Another {name}\n")
        await _run(tmp_path / "other", writer)
    await _run(folder, writer)
    before = list(writer.writes)
    copy = tmp_path / moved
    await asyncio.to_thread(shutil.copytree, folder, copy)
    _put(copy / "new.md", "# New")
    source = await asyncio.to_thread(read_source, copy, address)

    with pytest.raises(IngestError, match="holds the same documents already") as refused:
        await _run(source, writer)

    assert str(folder) in refused.value.detail
    assert "--project" in refused.value.detail
    assert writer.writes == before
    assert (await _run(source, writer, "another project")).added == sorted([*TEXTS, "new.md"])


async def test_folders_that_share_a_few_files_go_into_one_project(
    folder: Path, tmp_path: Path
) -> None:
    writer = MemoryWriter()
    await _run(folder, writer)
    other = tmp_path / "other"
    for name, text in {"pump.md": TEXTS["pump.md"], "own.md": "# Own"}.items():
        _put(other / name, text)
    assert sorted((await _run(other, writer)).added) == ["other/pump.md", "own.md"]

"""What was lost between two derivations is there after the next one, as if it had never been."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from drift.core.errors import GraphMisconfiguredError, GraphUnavailableError, IngestError
from drift.indexing.documents import SourceDocument
from drift.indexing.indexer import Indexer
from drift.llm.local_embedder import LocalEmbedder
from drift.local.exchange.differences import ProjectDifferences
from drift.local.ingest.context import IngestContext
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.ingest.pipeline import ingest, remove, switch
from drift.local.ingest.sources import Source, read_source
from tests.contract.graph_backends import DIMENSIONS, Neo4jBackend, context, on_real_server
from tests.contract.test_broken_writes import BrokenConnection

pytestmark = on_real_server

HELD = """
MATCH (d:__Document__ {project_id: $p})-[:HAS_CHUNK]->(ch)
RETURN d.id AS document, labels(ch) AS labels, ch.text AS text, ch.id AS id,
  ch.embedding IS NOT NULL AS has_vector, ch.name_words AS words,
  COUNT { (ch)-[:IN_COMMUNITY]->() } AS topics,
  [(ch)-[:HAS_ENTITY]->(e) | e.title] AS entities,
  [(d)-[r:LINKS_TO]->(e) | e.title] AS links
"""
UNLOCK = "MATCH (p:__Project__ {id: $p}) REMOVE p.writer"

TEXTS = {
    "ferry.md": "# Ferry\n\nThe ferry leaves from https://harbour.example/east at noon.\n",
    "notes.txt": "Boats are written down at https://harbour.example/list every day.\n",
    "crane.md": "# Crane\n\nThe crane of the quay lifts nine tonnes, see https://harbour.example/east\n",
}


async def held(backend: Neo4jBackend, project: str) -> list[tuple[object, ...]]:
    """What stands of each chunk, but for its id."""
    rows = await backend.connection.rows(HELD, {"p": project})
    return sorted(
        (
            row["document"],
            row["text"],
            sorted(row["labels"]),
            row["has_vector"],
            row["words"],
            row["topics"],
            sorted(row["entities"]),
            sorted(row["links"]),
        )
        for row in rows
    )


async def run(writer: Neo4jWriter, project: str, folder: Path) -> None:
    await ingest(read_source(folder), project, context(writer))


def indexer(backend: Neo4jBackend, project: str, model: str = "") -> Indexer:
    return Indexer(backend.connection, project, LocalEmbedder(), model, DIMENSIONS, backend.names)


async def remove_all(backend: Neo4jBackend, project: str) -> None:
    """Leave no vectors of another model to what others ask of the server."""
    embedder = LocalEmbedder()
    await remove(None, project, IngestContext(backend.writer, embedder, DIMENSIONS, model="ada"))


async def run_again(backend: Neo4jBackend, project: str, folder: Path) -> None:
    """Ingest a folder that has a document more than before: the knowledge is derived anew."""
    (folder / "later.md").write_text("# Later\n\nA lamp hangs at the north pier.\n")
    await run(backend.writer, project, folder)


Work = Callable[[Neo4jWriter], Awaitable[object]]


async def killed(backend: Neo4jBackend, project: str, after: int, work: Work) -> None:
    with suppress(GraphUnavailableError):
        await work(Neo4jWriter(BrokenConnection(backend.connection, after), backend.names))
    await backend.connection.write(UNLOCK, {"p": project})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    for name, text in TEXTS.items():
        (made / name).write_text(text)
    return made


async def test_an_inner_folder_and_then_the_outer_one_hold_files_of_one_name(
    backend: Neo4jBackend, project: str, tmp_path: Path
) -> None:
    inner = tmp_path / "proj" / "docs"
    inner.mkdir(parents=True)
    names = ("README.md", "a.txt", "b.md")
    for name in names:
        (inner / name).write_text(f"The lamp of {name} stands on the inner pier.\n")
        (inner.parent / name).write_text(f"The crane of {name} stands on the outer quay.\n")
    (inner / "long.md").write_text(
        "\n\n".join(
            f"## Part {n}\n\nThe quay has bollard {n}, tarred in spring." for n in range(140)
        )
    )
    await run(backend.writer, project, inner)
    await run(backend.writer, project, inner.parent)
    before = await held(backend, project)
    for name in names:
        told = {document: text for document, text, *_ in before if document.endswith(name)}
        assert len(told) == 2
        for document, text in told.items():
            assert ("inner" in str(text)) == str(document).startswith("docs/"), told
    assert all(has_vector for _, _, _, has_vector, *_ in before)
    await run(backend.writer, project, inner.parent)
    assert await held(backend, project) == before


async def test_a_chunk_without_its_vector_is_written_anew(
    backend: Neo4jBackend, project: str, folder: Path
) -> None:
    await run(backend.writer, project, folder)
    whole = await held(backend, project)
    await backend.connection.write(
        "MATCH (ch:__Chunk__ {project_id: $p}) WHERE ch.text CONTAINS 'crane' REMOVE ch.embedding",
        {"p": project},
    )
    assert await held(backend, project) != whole
    await run(backend.writer, project, folder)
    assert await held(backend, project) == whole


async def test_a_chunk_that_was_lost_is_in_its_topic_and_entities_after_one_run(
    backend: Neo4jBackend, project: str, folder: Path
) -> None:
    await run(backend.writer, project, folder)
    whole = await held(backend, project)
    await backend.connection.write(
        "MATCH (ch:__Chunk__ {project_id: $p}) WHERE ch.text CONTAINS 'crane' DETACH DELETE ch",
        {"p": project},
    )
    await run(backend.writer, project, folder)
    assert await held(backend, project) == whole


async def test_a_document_that_was_deleted_and_handed_over_again_has_its_edges(
    backend: Neo4jBackend, project: str, folder: Path
) -> None:
    index = indexer(backend, project)
    await run(backend.writer, project, folder)
    await index.add("api.md", TEXTS["ferry.md"])
    await run_again(backend, project, folder)
    whole = await held(backend, project)
    assert any(
        "https://harbour.example/east" in str(row[-1]) for row in whole if row[0] == "api.md"
    )

    await index.remove("api.md")
    await index.add("api.md", TEXTS["ferry.md"])
    await switch((), project, context(backend.writer), on=True)
    assert await held(backend, project) == whole

    await index.add("api.md", "Another text.\n")
    await index.add("api.md", TEXTS["ferry.md"])
    await switch((), project, context(backend.writer), on=True)
    assert await held(backend, project) == whole


@pytest.mark.parametrize("after", [5, 9, 14, 19])
async def test_a_document_switched_off_and_on_again_has_its_edges(
    backend: Neo4jBackend, project: str, folder: Path, after: int
) -> None:
    await run(backend.writer, project, folder)
    whole = await held(backend, project)

    async def off(writer: Neo4jWriter) -> object:
        return await switch(["notes.txt"], project, context(writer), on=False)

    await killed(backend, project, after, off)
    with suppress(IngestError):
        await switch(
            ["notes.txt"],
            project,
            context(backend.writer),
            on=True,
        )
    assert await held(backend, project) == whole


async def test_a_run_that_breaks_and_files_that_are_put_back_leave_no_gap(
    backend: Neo4jBackend, project: str, folder: Path
) -> None:
    await run(backend.writer, project, folder)
    whole = await held(backend, project)
    for after in (7, 9, 11, 13, 16):
        (folder / "crane.md").write_text("# Crane\n\nIt was sold to Holm.\n")
        await killed(backend, project, after, lambda w: run(w, project, folder))
        (folder / "crane.md").write_text(TEXTS["crane.md"])
        await run(backend.writer, project, folder)
        assert await held(backend, project) == whole, after


async def test_a_renamed_text_without_a_heading_still_leads_to_its_address(
    backend: Neo4jBackend, project: str, folder: Path
) -> None:
    await run(backend.writer, project, folder)
    (folder / "notes.txt").rename(folder / "boats.txt")
    await run(backend.writer, project, folder)
    links = {row[0]: row[-1] for row in await held(backend, project)}
    assert links["boats.txt"] == ["https://harbour.example/list"]


async def test_no_run_relabels_the_vectors_of_another_model(
    backend: Neo4jBackend, project: str, folder: Path
) -> None:
    await ingest(
        read_source(folder),
        project,
        context(backend.writer, model="ada"),
    )
    whole = await held(backend, project)
    lacking = "MATCH (ch:__Chunk__ {project_id: $p}) WITH ch LIMIT 1 REMOVE ch.embedding"

    async def switched(ids: Sequence[str], *, on: bool) -> None:
        await switch(
            ids,
            project,
            context(backend.writer, model="other"),
            on=on,
        )

    for ids, on in ((["notes.txt"], False), ([], True)):
        with pytest.raises(IngestError, match="vectors of ada/"):
            await switched(ids, on=on)
    assert await held(backend, project) == whole

    await backend.connection.write(lacking, {"p": project})
    whole = await held(backend, project)
    with pytest.raises(IngestError, match="vectors of ada/"):
        await ProjectDifferences(project, context(backend.writer, "other")).found()
    assert await held(backend, project) == whole
    models = "MATCH (p:__Project__ {id: $p}) RETURN p.embedding_models AS models"
    assert (await backend.connection.rows(models, {"p": project}))[0]["models"] == ["ada"]
    await remove_all(backend, project)


async def test_a_document_beside_vectors_of_a_first_run_that_broke_is_refused(
    backend: Neo4jBackend, project: str, folder: Path
) -> None:
    async def first(writer: Neo4jWriter) -> object:
        source = read_source(folder)
        return await ingest(source, project, context(writer, model="ada"))

    await killed(backend, project, 17, first)
    documents = "MATCH (d:__Document__ {project_id: $p}) RETURN count(d) AS n"
    assert (await backend.connection.rows(documents, {"p": project}))[0]["n"]
    index = indexer(backend, project, "other")
    with pytest.raises(GraphMisconfiguredError, match="made by ada"):
        await index.add("api.md", TEXTS["ferry.md"])
    await remove_all(backend, project)


async def test_no_two_documents_share_the_node_of_a_chunk(
    backend: Neo4jBackend, project: str, folder: Path
) -> None:
    text = "# Lamp\n\nThe lamp of the pier is lit at six.\n"
    (folder / "a.md").write_text(text)
    await run(backend.writer, project, folder)
    for name in "bcd":
        (folder / name).mkdir()
        (folder / "a.md").rename(folder / name / "a.md")
        await run(backend.writer, project, folder)
        (folder / "a.md").write_text(text)
        await run(backend.writer, project, folder)
    (folder / "a.md").rename(folder / "e.md")
    await run(backend.writer, project, folder)
    index = indexer(backend, project)
    await index.add("a.md", text)

    rows = await backend.connection.rows(HELD, {"p": project})
    assert [n for n in Counter(row["id"] for row in rows).values() if n > 1] == []
    assert {"a.md", "b/a.md", "c/a.md", "d/a.md", "e.md"} <= {row["document"] for row in rows}


async def test_a_document_renamed_while_it_is_off_is_found_by_its_new_name(
    backend: Neo4jBackend, project: str, folder: Path
) -> None:
    await run(backend.writer, project, folder)
    await switch(["ferry.md"], project, context(backend.writer), on=False)
    (folder / "ferry.md").rename(folder / "zeppelin.md")
    await run(backend.writer, project, folder)
    await switch(
        ["zeppelin.md"],
        project,
        context(backend.writer),
        on=True,
    )
    words = {str(row[0]): str(row[4]) for row in await held(backend, project)}
    assert "zeppelin" in words["zeppelin.md"]
    assert "ferry" not in words["zeppelin.md"].replace("https://harbour", "")


async def test_a_rename_killed_anywhere_is_found_by_its_new_name_after_the_next_run(
    backend: Neo4jBackend, project: str, folder: Path
) -> None:
    await run(backend.writer, project, folder)
    name = "ferry"
    for after in range(2, 18):
        (folder / f"{name}.md").rename(folder / f"zeppelin{after}.md")
        name = f"zeppelin{after}"
        await killed(backend, project, after, lambda w: run(w, project, folder))
        await run(backend.writer, project, folder)
        words = {str(row[0]): str(row[4]) for row in await held(backend, project)}
        assert name in words[f"{name}.md"], after


async def test_a_file_with_another_ending_is_read_as_that_says(
    backend: Neo4jBackend, project: str, folder: Path
) -> None:
    (folder / "lamp.md").write_text("Of the pier.\n\n# Lamp\n\nIt is lit at six.\n")
    await run(backend.writer, project, folder)
    (folder / "lamp.md").rename(folder / "lamp.txt")
    await run(backend.writer, project, folder)
    title = "MATCH (d:__Document__ {project_id: $p, id: 'lamp.txt'}) RETURN d.title AS title"
    assert (await backend.connection.rows(title, {"p": project}))[0]["title"] == "lamp.txt"


async def test_a_moved_folder_keeps_texts_apart_that_have_one_name(
    backend: Neo4jBackend, project: str, tmp_path: Path
) -> None:
    def source(texts: dict[str, str]) -> Source:
        documents = (SourceDocument(n, n, t, "markdown") for n, t in sorted(texts.items()))
        return Source(str(tmp_path / "proj"), tuple(documents))

    async def made(texts: dict[str, str]) -> dict[str, str]:
        await ingest(source(texts), project, context(backend.writer))
        return {str(row[0]): str(row[1]) for row in await held(backend, project)}

    first = {"x/notes.txt": "The pier is long.", "notes.txt": "The quay is wide."}
    assert await made(first) == first
    swapped = {"x/notes.txt": "The quay is wide.", "notes.txt": "The pier is long."}
    assert await made(swapped) == swapped


async def test_no_two_writes_have_one_time_also_where_the_clock_goes_back(
    backend: Neo4jBackend, project: str, folder: Path
) -> None:
    written_at = "MATCH (p:__Project__ {id: $p}) RETURN p.written_at AS at"
    await run(backend.writer, project, folder)
    later = "MATCH (p:__Project__ {id: $p}) SET p.written_at = p.written_at + 60000"
    await backend.connection.write(later, {"p": project})
    times = [(await backend.connection.rows(written_at, {"p": project}))[0]["at"]]
    index = indexer(backend, project)
    for text in ("The lamp is lit.\n", "The lamp is out.\n"):
        await index.add("lamp.md", text)
        times.append((await backend.connection.rows(written_at, {"p": project}))[0]["at"])
    assert times == sorted(set(times))

"""Where a citation can be looked up: the page, the characters of the document, its address."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from drift.core.deadline import Deadline
from drift.graph.connection import Connection
from drift.local.ingest.documents import SourceDocument
from drift.local.ingest.neo4j import project as neo4j_project
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.sources import Source
from drift.model.graph import Chunk, FollowupQuery
from drift.search.ranking import ranked
from tests.contract.graph_backends import (
    CHUNKS,
    DIMENSIONS,
    Backend,
    Neo4jBackend,
    ask_followup,
    ask_primer,
    axis,
    fill,
    on_real_server,
)
from tests.contract.test_bad_evidence import LocalEmbedder
from tests.contract.v1_graphs import PROJECT, database, prepare, searched

__all__ = ["database"]

pytestmark = pytest.mark.timeout(600)

ADDRESS = "https://docs.example.com/mill.md"
TEXT = "# Mill\n\nThe mill grinds corn.\n\n" + "\n\n".join(
    f"## Part {n}\n\nThe wheel number {n} turns. {'It turns on. ' * 40}" for n in range(6)
)
Where = tuple[int | str | None, int | None, str]


def where(chunk: Chunk) -> Where:
    """What is known of a chunk."""
    return chunk.page, chunk.start, chunk.source_uri


async def ingested(backend: Backend, project: str, address: str = ADDRESS, **how: Any) -> None:
    """Have the project hold one document of several chunks."""
    document = SourceDocument("mill.md", "Mill", TEXT, "markdown", address)
    await ingest(
        Source("/a/folder/of/this/machine", (document,)),
        project,
        backend.writer,
        LocalEmbedder(),
        DIMENSIONS,
        **how,
    )


@pytest.mark.parametrize("at_once", [2000, 2])
async def test_what_is_ingested_says_which_characters_of_the_document_it_is(
    backend: Backend, project: str, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(neo4j_project, "CHUNKS_AT_ONCE", at_once)
    await ingested(backend, project)
    await ingested(backend, project, force=True)  # over the chunks that are there
    for found in (
        await ask_followup(backend.store(), project, "which wheel turns?", axis(0)),
        await ask_primer(backend.store(), project, axis(0)),
    ):
        chunks = found.chunks or [s for c in found.communities for s in c.samples]
        assert len(chunks) > 2
        for one in chunks:
            assert (one.page, one.source_uri) == (None, ADDRESS)
            assert one.start is not None
            assert TEXT[one.start : one.start + len(one.text)] == one.text


async def test_an_address_that_is_taken_back_is_gone_and_no_path_takes_its_place(
    backend: Backend, project: str
) -> None:
    await ingested(backend, project)
    await ingested(backend, project, address="")
    found = await ask_followup(backend.store(), project, "which wheel turns?", axis(0))
    assert {one.source_uri for one in found.chunks} == {""}


async def test_a_project_that_was_ingested_before_has_no_offsets_until_it_is_forced(
    backend: Backend, project: str
) -> None:
    await ingested(backend, project, address="")
    if isinstance(backend, Neo4jBackend):
        await backend.connection.write(
            "MATCH (ch:__Chunk__ {project_id: $p}) REMOVE ch.start, ch.end", {"p": project}
        )
        await ingested(backend, project, address="")
        found = await ask_followup(backend.store(), project, "which wheel turns?", axis(0))
        assert {where(one) for one in found.chunks} == {(None, None, "")}
    await ingested(backend, project, address="", force=True)
    found = await ask_followup(backend.store(), project, "which wheel turns?", axis(0))
    assert all(one.start is not None for one in found.chunks)


FOREIGN: list[tuple[dict[str, Any], dict[str, Any], Where]] = [
    # on the chunk, on its document, and what is known of it then
    ({}, {}, (None, None, "")),
    ({"page_number": 7}, {"url": "https://a.example/b.pdf"}, (7, None, "https://a.example/b.pdf")),
    ({"page": 0, "start_index": 0}, {"source": "s3://b/a.pdf"}, (0, 0, "s3://b/a.pdf")),
    ({"page": 4, "page_label": " iv "}, {"uri": "gs://b/a.pdf"}, ("iv", None, "gs://b/a.pdf")),
    ({"start_char_idx": 12}, {"path": "https://a.example/c"}, (None, 12, "https://a.example/c")),
    (
        {"page_number": "  ", "page": 3, "start_index": -1},
        {"source": "/home/x/a.pdf", "path": "a.pdf", "url": "https://a.example/"},
        (3, None, "https://a.example/"),
    ),
    (
        {"page": [1], "page_number": 1.5, "start": "12", "start_index": True},
        {"source_uri": ["https://a.example"], "url": 7, "source": True},
        (None, None, ""),
    ),
    (
        {"page": -1, "page_label": "p" * 33, "start": 2**60},
        {"source_uri": "https://a.example/" + "a" * 3000},
        (None, None, ""),
    ),
    ({}, {"source_uri": "https://user:word@a.example/"}, (None, None, "")),
]


@pytest.mark.parametrize(("chunk", "document", "known"), FOREIGN)
@on_real_server
async def test_what_other_pipelines_leave_is_read_and_wrong_types_are_missing(
    backend: Neo4jBackend,
    project: str,
    chunk: dict[str, Any],
    document: dict[str, Any],
    known: Where,
) -> None:
    await fill(backend, project, CHUNKS)
    await backend.connection.write(
        """MATCH (d:__Document__ {project_id: $p})-[:HAS_CHUNK]->(ch)
        REMOVE d.source SET d += $document, ch += $chunk""",
        {"p": project, "document": document, "chunk": chunk},
    )
    for found in (
        await ask_followup(backend.store(), project, "alpha?", axis(0)),
        await ask_primer(backend.store(), project, axis(0)),
    ):
        assert {where(one) for one in found.chunks} == {known}


@on_real_server
async def test_nothing_of_it_is_read_for_a_question_that_does_not_ask(
    backend: Neo4jBackend, project: str
) -> None:
    await ingested(backend, project)
    for asked in (False, True):
        query = FollowupQuery(project, "which wheel turns?", axis(0), (), located=asked)
        found = ranked(await backend.store().followup(query, Deadline.after(120)))
        assert {bool(one.source_uri) for one in found.chunks} == {asked}
        assert {one.start is not None for one in found.chunks} == {asked}


@pytest.mark.neo4j
@pytest.mark.slow
async def test_without_projects_the_same_properties_are_read(database: Connection) -> None:
    for number, (chunk, document, _) in enumerate(FOREIGN):
        await database.write(
            """CREATE (d:Document) SET d = $document
            CREATE (ch:__Chunk__ {text: $text, embedding: $vector})-[:FROM_DOCUMENT]->(d)
            SET ch += $chunk
            CREATE (:Thing {name: 'mill ' + $text})-[:FROM_CHUNK]->(ch)""",
            {
                "chunk": {"id": f"k{number}", **chunk},
                "document": {"id": f"d{number}", **document},
                "text": f"alpha {number}",
                "vector": list(axis(number)),
            },
        )
    await prepare(database)
    found = await ask_followup(searched(database), PROJECT, "alpha?", axis(0))
    assert {one.id: where(one) for one in found.chunks} == {
        f"k{number}": known for number, (*_, known) in enumerate(FOREIGN)
    }


async def test_what_has_no_document_has_no_address(backend: Backend, project: str) -> None:
    await fill(backend, project, [replace(CHUNKS[0], start=3, end=8)])
    await backend.orphan(project, "k1")
    found = await ask_followup(backend.store(), project, "alpha?", axis(0))
    assert [where(one) for one in found.chunks] == [(None, 3, "")]

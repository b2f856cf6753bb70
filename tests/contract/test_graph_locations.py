"""Where a citation can be looked up: the page, the characters of the document, its address."""

from __future__ import annotations

from typing import Any

import pytest

from drift.core.deadline import Deadline
from drift.graph.writing import documents as neo4j_project
from drift.indexing.documents import SourceDocument
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.sources import Source
from drift.model.graph import Chunk, FollowupQuery
from drift.model.passages import PassagesQuery
from drift.search.ranking import ranked
from tests.contract.graph_backends import (
    Backend,
    Neo4jBackend,
    ask_followup,
    axis,
    chunk,
    context,
    fill,
)

WRITTEN = 1_700_000_000_000
ADDRESS = "https://docs.example.com/mill.md"
TEXT = "# Mill\n\nThe mill grinds corn.\n\n" + "\n\n".join(
    f"## Part {n}\n\nThe wheel number {n} turns.\n{'It turns on. ' * 40}" for n in range(6)
)
Where = tuple[int | str | None, int | None, str]


def where(chunk: Chunk) -> Where:
    """What is known of a chunk."""
    return chunk.page, chunk.start, chunk.source_uri


async def ingested(backend: Backend, project: str, *, force: bool = False, **told: Any) -> None:
    """Have the project hold one document of several chunks, of which this is `told`."""
    document = SourceDocument("docs/mill.md", "Mill", TEXT, "markdown", **told)
    source = Source("/a/folder/of/this/machine", (document,))
    await ingest(source, project, context(backend.writer), force=force)


async def ask(backend: Backend, project: str, *, located: bool = True) -> tuple[Chunk, ...]:
    query = FollowupQuery(project, "which wheel turns?", axis(0), (), located=located)
    found = await backend.store().followup(query, Deadline.after(120))
    return ranked(found, query.question).chunks


@pytest.mark.parametrize("at_once", [2000, 2])
async def test_what_is_ingested_says_which_characters_and_lines_of_the_document_it_is(
    backend: Backend, project: str, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(neo4j_project, "CHUNKS_AT_ONCE", at_once)
    told = {"source_uri": ADDRESS, "has_lines": True, "updated_at": WRITTEN}
    await ingested(backend, project, **told)
    await ingested(backend, project, force=True, **told)  # over the chunks that are there
    shown = await ask(backend, project)
    assert len(shown) > 2
    for one in shown:
        assert (one.page, one.source_uri) == (None, ADDRESS)
        assert one.document_id == "docs/mill.md"
        assert one.start is not None
        assert TEXT[one.start : one.start + len(one.text)] == one.text
        assert one.first_line is not None
        assert "\n".join(TEXT.split("\n")[one.first_line - 1 :]).startswith(one.text)

    query = PassagesQuery(project, tuple(one.id for one in shown), axis(0))
    passages = (await backend.passages().passages(query, Deadline.after(120))).passages
    assert {one.updated_at for one in passages} == {WRITTEN}

    for one in await ask(backend, project, located=False):
        assert (one.source_uri, one.start) == ("", None)


async def test_an_address_that_is_taken_back_is_gone_and_no_path_takes_its_place(
    backend: Backend, project: str
) -> None:
    await ingested(backend, project, source_uri=ADDRESS)
    await ingested(backend, project)
    assert {one.source_uri for one in await ask(backend, project)} == {""}


async def test_a_project_that_was_ingested_before_has_no_offsets_and_lines_until_it_is_forced(
    backend: Backend, project: str
) -> None:
    await ingested(backend, project)
    await backend.connection.write(
        "MATCH (ch:__Chunk__ {project_id: $p}) REMOVE ch.start, ch.end", {"p": project}
    )
    await ingested(backend, project)
    assert {where(one) for one in await ask(backend, project)} == {(None, None, "")}
    await ingested(backend, project, has_lines=True)
    assert {one.first_line for one in await ask(backend, project)} == {None}
    await ingested(backend, project, has_lines=True, force=True)
    assert all(one.start is not None and one.first_line for one in await ask(backend, project))


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


async def test_what_other_pipelines_leave_is_read_and_wrong_types_are_missing(
    backend: Neo4jBackend, project: str
) -> None:
    places = range(len(FOREIGN))
    await fill(backend, project, [chunk(f"k{n}", "alpha", axis(n), f"d{n}") for n in places])
    rows = [
        {"id": f"d{n}", "chunk": of_chunk, "document": of_document}
        for n, (of_chunk, of_document, _) in enumerate(FOREIGN)
    ]
    await backend.connection.write(
        """UNWIND $rows AS row
        MATCH (d:__Document__ {project_id: $p, id: row.id})-[:HAS_CHUNK]->(ch)
        REMOVE d.source SET d += row.document, ch += row.chunk""",
        {"p": project, "rows": rows},
    )
    expected = {f"k{n}": known for n, (*_, known) in enumerate(FOREIGN)}
    found = await ask_followup(backend.store(), project, "alpha?", axis(0))
    assert {one.id: where(one) for one in found.chunks} == expected

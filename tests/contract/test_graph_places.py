"""Where a chunk stands: its document, the headings above it, and its place among the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from drift.graph.writing.records import ChunkRecord
from drift.model.graph import Chunk
from tests.contract.graph_backends import (
    INDEXED,
    Backend,
    ask_followup,
    axis,
    chunk,
    fill,
)


def placed(number: int, document: str, ordinal: int, heading: str = "") -> ChunkRecord:
    """A chunk at a place of its document."""
    record = chunk(f"k{number}", f"text {number}", axis(number), document)
    return replace(record, ordinal=ordinal, heading=heading)


BOOKS = [
    placed(1, "d1", 0, "Guide"),
    placed(2, "d1", 1, "Guide > The ferry"),
    placed(3, "d1", 2, "Guide > The mill"),
    placed(4, "d2", 0),
]


def places(chunks: Iterable[Chunk]) -> dict[str, tuple[str, str, int | None, int | None]]:
    """Where each chunk stands."""
    return {c.id: (c.document_name, c.heading, c.place, c.places) for c in chunks}


EXPECTED = {
    "k1": ("Title of d1", "Guide", 1, 3),
    "k2": ("Title of d1", "Guide > The ferry", 2, 3),
    "k3": ("Title of d1", "Guide > The mill", 3, 3),
    "k4": ("Title of d2", "", 1, 1),
}


async def test_every_chunk_says_where_it_stands_in_its_document(
    backend: Backend, project: str
) -> None:
    await fill(backend, project, BOOKS)
    for store in (backend.store(), backend.store(exact_limit=INDEXED)):
        found = await ask_followup(store, project, "text", axis(1))
        assert places(found.chunks) == EXPECTED


async def test_a_chunk_of_two_documents_stands_in_the_one_that_names_it(
    backend: Backend, project: str
) -> None:
    await fill(backend, project, [*BOOKS, placed(4, "d0", 0)], titles={"d0": "Zoo", "d2": "Ark"})
    found = await ask_followup(backend.store(), project, "text", axis(1))
    assert places(found.chunks)["k4"] == ("Ark", "", 1, 1)


async def test_a_chunk_without_a_document_has_no_place_and_no_address(
    backend: Backend, project: str
) -> None:
    await fill(backend, project, [*BOOKS[:3], replace(BOOKS[3], start=3, end=8)])
    await backend.orphan(project, "k4")
    found = (await ask_followup(backend.store(), project, "text", axis(1))).chunks
    assert places(found)["k4"] == ("unknown", "", None, None)
    (loose,) = (one for one in found if one.id == "k4")
    assert (loose.page, loose.start, loose.source_uri) == (None, 3, "")

"""A follow-up that asks about a place gets the chunks that stand there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from drift.core.deadline import Deadline
from drift.local.ingest.graph_records import ChunkRecord
from drift.model.graph import Beside, Candidates, FollowupQuery
from drift.search.ranking import ranked
from tests.contract.damage import alter
from tests.contract.graph_backends import Backend, axis, chunk, community, fill, twin

pytestmark = pytest.mark.timeout(600)

STORY = [
    "Contents\nChapter 1\nChapter 2\nChapter 3",
    "Chapter 1\n\nA kite rises over the harbour.",
    "The kite is lost.\n\nCHAPTER TWO\n\nA goose sits on the mill.",
    "The goose flies up.",
    "It lands.\n\n## Chapter III\n\nThe miller counts his flour.",
    "As chapter 2 said, the goose is gone.",
    "All are home.\n\n*** END OF THE EDITION ***",
    "Terms of the licence.",
]
OTHER = ["Rivers of the north.", "Rivers of the south."]


def written(texts: Sequence[str], document: str) -> list[ChunkRecord]:
    """The texts as the chunks of a document, each with a vector of its own."""
    start = 0 if document == "d1" else 100
    return [
        replace(chunk(f"{document}-{n}", text, axis(start + n), document), ordinal=n)
        for n, text in enumerate(texts)
    ]


BOOKS = [*written(STORY, "d1"), *written(OTHER, "d2")]


async def found(  # noqa: PLR0917 - a project, what is asked of it, and how
    backend: Backend,
    project: str,
    question: str,
    near: int = 3,
    beside: tuple[Beside, ...] = (),
    communities: tuple[int, ...] = (),
    scope: str = "soft",
) -> Candidates:
    """What the graph returns for a question whose vector is that of a chunk of the story."""
    query = FollowupQuery(project, question, axis(near), communities, beside)
    store = backend.store("hard" if scope == "hard" else "soft")
    return await store.followup(query, Deadline.after(60))


def ids(candidates: Candidates) -> set[str]:
    """The ids of the placed chunks."""
    return {row.chunk.id for row in candidates.placed}


async def test_a_question_about_no_place_gets_none(backend: Backend, project: str) -> None:
    await fill(backend, project, BOOKS)
    assert (await found(backend, project, "Who lost the kite?")).placed == ()


async def test_the_beginning_is_that_of_the_likeliest_document(
    backend: Backend, project: str
) -> None:
    await fill(backend, project, BOOKS)
    got = await found(backend, project, "How does the goose story begin?")
    assert {"d1-0", "d1-1"} <= ids(got) <= {"d1-0", "d1-1", "d2-0", "d2-1"}


async def test_the_end_is_before_the_licence(backend: Backend, project: str) -> None:
    await fill(backend, project, BOOKS)
    got = await found(backend, project, "How does the goose story end?")
    ends = [row for row in got.placed if row.chunk.document_name == "Title of d1"]
    assert {(row.chunk.id, row.why, row.step) for row in ends} == {
        ("d1-6", "end", 0),
        ("d1-5", "end", -1),
    }


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What happens in chapter 1?", {"d1-1", "d1-2"}),
        ("What is told in the second chapter?", {"d1-2", "d1-3"}),
        ("What happens in Chapter three?", {"d1-4", "d1-5"}),
        ("How does chapter 2 end?", {"d1-4", "d1-3"}),
        ("Was steht in Kapitel 2?", {"d1-2", "d1-3"}),
        ("What happens in chapter 12?", set()),
    ],
)
async def test_a_numbered_part_is_its_heading_and_what_follows(
    backend: Backend, project: str, question: str, expected: set[str]
) -> None:
    await fill(backend, project, BOOKS)
    assert ids(await found(backend, project, question)) == expected


async def test_a_numbered_part_is_found_by_a_stored_heading(backend: Backend, project: str) -> None:
    headed = [replace(c, heading="Guide > Chapter 7: Flour") for c in BOOKS[3:4]]
    await fill(backend, project, [*BOOKS[:3], *headed, *BOOKS[4:]])
    assert "d1-3" in ids(await found(backend, project, "What is in chapter seven?"))


async def test_before_and_after_are_told_from_the_likeliest_chunks(
    backend: Backend, project: str
) -> None:
    await fill(backend, project, BOOKS)
    after = await found(backend, project, "What happens right after the goose flies up?")
    before = await found(backend, project, "What happened just before the goose flies up?")
    assert ("d1-3", 1) in {(r.anchor, r.step) for r in after.placed if r.chunk.id == "d1-4"}
    assert ("d1-3", -1) in {(r.anchor, r.step) for r in before.placed if r.chunk.id == "d1-2"}
    assert [c.id for c in ranked(after).chunks][:2] == ["d1-3", "d1-4"]
    assert [c.id for c in ranked(before).chunks][:2] == ["d1-3", "d1-2"]


async def test_what_stands_beside_a_chunk_can_be_asked_for(backend: Backend, project: str) -> None:
    await fill(backend, project, BOOKS)
    wishes = (Beside("d1-5", "after"), Beside("d1-1", "before"), Beside("d2-0", "after"))
    got = await found(backend, project, "Who lost the kite?", beside=wishes)
    assert {(r.chunk.id, r.why, r.anchor, r.step) for r in got.placed} == {
        ("d1-6", "beside", "d1-5", 1),
        ("d1-7", "beside", "d1-5", 2),
        ("d1-0", "beside", "d1-1", -1),
        ("d2-1", "beside", "d2-0", 1),
    }
    placed = next(row.chunk for row in got.placed if row.chunk.id == "d1-6")
    assert (placed.text, placed.place, placed.places) == (STORY[6], 7, 8)


async def test_what_is_unknown_of_another_project_or_without_a_place_brings_nothing(
    backend: Backend, project: str
) -> None:
    await fill(backend, project, BOOKS)
    await alter(backend, project, "__Chunk__", "d1-2", ordinal=None)
    await backend.orphan(project, "d1-4")
    other = [replace(c, id=f"{c.id}-b") for c in BOOKS]
    await fill(backend, twin(project), other)
    names = ("nobody", "", "7", "'\"\\", "\ud800", "d1-1-b", "d1-2", "d1-4")
    wishes = tuple(Beside(name, "after") for name in names[:8])
    for start in (0, 4):
        got = await found(backend, project, "Who?", beside=wishes[start : start + 4])
        assert got.placed == ()


async def test_a_hard_scope_holds_for_places_too(backend: Backend, project: str) -> None:
    tree = [community(1, 0, None, axis(0), ["d1-3", "d1-4"])]
    await fill(backend, project, BOOKS, communities=tree)
    got = await found(
        backend,
        project,
        "What happens in chapter three?",
        beside=(Beside("d1-3", "before"),),
        communities=(1,),
        scope="hard",
    )
    assert ids(got) == {"d1-4"}

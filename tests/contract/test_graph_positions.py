"""A follow-up that wishes for a position gets the chunks that stand there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from drift.core.deadline import Deadline
from drift.graph.writing.records import ChunkRecord
from drift.model.graph import Beside, Candidates, FollowupQuery, Position
from drift.search.ranking import ranked
from tests.contract.damage import alter
from tests.contract.graph_backends import Backend, axis, chunk, community, fill, ids, twin, vector

STORY = [
    "A kite rises over the harbour.",
    "The kite is lost.",
    "A goose sits on the mill.",
    "The goose flies up.",
    "The miller counts his flour.",
    "The goose is gone.",
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


async def found(
    backend: Backend,
    project: str,
    *beside: Beside,
    position: Position | None = None,
    communities: tuple[int, ...] = (),
    hard: bool = False,
) -> Candidates:
    """What the graph returns for a question near the goose that flies up."""
    query = FollowupQuery(
        project, "Who lost the kite?", axis(3), communities, beside, position=position
    )
    return await backend.store("hard" if hard else "soft").followup(query, Deadline.after(60))


WISHES = [
    (None, []),
    (Position("beginning"), ["d1-0", "d1-1"]),
    (Position("end", "Das Buch von niemandem"), ["d1-6", "d1-5"]),  # before the licence
    (Position("end", "Title of d2"), ["d2-1", "d2-0"]),
    (Position("beginning", "title of D2.txt"), ["d2-0", "d2-1"]),
]


async def test_the_beginning_or_end_of_the_document_that_is_named_or_of_the_best(
    backend: Backend, project: str
) -> None:
    await fill(backend, project, BOOKS)
    for position, expected in WISHES:
        assert ids((await found(backend, project, position=position)).pinned) == expected


async def test_before_and_after_are_told_from_the_best_chunks_or_from_one_that_is_named(
    backend: Backend, project: str
) -> None:
    await fill(backend, project, BOOKS)
    after = await found(backend, project, position=Position("after"))
    before = await found(backend, project, position=Position("before"))
    assert ids(after.pinned)[:2] == ["d1-2", "d1-3"]
    assert ids(before.pinned)[:1] == ["d1-0"]
    assert ids(ranked(after, "").chunks)[:2] == ["d1-1", "d1-2"]

    wishes = (Beside("d1-5", "after"), Beside("d1-1", "before"), Beside("d2-0", "after"))
    pinned = (await found(backend, project, *wishes)).pinned
    assert ids(pinned) == ["d1-6", "d1-7", "d1-0", "d2-1"]
    first = next(chunk for chunk in pinned if chunk.id == "d1-6")
    assert (first.text, first.place, first.places) == (STORY[6], 7, 8)


async def test_what_is_unknown_of_another_project_or_without_a_place_brings_nothing(
    backend: Backend, project: str
) -> None:
    await fill(backend, project, BOOKS)
    await alter(backend, project, "__Chunk__", "d1-2", ordinal=None)
    await backend.orphan(project, "d1-4")
    await fill(backend, twin(project), [replace(c, id=f"{c.id}-b") for c in BOOKS])

    names = ("nobody", "", "7", "'\"\\", "\ud800", "d1-1-b", "d1-2", "d1-4")
    assert (await found(backend, project, *(Beside(name, "after") for name in names))).pinned == ()


async def test_a_hard_scope_holds_for_positions_too(backend: Backend, project: str) -> None:
    tree = [community(1, 0, None, axis(0), ["d1-3", "d1-4"])]
    await fill(backend, project, BOOKS, communities=tree)
    wishes = (Beside("d1-3", "before"), Beside("d1-3", "after"))
    got = await found(
        backend, project, *wishes, position=Position("end"), communities=(1,), hard=True
    )
    assert ids(got.pinned) == ["d1-4"]


async def test_a_short_chunk_comes_with_the_one_behind_it(backend: Backend, project: str) -> None:
    long = written(["A mill.", "A word of it. " * 40, "The end."], "d3")
    await fill(backend, project, [*BOOKS, *long], communities=[community(1, 0, None, (), ["d3-0"])])
    behind = {
        c.chunk.id: c.following and (c.following.id, c.following.document_name)
        for c in (await found(backend, project)).chunks
        if c.chunk.id in {"d1-3", "d1-7", "d3-1"}
    }
    assert behind["d1-3"] == ("d1-4", "Title of d1")
    assert [behind[id_] for id_ in behind if id_ != "d1-3"] == [None] * (len(behind) - 1)

    [alone] = (await found(backend, project, communities=(1,), hard=True)).chunks
    assert (alone.chunk.id, alone.following) == ("d3-0", None)


async def test_a_document_that_the_question_names_is_searched_whole(
    backend: Backend, project: str
) -> None:
    rain = [f"It rains for the {n}. day." for n in range(70)]
    near = [replace(c, embedding=vector(1, n / 100)) for n, c in enumerate(written(rain, "d1"))]
    far = [replace(c, embedding=vector(1, 5 + n)) for n, c in enumerate(written(OTHER, "d2"))]
    titles = {"d1": "Rain", "d2": "The Waters.md"}
    for of, amount in (("the hills", 0), ("The Waters", 2)):
        await fill(backend, project, [*near, *far], titles=titles)
        query = FollowupQuery(project, f"What is said of south in {of}?", axis(0), ())
        chunks = (await backend.store().followup(query, Deadline.after(60))).chunks
        of_far = {c.chunk.id: c.in_scope for c in chunks if c.chunk.id.startswith("d2")}
        assert len(of_far) == (amount or 1)
        assert all(of_far.values()) == bool(amount)

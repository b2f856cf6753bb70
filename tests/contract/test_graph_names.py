"""Names as people write them: a part of a title leads to its entity where it means one alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.contract.graph_backends import Backend, ask_followup, axis, chunk, entity, fill, ids
from tests.contract.test_graph_walk import NEAR

pytestmark = pytest.mark.timeout(600)

HIDDEN = [chunk(name, "text", axis(7 + place)) for place, name in enumerate(("meant", "other"))]


async def found(backend: Backend, project: str, question: str, *titles: str) -> set[str]:
    """What is found where the first title is mentioned in `meant` and the others in `other`."""
    places = ["meant", *("other" for _ in titles[1:])]
    entities = [
        entity(f"e{number}", title, place)
        for number, (title, place) in enumerate(zip(titles, places, strict=True))
    ]
    await fill(backend, project, [*NEAR, *HIDDEN], entities)
    evidence = await ask_followup(backend.store(), project, question, axis(0))
    return {"meant", "other"} & set(ids(evidence.chunks))


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("what did Acme ship?", "ACME CORPORATION"),
        ("who met O'Brien there?", "Ada O'Brien"),
        ("who leads the Military Squad?", "PARANORMAL MILITARY SQUAD"),
        ("who met General Mercer?", "Alex Mercer"),
    ],
)
async def test_a_part_of_a_title_leads_to_its_entity(
    backend: Backend, project: str, question: str, title: str
) -> None:
    assert await found(backend, project, question, title) == {"meant"}


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("where was Mercer born?", ("Alex Mercer", "Ada Mercer")),
        ("what did the ship carry?", ("Ship of Fools",)),
        ("Describe it.", ("Describe Ulm",)),
        ("where is Ulm?", ("The old mill on the way from Ulm to Linz",)),
    ],
)
async def test_an_unclear_a_common_and_a_small_part_lead_nowhere(
    backend: Backend, project: str, question: str, titles: tuple[str, ...]
) -> None:
    assert await found(backend, project, question, *titles) == set()


async def test_a_whole_title_wins_over_a_part_of_another(backend: Backend, project: str) -> None:
    assert await found(backend, project, "where is Mercer?", "Mercer", "Alex Mercer") == {"meant"}


async def test_a_title_that_others_repeat_is_clear(backend: Backend, project: str) -> None:
    titles = ("Alex Mercer", "Dr. Alex Mercer")
    assert await found(backend, project, "where is Mercer?", *titles) == {"meant"}


async def test_a_part_does_not_lead_to_another_project(backend: Backend, project: str) -> None:
    other = f"{project}-b"
    await fill(
        backend, other, [chunk("theirs", "text", axis(7))], [entity("e", "Ada Mercer", "theirs")]
    )
    assert await found(backend, project, "where is Mercer?", "Alex Mercer") == {"meant"}


async def test_a_chunk_is_found_by_the_words_of_its_documents_name(
    backend: Backend, project: str
) -> None:
    far = [
        replace(chunk("k1", "You may copy.", (), "licences/Artistic.txt"), heading="Artistic.txt"),
        replace(chunk("k2", "You may sell.", (), "installGuide.md"), heading="Selling"),
    ]
    near = [chunk("k3", "gamma", axis(2), "d3")]
    titles = {"licences/Artistic.txt": "Artistic.txt", "installGuide.md": "Selling"}
    await fill(backend, project, [*far, *near], titles=titles)
    for question, found in (
        ("What is allowed under the Artistic License?", "k1"),
        ("What does the install guide say?", "k2"),
    ):
        evidence = await ask_followup(backend.store(), project, question, axis(5))
        assert found in ids(evidence.chunks)

"""What the walk from the named entities promises, on every graph.

How far it goes, what it leaves out, what it weighs.
"""

from __future__ import annotations

import random

import pytest

from drift.core.deadline import Deadline
from drift.graph.writing.records import ChunkRecord, EntityRecord, RelationRecord
from drift.model.graph import FollowupQuery
from tests.contract.graph_backends import (
    Backend,
    ask_followup,
    axis,
    chunk,
    entity,
    fill,
    ids,
    on_real_servers,
    vector,
)

NEAR = [chunk(f"k{i:03}", f"filler {i}", vector(1, i / 10)) for i in range(70)]
"""Enough to fill the pool by vector alone."""


async def test_the_walk_goes_on_from_a_chunk_to_what_it_mentions_and_no_further(
    backend: Backend, project: str
) -> None:
    names = ("first", "second", "third", "other")
    beyond = [chunk(name, f"text {name}", axis(7 + at)) for at, name in enumerate(names)]
    entities = [
        entity("e1", "Old Mill", "first"),
        entity("e2", "Ada", "first", "second"),
        entity("e3", "Ulm", "second", "third"),
        entity("e4", "Mill", "other"),
    ]
    await fill(backend, project, [*NEAR, *beyond], entities)
    store = backend.store()
    question = "where was the owner of the old mill born?"
    found = ids((await ask_followup(store, project, question, axis(0))).chunks)
    assert {"first", "second"} <= set(found)
    assert "third" not in found, "it is five steps away"
    assert "other" not in found, "a name inside a longer name starts no walk"
    found = ids((await ask_followup(store, project, "who owns the mill?", axis(0))).chunks)
    assert "other" in found


@on_real_servers
@pytest.mark.parametrize(("mentions", "is_found"), [(14, True), (15, False)])
async def test_a_walk_leads_over_what_a_fifth_of_the_chunks_mention_and_not_over_more(
    backend: Backend, project: str, mentions: int, *, is_found: bool
) -> None:
    beyond = [chunk("named", "text", axis(7)), chunk("related", "text", axis(8))]
    subject = entity("e1", "Old Mill", "named", *ids(NEAR[: mentions - 1]))
    entities = [subject, entity("e2", "Ada", "related"), entity("e3", "Owl", "k069")]
    relations = [RelationRecord("e3", "e1", "lives in", 1.0), RelationRecord("e1", "e2", "of", 1.0)]
    await fill(backend, project, [*NEAR, *beyond], entities, relations)
    for question in ("what is the old mill?", "where is the owl?"):
        query = FollowupQuery(project, question, axis(0), ())
        found = await backend.store().followup(query, Deadline.after(120))
        led_to = {"named", "related"} & {one.chunk.id for one in found.chunks}
        assert led_to == ({"named", "related"} if is_found else set())


async def test_a_chunk_about_what_the_best_mention_comes_before_one_that_only_mentions_it(
    backend: Backend, project: str
) -> None:
    chunks = [
        chunk("best", "text", axis(0)),
        chunk("about", "text", axis(1)),
        chunk("aside", "text", axis(1)),
    ]
    far = [chunk(f"far{i}", "text", vector(-1, i / 10)) for i in range(5)]
    entities = [
        entity("e1", "Ada", "best", "about", "aside"),
        entity("e2", "Ulm", "about"),
        entity("e3", "Rain", "aside"),
    ]
    await fill(
        backend, project, [*chunks, *far], entities, [RelationRecord("e1", "e2", "born in", 1.0)]
    )
    found = await ask_followup(backend.store(), project, "what of Ada?", axis(0))
    assert ids(found.chunks)[:3] == ["best", "about", "aside"]
    scores = {c.id: c.score for c in found.chunks}
    assert scores["about"] > scores["aside"] > max(scores[f"far{i}"] for i in range(5))


def random_graph() -> tuple[list[ChunkRecord], list[EntityRecord], list[RelationRecord]]:
    """Chunks whose texts have no word of any question.

    Mentions and relations are random, some of an entity to itself, and one is nearly everywhere.
    """
    chance = random.Random(0)  # noqa: S311 - test data
    chunks = [
        chunk(f"k{i:02}", f"text {i}", vector(*(chance.random() for _ in range(4))))
        for i in range(24)
    ]
    names = ["zeta", "eta", "zeta eta", *(f"name{i}" for i in range(12))]
    entities = [
        entity(
            f"e{i:02}", name, *(c.id for c in chance.sample(chunks, chance.choice((1, 2, 3, 20))))
        )
        for i, name in enumerate(names)
    ]
    pairs = {tuple(chance.sample([e.id for e in entities], 2)) for _ in range(20)}
    pairs |= {("e00", "e00"), ("e02", "e02"), ("e05", "e05")}
    return (
        chunks,
        entities,
        [RelationRecord(a, b, f"{a} {b}", float(len(a + b))) for a, b in sorted(pairs)],
    )


WALKED = {
    "zeta": {"k00": 1.32099, "k19": 1.14205, "k20": 1.13216, "k06": 1.01417, "k10": 0.89837},
    "zeta eta": {"k00": 1.41175, "k07": 1.19602, "k06": 1.18852, "k22": 1.02575, "k20": 0.50827},
    "eta name3": {"k22": 1.3483, "k07": 1.20028, "k15": 1.1853, "k00": 1.0796, "k06": 0.98737},
    "nothing": {"k17": 0.5, "k00": 0.37191, "k20": 0.33742, "k18": 0.32714, "k22": 0.31566},
}
"""The scores of the best chunks of the random graph, by question; a second search that was written
in Python gave the same."""


async def test_a_walk_of_three_steps_gives_the_scores_that_were_recorded(
    backend: Backend, project: str
) -> None:
    await fill(backend, project, *random_graph())
    for question, expected in WALKED.items():
        found = (await ask_followup(backend.store(), project, question, axis(0))).chunks
        assert {c.id: c.score for c in found[:5]} == pytest.approx(expected, abs=1e-4), question

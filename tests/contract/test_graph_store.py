"""What every GraphStore promises.

Held by the fake, a Neo4j of the calendar versions and a Neo4j 5 LTS alike.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from drift.core.deadline import Deadline
from drift.core.errors import DeadlineError
from drift.model.graph import PrimerQuery
from tests.contract.graph_backends import (
    CHUNKS,
    DIMENSIONS,
    Backend,
    ask_followup,
    ask_primer,
    axis,
    chunk,
    community,
    fill,
    ids,
    on_real_servers,
    vector,
)

pytestmark = on_real_servers


# ------------------------------------------------------------------------------------------- primer
def three_levels(*, root_is_zero: bool) -> list:
    """A root over two inner communities, one of them over a leaf."""
    level = (lambda height: 2 - height) if root_is_zero else (lambda height: height)
    return [
        community(10, level(2), None, vector(0.5, 1)),
        community(20, level(1), 10, vector(1, 0.1)),
        community(21, level(1), 10, axis(5), ["k3"]),
        community(30, level(0), 20, axis(0), ["k1", "k2"]),
    ]


@pytest.mark.parametrize("root_is_zero", [True, False])
async def test_the_highest_levels_come_first_whichever_way_levels_count(
    backend: Backend, project: str, root_is_zero: bool
) -> None:
    await fill(backend, project, CHUNKS, communities=three_levels(root_is_zero=root_is_zero))
    one = await ask_primer(backend.store(), project, axis(0), top_k=1)
    assert ids(one) == [10]
    three = await ask_primer(backend.store(), project, axis(0), top_k=3)
    assert ids(three) == [10, 20, 21], (
        "the leaf is the closest, but two higher ones are half of three"
    )
    more = await ask_primer(backend.store(), project, axis(0), top_k=8)
    assert ids(more) == [10, 20, 21, 30], "the higher ones are less than half"


async def test_a_community_without_a_parent_is_at_the_top_of_a_ragged_tree(
    backend: Backend, project: str
) -> None:
    tree = [
        community(1, 2, None, axis(3)),
        community(2, 1, 1, axis(0), ["k1"]),
        community(3, 0, 2, axis(0), ["k1"]),
        community(4, 0, None, axis(1), []),
    ]
    await fill(backend, project, CHUNKS, communities=tree)
    found = await ask_primer(backend.store(), project, axis(1), 4, ["k1", "k2"])
    assert [(c.id, c.members) for c in found] == [(4, set()), (1, {"k1"})]
    assert [c.title for c in found] == [tree[3].title, tree[0].title]


@pytest.mark.parametrize("embedded", [True, False])
async def test_without_embedded_communities_the_primer_finds_none(
    backend: Backend, project: str, embedded: bool
) -> None:
    communities = [] if embedded else [community(1, 0, None, (), ["k1"])]
    await fill(backend, project, CHUNKS, communities=communities)
    assert await ask_primer(backend.store(), project, axis(1), voters=["k1"]) == ()


async def test_an_unknown_project_is_empty_not_an_error(backend: Backend, project: str) -> None:
    assert await ask_primer(backend.store(), project, axis(0)) == ()
    found = await ask_followup(backend.store(), project, "what is alpha?", axis(0), (1,))
    assert not found.chunks


# ---------------------------------------------------------------------------------------- follow-up
async def test_nested_communities_chosen_together_count_each_chunk_once(
    backend: Backend, project: str
) -> None:
    chunks = [chunk(f"k{i:02}", f"text {i}", vector(1, i / 10)) for i in range(44)]
    tree = [
        community(1, 2, None, axis(0)),
        community(2, 1, 1, axis(0), ["k00", "k01"]),
        community(3, 0, 2, axis(0), [c.id for c in chunks[2:40]]),
        community(4, 0, None, axis(0), [c.id for c in chunks[40:]]),
    ]
    await fill(backend, project, chunks, communities=tree)
    # A chunk counted once for each of the three would leave room for a third of the best only.
    for scope in ("hard", "soft"):
        found = await ask_followup(backend.store(scope), project, "what?", axis(0), (1, 2, 3))
        assert ids(found.chunks) == [c.id for c in chunks[:30]]
    inner = await ask_followup(backend.store("hard"), project, "what?", axis(0), (2, 3, 4))
    assert len(inner.chunks) == 30


async def test_soft_scope_prefers_its_chunks_and_hard_scope_has_no_others(
    backend: Backend, project: str
) -> None:
    chunks = [
        chunk("k1", "same", axis(0)),
        chunk("k2", "same", axis(0)),
        chunk("k3", "far", axis(1)),
    ]
    tree = [community(1, 0, None, axis(0), ["k2"]), community(2, 0, None, axis(0), ["k1", "k3"])]
    await fill(backend, project, chunks, communities=tree)
    soft = await ask_followup(backend.store(), project, "what?", axis(0), (1,))
    assert ids(soft.chunks) == ["k2", "k1", "k3"]
    hard = await ask_followup(backend.store("hard"), project, "same far", axis(0), (1,))
    assert ids(hard.chunks) == ["k2"]
    everywhere = await ask_followup(backend.store("hard"), project, "what?", axis(0))
    assert len(everywhere.chunks) == 3


async def test_words_find_what_the_vector_does_not_by_the_text_and_by_its_headings(
    backend: Backend, project: str
) -> None:
    near = [chunk(f"k{i:03}", f"filler {i}", vector(1, i / 10)) for i in range(70)]
    under = replace(chunk("under", "it blows", axis(8)), heading="Winds > The Mistral")
    await fill(backend, project, [*near, chunk("word", "the zephyr blows", axis(7)), under])
    questions = {
        "What about the Zephyr?": {"word"},
        "What about the Mistral?": {"under"},
        "What about it?": set(),
    }
    for store in (backend.store(), backend.store(exact_limit=0)):
        for question, expected in questions.items():
            found = await ask_followup(store, project, question, axis(0))
            assert {"word", "under"} & set(ids(found.chunks)) == expected
            assert all(one.via == ("text",) for one in found.chunks if one.id in expected)
            assert all("vector" in one.via for one in found.chunks if one.id in {"k000", "k001"})


# --------------------------------------------------------------------------------- time and indexes
async def test_a_used_up_deadline_is_a_deadline_error(backend: Backend, project: str) -> None:
    with pytest.raises(DeadlineError):
        await backend.store().primer(PrimerQuery(project, (), axis(0), 3), Deadline.after(0))


async def test_health_lists_the_indexes_with_their_dimensions(backend: Backend) -> None:
    health = await backend.store().health()
    assert health.server
    assert {(i.name, i.kind, i.online, i.dimensions) for i in health.indexes} == {
        ("graphrag_comm_index", "vector", True, DIMENSIONS),
        ("graphrag_chunk_index", "vector", True, DIMENSIONS),
        ("graphrag_chunk_fulltext", "fulltext", True, None),
    }
    assert health.missing == ()

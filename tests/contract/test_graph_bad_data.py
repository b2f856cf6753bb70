"""What a search makes of odd data.

A right answer from what can be used, or an error that says what to do.
"""

from __future__ import annotations

import math
from itertools import permutations

import pytest

from drift.core.errors import GraphMisconfiguredError
from drift.graph.writing.records import KnowledgeBatch, RelationRecord
from drift.model.graph import CommunityId, Vector
from tests.contract.damage import alter, bare_relations, nest
from tests.contract.graph_backends import (
    CHUNKS,
    DIMENSIONS,
    INDEXED,
    Backend,
    ask_followup,
    ask_primer,
    axis,
    chunk,
    community,
    documents,
    entity,
    fill,
    ids,
    vector,
)

# ------------------------------------------------------------------------------------------- chunks
UNUSABLE = {
    "of another length": (1.0, 2.0),
    "with NaN in it": vector(1, math.nan),
}


@pytest.mark.parametrize("embedding", UNUSABLE.values(), ids=UNUSABLE)
async def test_a_node_with_an_unusable_vector_takes_nothing_from_the_others(
    backend: Backend, project: str, embedding: Vector | None
) -> None:
    tree = [
        community(1, 0, None, axis(0), ["k1", "k2", "k3"]),
        community(2, 0, None, axis(1), ["k2"]),
    ]
    await fill(backend, project, CHUNKS, [entity("e1", "Mill", "k1", "k2")], (), tree)
    for label, key in (("__Chunk__", "k2"), ("__Community__", 2), ("__Entity__", "e1")):
        await alter(backend, project, label, key, embedding=embedding)
    for store in (backend.store(), backend.store(exact_limit=INDEXED)):
        primed = await ask_primer(store, project, vector(0.1, 1, 0.2))
        assert ids(primed) == [1]
        for question, expected in (
            ("?", {"k1", "k3"}),
            ("beta", {"k1", "k2", "k3"}),
            ("the mill", {"k1", "k2", "k3"}),
        ):
            assert (
                set(ids((await ask_followup(store, project, question, axis(0))).chunks)) == expected
            )
    hard = await ask_followup(backend.store("hard"), project, "?", axis(0), (1,))
    assert set(ids(hard.chunks)) == {"k1", "k3"}


async def test_a_project_without_embeddings_is_said_so_at_once_and_searched_by_words_and_names(
    backend: Backend, project: str
) -> None:
    bare = [chunk("k1", "alpha", ()), chunk("k2", "beta", ()), chunk("k3", "gamma", ())]
    await fill(
        backend,
        project,
        bare,
        [entity("e1", "Mill", "k3")],
        (),
        [community(1, 0, None, (), ["k1"])],
    )
    for store in (backend.store(), backend.store(exact_limit=INDEXED)):
        found = await ask_followup(store, project, "alpha of the mill", axis(0))
        assert set(ids(found.chunks)) == {"k1", "k3"}
        assert not (await ask_followup(store, project, "?", axis(0))).chunks
        says = rf"no search can use one: .*`embedding` of {DIMENSIONS} floats.* drift prepare"
        with pytest.raises(GraphMisconfiguredError, match=says):
            await ask_primer(store, project, axis(0))


async def test_what_has_no_document_no_title_or_no_community_is_found_all_the_same(
    backend: Backend, project: str
) -> None:
    chunks = [chunk(f"k{i}", "text", axis(i), f"d{i}") for i in range(4)]
    await fill(backend, project, [*chunks, chunk("k0", "text", axis(0), "d1")], communities=[
        community(1, 0, None, axis(0), ["k1"])])  # fmt: skip
    await backend.orphan(project, "k3")
    await alter(backend, project, "__Document__", "d1", title=None)
    await alter(backend, project, "__Document__", "d2", title=" \n")
    found = await ask_followup(backend.store(), project, "?", axis(0), (1,))
    names = {c.id: c.document_name for c in found.chunks}
    assert names == {"k0": "Title of d0", "k1": "d1", "k2": "d2", "k3": "unknown"}
    assert ids((await ask_followup(backend.store("hard"), project, "?", axis(0), (1,))).chunks) == [
        "k1"
    ]


# ------------------------------------------------------------------------------ entities, relations
async def test_bare_entities_and_relations_are_walked_and_named_by_their_ids(
    backend: Backend, project: str
) -> None:
    near = [chunk(f"f{i:02}", "filler", vector(1, i / 10)) for i in range(70)]
    hidden = [chunk("named", "text", axis(7)), chunk("beyond", "text", axis(8))]
    entities = [entity("e1", "Old Mill", "named", "f00"), entity("e2", "Untitled", "beyond")]
    relations = [
        RelationRecord("e1", "e2", "feeds", 2.0),
        RelationRecord("e1", "e1", "resembles", 1.0),
        RelationRecord("e2", "e2", "resembles", 1.0),
    ]
    await fill(backend, project, [*near, *hidden], entities, relations)
    await alter(backend, project, "__Entity__", "e2", title=None, description=None)
    found = await ask_followup(backend.store(), project, "who owns the old mill?", axis(0))
    assert {(r.source, r.target, r.description) for r in found.relationships} == {
        ("Old Mill", "e2", "feeds"),
        ("Old Mill", "Old Mill", "resembles"),
        ("e2", "e2", "resembles"),
    }
    await bare_relations(backend, project)
    found = await ask_followup(backend.store(), project, "who owns the old mill?", axis(0))
    assert {"named", "beyond"} <= set(ids(found.chunks))
    assert found.relationships == (), "what says nothing is not told"


# -------------------------------------------------------------------------------------- communities
@pytest.mark.parametrize(
    ("levels", "shown"),
    [
        ((2.5, 1.5, 0.5), [(1, 2), (2, 1)]),
        (("2", "1", "0"), [(1, 2), (2, 1)]),
        ((2, None, "leaf"), [(1, 2), (3, None), (2, None)]),
    ],
    ids=["fractions", "numbers in text", "of all kinds"],
)
async def test_whatever_a_level_is_the_root_comes_first_and_holds_what_is_at_every_depth(
    backend: Backend,
    project: str,
    levels: tuple[object, object, object],
    shown: list[tuple[int, int | None]],
) -> None:
    root, middle, leaf = levels
    tree = [
        community(1, root, None, vector(0.5, 1)),
        community(2, middle, 1, axis(1), ["k1"]),
        community(3, leaf, 2, axis(0), ["k2"]),
    ]
    await fill(backend, project, CHUNKS, communities=tree)
    found = await ask_primer(backend.store(), project, axis(0), 3, ["k1", "k2", "k3", "gone"])
    assert found[0].members == {"k1", "k2"}
    assert [(c.id, c.level) for c in found] == shown
    assert all(type(c.level) in {int, type(None)} for c in found)


async def test_community_keys_of_both_types_live_side_by_side(
    backend: Backend, project: str
) -> None:
    keys: tuple[CommunityId, ...] = (7, "7", "north", -3, "0x7", "C1")
    chunks = [chunk(f"k{i}", "text", axis(i)) for i in range(len(keys))]
    tree = [community(key, 0, None, axis(i), [f"k{i}"]) for i, key in enumerate(keys)]
    await fill(backend, project, chunks, communities=tree)
    same = vector(*(1.0 for _ in keys))
    found = await ask_primer(backend.store(), project, same, top_k=9)
    assert ids(found) == ["0x7", "7", "C1", "north", -3, 7]
    for i, key in enumerate(keys):
        assert ids(
            (await ask_followup(backend.store("hard"), project, "?", same, (key,))).chunks
        ) == [f"k{i}"]


CYCLES = {
    "own parent": [(1, 1)],
    "all below each other": list(permutations(range(1, 9), 2)),
}


@pytest.mark.parametrize("edges", CYCLES.values(), ids=CYCLES)
async def test_communities_in_a_cycle_end_and_count_each_chunk_once(
    backend: Backend, project: str, edges: list[tuple[int, int]]
) -> None:
    known = sorted({c for edge in edges for c in edge})
    chunks = [chunk(f"k{i}", "text", vector(1, i / 10)) for i in range(20)]
    tree = [community(c, 0, None, vector(1, c / 10), [f"k{c}", f"k{c + 9}"]) for c in known]
    await fill(backend, project, chunks, communities=tree)
    await nest(backend, project, edges)
    best = [f"k{i}" for i in range(20) if i in known or i - 9 in known]
    for limit in (None, INDEXED):
        store = backend.store(exact_limit=limit)
        primed = await ask_primer(store, project, axis(0), 2, ids(chunks))
        assert ids(primed) == known[:2]
        assert all(c.members == {*best} for c in primed)
        for scope, expected in (("soft", ids(chunks)), ("hard", best)):
            store = backend.store(scope, limit)
            found = await ask_followup(store, project, "text", axis(0), tuple(known[:2]))
            assert set(ids(found.chunks)) == set(expected)


# --------------------------------------------------------------------------------------- many, hubs
ODD_IDS = (
    "it's",
    'say "hi"',
    "back\\slash",
    "new\nline",
    "日本語",
    "ключ",
    "مفتاح",
    "a`b",
    "$x{y}",
    "  ",
    "\u202ertl",
    "🦉",
)


async def test_ids_of_any_letters_come_back_as_they_are(backend: Backend, project: str) -> None:
    tenant = f"{project} \"'\\`\n日本語 ключ"
    chunks = [chunk(f"k {odd}", "text", axis(i), odd) for i, odd in enumerate(ODD_IDS)]
    entities = [entity(f"e {odd}", f"Title {odd}", f"k {odd}") for odd in ODD_IDS]
    relations = [
        RelationRecord(entities[0].id, e.id, odd, 1.0)
        for e, odd in zip(entities, ODD_IDS, strict=True)
    ]
    tree = [community(f"c {odd}", 0, None, axis(i), [f"k {odd}"]) for i, odd in enumerate(ODD_IDS)]
    titles = {odd: f"named {odd}" for odd in ODD_IDS}
    await fill(backend, tenant, chunks, entities, relations, tree, titles)
    primed = await ask_primer(backend.store(), tenant, axis(0), len(ODD_IDS), ids(chunks))
    assert {(c.id, *c.members) for c in primed} == {(f"c {odd}", f"k {odd}") for odd in ODD_IDS}
    for i, odd in enumerate(ODD_IDS):
        scope: tuple[CommunityId, ...] = (f"c {odd}",)
        found = await ask_followup(
            backend.store("hard"), tenant, f"what of title {odd}?", axis(i), scope
        )
        assert [(c.id, c.document_name) for c in found.chunks] == [(f"k {odd}", f"named {odd}")]
        said = {r.description for r in found.relationships}
        assert odd in said if odd.strip() else odd not in said


async def test_a_thousand_chunks_below_one_community_with_a_hub_in_all_are_ranked_in_bounds(
    backend: Backend, project: str
) -> None:
    chunks = [chunk(f"k{i:03}", f"text {i}", vector(1, i / 1000)) for i in range(1000)]
    await backend.writer.write_documents(project, documents(chunks, {}))
    everything = [c.id for c in chunks]
    tree = [community(1, 1, None, axis(0)), community(2, 0, 1, axis(0), everything, ["hub"])]
    knowledge = KnowledgeBatch((entity("hub", "Hub", *everything),), (), tuple(tree), "fingerprint")
    await backend.writer.write_knowledge(project, knowledge)
    for store in (backend.store(), backend.store(exact_limit=INDEXED)):
        primed = await ask_primer(store, project, axis(0), 1, everything[:30])
        assert primed[0].members == {*everything[:30]}
        found = await ask_followup(store, project, "?", axis(0), (1, 2))
        assert set(ids(found.chunks)) <= set(everything[:60]), "nothing outside the nearest"
        named = await ask_followup(store, project, "what about the hub?", axis(0), (1, 2))
        for evidence in (found, named):
            assert (len(evidence.chunks), evidence.relationships) == (30, ())

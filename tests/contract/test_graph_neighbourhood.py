"""What a follow-up learns around its likeliest chunks: entities, relations and communities."""

from __future__ import annotations

from drift.local.ingest.graph_records import RelationRecord
from tests.contract.damage import alter
from tests.contract.graph_backends import (
    CHUNKS,
    Backend,
    ask_followup,
    axis,
    chunk,
    community,
    entity,
    fill,
    ids,
    vector,
)

MANY = [chunk(f"k{i:02}", f"text {i}", vector(1, i / 100)) for i in range(60)]


# ------------------------------------------------------------------------------ entities, relations
async def test_entities_come_by_rarity_and_by_how_many_of_the_likeliest_mention_them(
    backend: Backend, project: str
) -> None:
    entities = [
        entity("twice", "Twice", "k01", "k02"),
        entity("rare", "Rare", "k00"),
        entity("seldom", "Seldom", "k00", *(f"k{i}" for i in range(50, 54))),
        entity("common", "Common", "k00", *(f"k{i}" for i in range(48, 59))),
        entity("hub", "Hub", *(f"k{i:02}" for i in range(13))),
        entity("elsewhere", "Elsewhere", "k40"),
    ]
    await fill(backend, project, MANY, entities)
    found = await ask_followup(backend.store(), project, "?", axis(0))
    assert ids(found.entities) == ["twice", "rare", "seldom", "common"]
    first = found.entities[0]
    assert (first.title, first.description, first.mentions) == ("Twice", "about Twice", 2)
    assert first.chunk_ids == ("k01", "k02")


async def test_in_a_small_project_nothing_is_a_hub(backend: Backend, project: str) -> None:
    await fill(backend, project, MANY[:50], [entity("e", "Everywhere", *ids(MANY[:50]))])
    found = await ask_followup(backend.store(), project, "?", axis(0))
    assert ids(found.entities) == ["e"]
    assert len(found.entities[0].chunk_ids) == 48


async def test_an_entity_that_nothing_is_said_of_leads_to_relations_only(
    backend: Backend, project: str
) -> None:
    silent = {"e1": None, "e3": "", "e4": " \n"}
    entities = [entity(e, e.upper(), "k1") for e in silent] + [entity("e2", "Owl", "k2")]
    relations = [RelationRecord(e, "e2", f"{e} houses", 1.0) for e in silent]
    await fill(backend, project, CHUNKS, entities, relations)
    for key, description in silent.items():
        await alter(backend, project, "__Entity__", key, description=description)
    found = await ask_followup(backend.store(), project, "?", axis(0))
    assert ids(found.entities) == ["e2"]
    assert {r.description for r in found.relationships} == {f"{e} houses" for e in silent}


async def test_two_entities_have_one_relation_the_heaviest_that_says_something(
    backend: Backend, project: str
) -> None:
    entities = [
        entity("e1", "Mill", "k00", "k02"),
        entity("e2", "Owl", "k00", "k01", "k02"),
        entity("far", "Far", "k59"),
        entity("off", "Off", "k58"),
    ]
    relations = [
        RelationRecord("e1", "e2", "houses", 1.0),
        RelationRecord("e2", "e1", "lives in", 3.0),
        RelationRecord("e1", "e2", " ", 9.0),
        RelationRecord("far", "e1", "feeds", 5.0),
        RelationRecord("e1", "off", "drains", 2.0),
    ]
    await fill(backend, project, MANY, entities, relations)
    found = await ask_followup(backend.store(), project, "?", axis(0))
    assert [(r.source, r.target, r.description, r.chunk_ids) for r in found.relationships] == [
        ("Owl", "Mill", "lives in", ("k00", "k02")),
        ("Far", "Mill", "feeds", ()),
        ("Mill", "Off", "drains", ()),
    ]


# -------------------------------------------------------------------------------------- communities
async def test_a_follow_up_learns_the_lower_communities_that_hold_most_of_its_best_chunks(
    backend: Backend, project: str
) -> None:
    tree = [
        community("root", 2, None, axis(0)),
        community("middle", 1, "root", axis(0)),
        community("other", 1, "root", axis(0), ["k50"]),
        community("one", 0, "middle", axis(0), ["k00", "k01"]),
        community("three", 0, "middle", axis(0), ["k02", "k03", "k04", "k40"]),
        community("alone", 0, None, axis(0), ["k05"]),
    ]
    await fill(backend, project, MANY, communities=tree)
    found = (await ask_followup(backend.store(), project, "?", axis(0))).communities
    assert [(c.id, c.level, c.summary) for c in found] == [
        ("middle", 1, "summary middle"),
        ("three", 0, "summary three"),
        ("one", 0, "summary one"),
        ("alone", 0, "summary alone"),
    ]


async def test_five_communities_are_enough_and_one_without_summary_is_none(
    backend: Backend, project: str
) -> None:
    tree = [community(i, 0, None, axis(0), [f"k{i:02}"]) for i in range(8)]
    await fill(backend, project, MANY, communities=tree)
    await alter(backend, project, "__Community__", 1, summary=None)
    await alter(backend, project, "__Community__", 3, summary=" ")
    found = (await ask_followup(backend.store(), project, "?", axis(0))).communities
    assert ids(found) == [0, 2, 4, 5, 6]

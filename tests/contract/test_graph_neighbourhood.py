"""What a follow-up learns around its likeliest chunks: entities and relations."""

from __future__ import annotations

import pytest

from drift.core.deadline import Deadline
from drift.graph.writing.records import RelationRecord
from drift.model.graph import FollowupQuery
from tests.contract.damage import alter
from tests.contract.graph_backends import (
    CHUNKS,
    Backend,
    Neo4jBackend,
    ask_followup,
    axis,
    chunk,
    entity,
    fill,
    ids,
    on_real_servers,
    vector,
)

MANY = [chunk(f"k{i:02}", f"text {i}", vector(1, i / 100)) for i in range(60)]


@on_real_servers
async def test_relations_lead_between_entities_that_few_chunks_mention(
    backend: Backend, project: str
) -> None:
    entities = [
        entity("twice", "Twice", "k01", "k02"),
        entity("rare", "Rare", "k00"),
        entity("seldom", "Seldom", "k00", *(f"k{i}" for i in range(50, 54))),
        entity("common", "Common", "k00", *(f"k{i}" for i in range(48, 59))),
        entity("hub", "Hub", *(f"k{i:02}" for i in range(13))),
        entity("elsewhere", "Elsewhere", "k40"),
        entity("end", "End", "k41"),
    ]
    relations = [RelationRecord(e.id, "end", f"{e.title} ends", 1.0) for e in entities[:-1]]
    relations.append(RelationRecord("rare", "hub", "Rare hubs", 9.0))
    await fill(backend, project, MANY, entities, relations)
    found = await ask_followup(backend.store(), project, "?", axis(0))
    assert {(r.source, r.target) for r in found.relationships} == {
        (name, "End") for name in ("Twice", "Rare", "Seldom", "Common")
    }


@on_real_servers
@pytest.mark.parametrize(("mentions", "is_led"), [(5, True), (6, False)])
async def test_in_a_small_project_an_entity_leads_to_five_chunks(
    backend: Backend, project: str, mentions: int, *, is_led: bool
) -> None:
    some = entity("e", "Mill", *ids(MANY[:mentions]))
    relation = RelationRecord("e", "e", "is everywhere", 1.0)
    await fill(backend, project, MANY[:10], [some], [relation])
    query = FollowupQuery(project, "what of the mill?", axis(0), ())
    found = await backend.store().followup(query, Deadline.after(120))
    assert [r.source for r in found.relationships] == ["Mill"] * is_led
    assert any(one.graph for one in found.chunks) == is_led
    assert any(one.mentions for one in found.chunks) == is_led


async def test_an_entity_that_nothing_is_said_of_leads_to_its_relations(
    backend: Backend, project: str
) -> None:
    silent = {"e1": None, "e3": "", "e4": " \n"}
    entities = [entity(e, e.upper(), "k1") for e in silent] + [entity("e2", "Owl", "k2")]
    relations = [RelationRecord(e, "e2", f"{e} houses", 1.0) for e in silent]
    await fill(backend, project, CHUNKS, entities, relations)
    for key, description in silent.items():
        await alter(backend, project, "__Entity__", key, description=description)
    found = await ask_followup(backend.store(), project, "?", axis(0))
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
        ("Far", "Mill", "feeds", ()),
        ("Owl", "Mill", "lives in", ("k00", "k02")),
        ("Mill", "Off", "drains", ()),
    ]


async def test_a_relation_with_evidence_is_told_by_its_sentence_with_its_chunk(
    backend: Neo4jBackend, project: str
) -> None:
    entities = [entity(e, e.upper(), "k1") for e in ("e1", "e2", "e3", "e4")]
    evidence = {"e2": ("She houses it.", "k3"), "e3": ("", ""), "e4": ("It is gone.", "gone")}
    relations = [
        RelationRecord("e1", end, f"e1 houses {end}", 1.0, *said) for end, said in evidence.items()
    ]
    await fill(backend, project, CHUNKS, entities, relations)
    await backend.connection.write(
        "MATCH (:__Entity__ {project_id: $p})-[r:RELATED]->({id: 'e3'}) SET r.chunk_id = 7",
        {"p": project},
    )
    found = await ask_followup(backend.store(), project, "?", axis(0))
    assert {r.target: (r.description, r.chunk_ids) for r in found.relationships} == {
        "E2": ("She houses it.", ("k3",)),
        "E3": ("e1 houses e3", ("k1",)),
        "E4": ("It is gone.", ("gone",)),
    }

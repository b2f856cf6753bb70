"""What a follow-up learns around its likeliest chunks: entities and relations."""

from __future__ import annotations

from drift.graph.writing.records import RelationRecord
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
    vector,
)

MANY = [chunk(f"k{i:02}", f"text {i}", vector(1, i / 100)) for i in range(60)]


async def test_relations_are_those_of_entities_that_the_likeliest_mention_and_not_of_hubs(
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
    await fill(backend, project, MANY, entities, relations)
    found = await ask_followup(backend.store(), project, "?", axis(0))
    assert {r.source for r in found.relationships} == {"Twice", "Rare", "Seldom", "Common"}


async def test_in_a_small_project_nothing_is_a_hub(backend: Backend, project: str) -> None:
    everywhere = entity("e", "Everywhere", *ids(MANY[:50]))
    relation = RelationRecord("e", "e", "is everywhere", 1.0)
    await fill(backend, project, MANY[:50], [everywhere], [relation])
    found = await ask_followup(backend.store(), project, "?", axis(0))
    assert [(r.source, len(r.chunk_ids)) for r in found.relationships] == [("Everywhere", 48)]


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
        ("Owl", "Mill", "lives in", ("k00", "k02")),
        ("Far", "Mill", "feeds", ()),
        ("Mill", "Off", "drains", ()),
    ]


async def test_a_relation_with_evidence_is_told_by_its_sentence_with_chunk_and_document(
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
    told = {r.target: (r.description, r.chunk_id, r.document) for r in found.relationships}
    assert told == {
        "E2": ("She houses it.", "k3", "Title of d1"),
        "E3": ("e1 houses e3", "", ""),
        "E4": ("It is gone.", "gone", ""),
    }

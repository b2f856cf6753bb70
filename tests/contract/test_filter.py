"""What a filter leaves of a project is all that any read of it tells."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from drift.auth.caller import EVERYBODY
from drift.contracts.filter import Filter
from drift.core.deadline import Deadline
from drift.graph.writing.records import CommunityRecord, RelationRecord
from drift.model.found_nodes import NodesQuery
from drift.model.graph import FollowupQuery, PrimerQuery, WholeQuery
from drift.model.passages import PassagesQuery
from drift.model.reading import PageQuery
from tests.contract.graph_backends import (
    Backend,
    ask_followup,
    ask_primer,
    axis,
    chunk,
    documents,
    entity,
    fill,
    graph_server,
    ids,
    on_real_servers,
)

pytestmark = on_real_servers

HIDDEN = "sekrit"
CHUNKS = (
    replace(chunk("k1", "The ferry Lune sails at nine.", axis(0), "open/a.md"), ordinal=0),
    replace(chunk("k2", "The harbour of Vik has two quays.", axis(1), "open/b.md"), ordinal=0),
    replace(chunk("k3", f"The ferry Lune carries {HIDDEN} gold.", axis(0), "shut/c.md"), ordinal=0),
    replace(chunk("k4", f"The {HIDDEN} crew sleeps in Vik.", axis(1), "shut/d.md"), ordinal=0),
)
ENTITIES = (
    entity("quays", "Quays of Vik", "k2"),
    entity("ferry", f"Ferry Lune, {HIDDEN}", "k1", "k3"),
    entity("crew", f"Crew {HIDDEN}", "k4"),
)
RELATIONS = (
    RelationRecord("quays", "ferry", f"berths the {HIDDEN}", 2.0),
    RelationRecord("quays", "crew", f"shelters the {HIDDEN}", 1.0),
)


def _community(
    id_: int, level: int, parent: int | None, name: str, *chunks: str
) -> CommunityRecord:
    about = f"title of {name}", f"summary of {name}"
    return CommunityRecord(id_, level, parent, *about, (), chunks, axis(id_ % 2))


COMMUNITIES = (
    _community(1, 1, None, f"all {HIDDEN}"),
    _community(2, 0, 1, "quays", "k2"),
    _community(3, 0, 1, f"ferries {HIDDEN}", "k1", "k3"),
    _community(4, 0, 1, f"crews {HIDDEN}", "k4"),
)
ONLY = Filter(type="prefix", key="path", value="open/")


@pytest.fixture
async def held(backend: Backend, project: str) -> str:
    titles = {"open/a.md": "A", "open/b.md": "B", "shut/c.md": f"C {HIDDEN}", "shut/d.md": HIDDEN}
    await fill(backend, project, CHUNKS, ENTITIES, RELATIONS, COMMUNITIES, titles)
    newer = {"id": "open/a.md", "properties": {"superseded_by": "shut/c.md"}}
    await backend.connection.write(WRITE, {"p": project, "rows": [newer]})
    return project


def soon() -> Deadline:
    return Deadline.after(120)


async def everything(backend: Backend, project: str, exact: int | None, *only: Filter) -> list[Any]:
    """Whatever a caller can get of a project, by any read, within these filters."""
    store, reader = backend.store(exact_limit=exact), backend.reader()
    passages, finder = backend.passages(), backend.finder(exact)
    for one in only:
        allowed = await reader.allowed(project, one, soon())
        store, reader = store.within(allowed), reader.within(allowed)
        passages, finder = passages.within(allowed), finder.within(allowed)

    of, page = EVERYBODY.project(project), PageQuery(50)
    question = f"Which {HIDDEN} does the ferry Lune carry from the quays of Vik?"
    found: list[Any] = [
        await ask_primer(store, project, axis(0), 5, ("k1", "k2", "k3", "k4")),
        await ask_followup(store, project, question, axis(0)),
        await ask_followup(store, project, question, axis(1), (1, 2, 3, 4)),
        await store.topics(PrimerQuery(project, ("k1", "k2", "k3", "k4"), axis(0), 5), soon()),
        await passages.whole(WholeQuery(project, axis(0), located=True), soon()),
        await passages.about(project, soon()),
        await passages.passages(PassagesQuery(project, ("k1", "k2", "k3", "k4"), axis(0)), soon()),
        await finder.nearest_nodes(NodesQuery(project, axis(1), limit=10), soon()),
        await reader.overview(of, soon()),
        await reader.documents(of, page, soon()),
        await reader.communities(of, None, page, soon()),
    ]
    found += [await reader.document(of, id_, page, soon()) for id_ in ("open/a.md", "shut/c.md")]
    found += [await reader.chunk(of, id_, soon()) for id_ in ("k1", "k2", "k3", "k4")]
    return found + [await reader.entity(of, one.id, 10, soon()) for one in ENTITIES]


@pytest.mark.parametrize("exact", [None, 0])
async def test_nothing_of_other_documents_is_told(
    backend: Backend, held: str, exact: int | None
) -> None:
    assert HIDDEN in repr(await everything(backend, held, exact))
    found = await everything(backend, held, exact, ONLY)
    told = repr(found)
    assert HIDDEN not in told
    assert not any(id_ in told for id_ in ("'k3'", "'k4'", "shut/"))
    about, overview = found[5], found[8]
    assert (about.documents, about.chunks, about.entities, about.communities) == (2, 2, 1, 1)
    assert (overview.documents, overview.chunks, overview.written_at) == (2, 2, None)


async def test_a_question_to_begin_with_is_told_to_who_may_read_its_passage_while_that_is_there(
    backend: Backend, held: str
) -> None:
    async def told(*only: Filter) -> tuple[str, ...]:
        reader = backend.reader()
        for one in only:
            reader = reader.within(await reader.allowed(held, one, soon()))
        return (await reader.overview(EVERYBODY.project(held), soon())).questions

    async def keep(questions: object) -> None:
        text = "MATCH (p:__Project__ {id: $p}) SET p.questions = $q"
        await backend.connection.write(text, {"p": held, "q": questions})

    await keep([f"k3\n{HIDDEN}?", "k1\nOpen?", "k9\nOf no passage?", "k2"])
    assert await told() == (f"{HIDDEN}?", "Open?")
    assert await told(ONLY) == ("Open?",)
    async with backend.writer.writing(held) as own:
        await own.switch(["shut/c.md"], on=False)
    assert await told() == ("Open?",)
    new = replace(chunk("k5", "Another text.", axis(2), "open/a.md"), ordinal=0)
    await backend.writer.write_documents(held, documents([new], {"open/a.md": "A"}))
    assert await told() == ()
    await keep(5)
    assert await told() == ()


async def test_what_was_made_of_a_text_that_is_gone_stays_hidden(
    backend: Backend, held: str
) -> None:
    """A summary tells of a hidden document also after that was written anew, or removed."""
    new = replace(chunk("k5", f"The {HIDDEN} sails no more.", axis(2), "shut/c.md"), ordinal=0)
    await backend.writer.write_documents(held, documents([new], {"shut/c.md": HIDDEN}))
    assert HIDDEN not in repr(await everything(backend, held, None, ONLY))
    await backend.writer.remove_documents(held, ["shut/c.md", "shut/d.md"])
    assert HIDDEN not in repr(await everything(backend, held, None, ONLY))


async def test_what_is_left_is_found_and_told(backend: Backend, held: str) -> None:
    primer, first, _, topics, whole, _, passages, nodes, *_ = await everything(
        backend, held, None, ONLY
    )
    assert ids(primer) == [2]
    assert sorted(ids(first.chunks)) == ["k1", "k2"]
    assert ids(topics) == [2]
    assert ids(whole.topics) == [2]
    assert [one.chunk_id for one in passages.passages] == ["k1", "k2"]
    assert [node.id for node in nodes.nodes] == ["k2", "k1"]


async def test_an_empty_rest_is_no_error(backend: Backend, held: str) -> None:
    nothing = Filter(type="eq", key="tag", value="none")
    assert HIDDEN not in repr(await everything(backend, held, None, nothing))
    query = FollowupQuery(held, "ferry?", axis(0), ())
    allowed = await backend.reader().allowed(held, nothing, soon())
    assert not (await backend.store().within(allowed).followup(query, soon())).chunks


WRITE = """
UNWIND $rows AS row
MATCH (d:__Document__ {project_id: $p, id: row.id})
SET d += row.properties
"""
SAID: dict[str, dict[str, Any]] = {
    "open/a.md": {"tags": ["hr", "it"], "created_at": 1704067200000, "metadata.size": 3},
    "open/b.md": {"tags": ["hr"], "metadata.size": 3.5, "metadata.final": True},
    "shut/c.md": {
        "updated_at": datetime(2024, 1, 1, tzinfo=UTC),
        "metadata.size": "3",
        "metadata.odd": "a`b']",
    },
    "shut/d.md": {"also_at": ["open/d.md"]},
}
EVERY = {*SAID}
A, B, C, D = SAID


def where(type_: str, key: str, value: Any) -> dict[str, Any]:
    return {"type": type_, "key": key, "value": value}


def both(how: str, *filters: Any) -> dict[str, Any]:
    return {"type": how, "filters": filters}


CASES: list[tuple[dict[str, Any], set[str]]] = [
    (where("eq", "tag", "hr"), {A, B}),
    (where("ne", "tag", "hr"), {C, D}),
    (where("in", "tag", ["it", "x"]), {A}),
    (where("nin", "tag", ["it", "x"]), {B, C, D}),
    (where("eq", "document_id", A), {A}),
    (where("prefix", "path", "shut/"), {C, D}),
    (where("prefix", "path", "%"), set()),
    (where("prefix", "path", "open/"), {A, B, D}),
    (where("eq", "path", "open/d.md"), {D}),
    (where("in", "path", ["open/d.md", B]), {B, D}),
    (where("ne", "path", "open/d.md"), {A, B, C}),
    (where("nin", "path", ["open/d.md", A]), {B, C}),
    (where("eq", "document_id", "open/d.md"), set()),
    (where("gte", "created_at", "2024-01-01T00:00:00Z"), {A}),
    (where("gt", "created_at", "2024-01-01T01:00:00+01:00"), set()),
    (where("lte", "created_at", "2024-01-01"), {A}),
    (where("ne", "created_at", "2024-01-01"), {B, C, D}),
    (where("gte", "updated_at", "2024-01-01T00:00:00Z"), {C}),
    (where("eq", "updated_at", "2024-01-01"), {C}),
    (where("lt", "updated_at", "2024-01-01"), set()),
    (where("eq", "metadata.size", 3), {A}),
    (where("eq", "metadata.size", "3"), {C}),
    (where("gt", "metadata.size", 3), {B}),
    (where("lt", "metadata.size", "4"), {C}),
    (where("in", "metadata.size", [3, "3", True]), {A, C}),
    (where("eq", "metadata.final", True), {B}),
    (where("eq", "metadata.final", 1), set()),
    (where("ne", "metadata.none", "x"), EVERY),
    (where("eq", "metadata.__proto__", "x"), set()),
    (where("eq", "metadata.odd", "a`b']"), {C}),
    (both("and", where("eq", "tag", "hr"), where("ne", "tag", "it")), {B}),
    (both("or", where("eq", "tag", "it"), where("eq", "metadata.size", "3")), {A, C}),
    (
        both(
            "or",
            both("and", both("or", where("eq", "tag", "it"), where("eq", "tag", "x"))),
            both("and", where("nin", "tag", ["hr"]), where("prefix", "path", "shut/d")),
        ),
        {A, D},
    ),
]


async def test_each_comparison_leaves_the_documents_that_it_says(
    backend: Backend, held: str
) -> None:
    rows = [{"id": id_, "properties": said} for id_, said in SAID.items()]
    await backend.connection.write(WRITE, {"p": held, "rows": rows})
    reader, found = backend.reader(), []
    for asked, _ in CASES:
        allowed = await reader.allowed(held, Filter.model_validate(asked, strict=False), soon())
        found.append((asked, set(allowed.documents)))
        assert (allowed.chunks, allowed.of) == (len(allowed.documents), 4)
    assert found == CASES


__all__ = ["graph_server"]

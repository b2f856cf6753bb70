"""The read routes over shapes in memory: whom each answers, and what it refuses."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from drift.auth.caller import EVERYBODY, Caller, Grant, Project
from drift.contracts.reading import CommunityOut
from drift.core.deadline import Deadline
from drift.core.errors import DriftError, InvalidRequestError
from drift.http import reading
from drift.http.query import parse_query, path_id
from drift.http.route import Call
from tests.fakes_reading import FakeReader, Held, chunk_read, document_out, entity_read

READ = frozenset({"read"})
ROUTES: dict[str, reading.ReadRoute] = {
    "documents": reading.read_document,
    "chunks": reading.read_chunk,
    "entities": reading.read_entity,
}
HELD = {"documents": "d1", "chunks": "k1", "entities": "e1"}


@pytest.fixture
def reader() -> FakeReader:
    """Two projects, `mine` and `mine-b`, with the same ids."""
    documents = {id_: document_out(id_, f"Title of {id_}") for id_ in ("d1", "d2")}
    communities = [
        CommunityOut(id=n, level=n == 1, title="", summary="", members=1, parents=())
        for n in (1, 2, 3)
    ]
    chunks = {id_: chunk_read(id_, "alpha", documents["d1"]) for id_ in ("k1", "k2")}
    held = Held(documents, communities, chunks, {"e1": entity_read("e1", "Alpha")})
    return FakeReader({"mine": held, "mine-b": held})


def caller(*patterns: str) -> Caller:
    return Caller("somebody", tuple(Grant(p, READ) for p in patterns))


class Service:
    """Finds no project that is not named, and keeps no file."""

    graph = SimpleNamespace(originals=None)

    async def project(self, who: Caller, named: str | None) -> Project:
        return who.project(named)


async def get(
    reader: FakeReader, route: reading.ReadRoute, path: str, who: Caller = EVERYBODY
) -> dict[str, Any]:
    """What a route answers."""
    path, _, query = path.partition("?")
    call = Call(cast("Any", None), cast("Any", None), cast("Any", None), caller=who)
    call.query = parse_query(query.encode(), route.parameters)
    call.id = path_id(path.encode(), route.path) if "{" in route.path else ""
    asked = await route.check(call, cast("Any", Service()))
    document: dict[str, Any] = json.loads(
        (await route.answer(asked, reader, Deadline.after(30))).model_dump_json()
    )
    return document


async def refused(
    reader: FakeReader, route: reading.ReadRoute, path: str, who: Caller = EVERYBODY
) -> DriftError:
    with pytest.raises(DriftError) as seen:
        await get(reader, route, path, who)
    return seen.value


async def fields(
    reader: FakeReader, route: reading.ReadRoute, path: str, who: Caller = EVERYBODY
) -> list[str]:
    error = await refused(reader, route, path, who)
    assert isinstance(error, InvalidRequestError), error
    return [problem.field for problem in error.problems]


async def test_a_project_is_told_with_the_rights_of_its_caller(reader: FakeReader) -> None:
    who = caller("empty")
    assert await get(reader, reading.read_projects, "/projects", who) == {
        "projects": [],
        "next": None,
    }
    assert (await get(reader, reading.read_project, "/projects/empty", who))["rights"] == ["read"]


async def test_a_list_of_projects_tells_their_sizes_where_they_are_known(
    reader: FakeReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    del reader.held["mine-b"]
    whole = {"id": "mine", "documents": 2, "chunks": 2}
    who = caller("mine", "named")
    reader.held["named"] = Held()
    assert (await get(reader, reading.read_projects, "/projects", who))["projects"] == [
        whole,
        {"id": "named"},
    ]

    # A grant that shows a part alone, as a filter will make it.
    monkeypatch.setattr(Caller, "filter_of", lambda *_: "of some documents")
    told = (await get(reader, reading.read_projects, "/projects", who))["projects"]
    assert told == [{"id": "mine"}, {"id": "named"}]


async def test_a_cursor_is_of_its_own_list_and_caller(reader: FakeReader) -> None:
    async def following(route: reading.ReadRoute, path: str) -> str:
        return str((await get(reader, route, path))["next"])

    projects = await following(reading.read_projects, "/projects?limit=1")
    documents = await following(reading.read_documents, "/projects/mine/documents?limit=1")
    leaves = await following(reading.read_communities, "/projects/mine/communities?limit=1&level=0")
    chunks = await following(reading.read_document, "/documents/d1?project_id=mine&limit=1")
    for cursor, route, path in (
        (projects, reading.read_documents, "/projects/mine/documents?"),
        (documents, reading.read_documents, "/projects/mine-b/documents?"),
        (documents, reading.read_communities, "/projects/mine/communities?"),
        (documents, reading.read_projects, "/projects?"),
        (leaves, reading.read_communities, "/projects/mine/communities?"),
        (leaves, reading.read_communities, "/projects/mine/communities?level=1&"),
        (chunks, reading.read_document, "/documents/d2?project_id=mine&"),
        (chunks, reading.read_document, "/documents/d1?project_id=mine-b&"),
        (documents[:-1], reading.read_documents, "/projects/mine/documents?"),
        ("", reading.read_documents, "/projects/mine/documents?"),
    ):
        assert await fields(reader, route, f"{path}cursor={cursor}") == ["cursor"]
    who = Caller("another", EVERYBODY.grants)
    assert await fields(reader, reading.read_projects, f"/projects?cursor={projects}", who) == [
        "cursor"
    ]
    assert await get(reader, reading.read_documents, f"/projects/mine/documents?cursor={documents}")


@pytest.mark.parametrize(
    ("route", "path"),
    [
        (reading.read_projects, "/projects?"),
        (reading.read_project, "/projects/mine?"),
        (reading.read_documents, "/projects/mine/documents?"),
        (reading.read_communities, "/projects/mine/communities?"),
        (reading.read_document, "/documents/d1?project_id=mine&"),
        (reading.read_chunk, "/chunks/k1?project_id=mine&"),
        (reading.read_entity, "/entities/e1?project_id=mine&"),
    ],
)
async def test_a_parameter_that_the_route_does_not_know_is_named(
    reader: FakeReader, route: reading.ReadRoute, path: str
) -> None:
    assert await fields(reader, route, f"{path}offset=1") == ["offset"]
    assert await get(reader, route, f"{path}code=the-platforms") == await get(reader, route, path)


async def test_all_that_is_wrong_with_a_page_is_named(reader: FakeReader) -> None:
    wrong = "/projects/mine/communities?level=x&limit=101"
    assert await fields(reader, reading.read_communities, wrong) == ["level", "limit"]
    assert await fields(reader, reading.read_project, f"/projects/{'x' * 129}") == ["project_id"]
    assert await fields(reader, reading.read_chunk, "/chunks/%00?project_id=mine") == ["id"]

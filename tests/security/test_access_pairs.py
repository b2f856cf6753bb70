"""Random callers ask for random projects over every route: none gets through that should not, and
none is refused that should not be.

The servers are in memory and watched: whoever is refused has caused no call to any of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any
from urllib.parse import quote
from uuid import UUID

import pytest

from drift.http import reading
from drift.http.content import read_content
from drift.http.cursors import KEY, ListName, cursor
from drift.http.dispatcher import Dispatcher
from drift.local.hosts.local_host import build_dispatcher, serving
from drift.routes import ROUTES
from tests.fake_service import put_behind
from tests.mcp.calling import reply, tool
from tests.security.random_callers import EXISTING, Asker, asker, look_alikes, project_for
from tests.security.raw_http import JSON, STREAM, Answer, call, events
from tests.security.watched_world import (
    QUESTION,
    SHARED,
    World,
    mark,
    other_marks,
    own_id,
    without_id,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PAIRS, FEW_PAIRS = 200, 60
"""How many `make test-deep` draws, and how many `make test`."""
ABOUT_NO_PROJECT = {
    "/rag",
    "/rag/{*file}",
    "/health/live",
    "/health/ready",
    "/health/neo4j",
    "/openapi.yaml",
    "/openapi-3.0.json",
    "/metrics",
    "/usage",
    "/v1/embeddings",
    "/v1/responses",
    "/.well-known/oauth-protected-resource/mcp",
}
SINGLE = {
    "documents": reading.read_document.path,
    "chunks": reading.read_chunk.path,
    "entities": reading.read_entity.path,
}
LISTS = {"documents": reading.read_documents.path, "communities": reading.read_communities.path}
NO_RIGHT = "This credential has no read right on {} project."
FORBIDDEN = {"type": "about:blank", "title": "Forbidden", "status": 403, "code": "forbidden"}
NOT_FOUND = {
    "type": "about:blank",
    "title": "Not Found",
    "status": 404,
    "detail": "The project holds nothing under this id.",
    "code": "not_found",
}
Cursors = dict[tuple[str, str], str]
"""By the route of a list and its project."""


def written(id_: str) -> str:
    """Return an id as it stands in a URL, with dots that no proxy takes for a folder."""
    return quote(id_, safe="").replace(".", "%2E")


def fields(answer: Answer) -> list[str]:
    return [problem["field"] for problem in answer.json()["errors"]]


@dataclass
class Pair:
    """One caller and one project, None where a request leaves it out.

    `tried` are the routes, `met` counts what had to come of the requests.
    """

    url: str = field(repr=False)
    world: World = field(repr=False)
    cursors: Cursors = field(repr=False)
    chance: Random = field(repr=False)
    who: Asker
    project: str | None
    tried: set[str] = field(repr=False)
    met: Counter[str] = field(repr=False)

    @property
    def meant(self) -> str | None:
        """The project that a request is about."""
        return self.who.only_project if self.project is None else self.project

    @property
    def status(self) -> int:
        """What a good request gets."""
        return self.who.status(self.project)

    @property
    def exists(self) -> bool:
        return self.meant in EXISTING

    async def ask(
        self, route: str, target: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send a request about the project; check that it is refused if it has to be."""
        self.tried.add(f"/{route}")
        self.met[f"{self.who.mode} {self.status} {'held' if self.exists else 'absent'}"] += 1
        self.world.forget()
        method = "POST" if body else "GET"
        answer = await call(self.url, method, target, {**self.who.headers, **(headers or {})}, body)
        if self.status != 200:
            self._is_refused(answer, f"{method} {target}")
        assert other_marks(self.meant, answer.body) == [], (self, target)
        return answer

    def _is_refused(self, answer: Answer, request: str) -> None:
        assert (answer.status, self.world.touched) == (self.status, []), (self, request)
        assert ("content-type", "application/problem+json") in answer.headers
        if self.status == 403:
            said = NO_RIGHT.format("this" if self.who.granted else "any")
            assert without_id(answer.body) == {**FORBIDDEN, "detail": said}, (self, request)
        if self.status == 400:
            assert fields(answer) == ["project_id"], (self, request)

    # ----------------------------------------------------------------------------------- questions
    async def questions(self) -> None:
        """Ask, buffered and as a stream, also for the evidence alone."""
        named = {} if self.project is None else {"project_id": self.project}
        for headers, alone in ((JSON, {}), (STREAM, {}), (JSON, {"answer": False})):
            id_ = str(UUID(int=self.chance.getrandbits(128)))
            asked = {"query": QUESTION, "retrieval_id": id_, "include": ["trace"], **named}
            body = json.dumps(asked | alone).encode()
            answer = await self.ask("retrieve", "/retrieve", body, headers)
            if self.status == 200:
                self._is_answered(answer, id_, streamed=headers is STREAM)

    async def questions_to_nodes(self) -> None:
        """Ask the nodes, buffered and as a stream."""
        named = {} if self.project is None else {"project_id": self.project}
        for headers in (JSON, STREAM):
            body = json.dumps({"question": QUESTION, **named}).encode()
            answer = await self.ask("api/rag/query", "/api/rag/query", body, headers)
            if self.status != 200:
                continue
            result = answer.body.decode()
            if headers is STREAM:
                *_, (name, result) = events(answer.body)
                assert name == "result", self
            sources = json.loads(result)["sources"]
            assert bool(sources) is self.exists, self
            assert (mark(self.meant or "") in result) if self.exists else ("mark" not in result)

    async def closed_routes(self) -> None:
        """Ask to write, which the settings do not allow: no server hears of it."""
        node = json.dumps({"label": "Person", "properties": {}}).encode()
        asked = [("PUT", "/api/nodes/ada")]
        for path in ("/api/nodes", "/documents"):
            asked += [("POST", path), ("DELETE", f"{path}/ada")]
        for method, path in asked:
            self.tried.add(path.replace("ada", "{*id}"))
            self.world.forget()
            headers = {**self.who.headers, **JSON}
            body = b"" if method == "DELETE" else node
            answer = await call(self.url, method, path, headers, body)
            has_none = self.who.mode != "function" and not self.who.granted
            wanted = 401 if self.who.is_stranger else 403 if has_none else 404
            assert (answer.status, self.world.calls) == (wanted, []), (self, method)

    def _is_answered(self, answer: Answer, id_: str, *, streamed: bool) -> None:
        assert answer.status == 200, (self, answer.body)
        result = answer.body.decode()
        if streamed:
            *before, (name, result) = events(answer.body)
            assert name == "result", self
            progress = [json.loads(data) for name, data in before if name == "progress"]
            assert {message["project_id"] for message in progress} == {self.meant}
        assert ("no_data_found" in json.loads(result)) is not self.exists, self
        assert (mark(self.meant or "") in result) if self.exists else ("mark" not in result)

        own = "" if self.who.mode == "function" else f":{id_}"
        assert set(self.world.sink.channels) == {f"ui:retrieval_progress{own}"}, self
        assert {m["project_id"] for m in self.world.sink.messages} == {self.meant}, self

    async def feedback(self) -> None:
        """Score an answer, and list what was said, which the settings do not allow."""
        self.tried |= {"/feedback", "/projects/{id}/feedback"}
        has_none = self.who.mode != "function" and not self.who.granted
        known = 401 if self.who.is_stranger else 403 if has_none else 404
        id_ = str(UUID(int=self.chance.getrandbits(128)))
        body = json.dumps({"retrieval_id": id_, "score": 1}).encode()
        headers = {**self.who.headers, **JSON}
        assert (await call(self.url, "POST", "/feedback", headers, body)).status == known, self
        if self.project is not None:
            path = f"/projects/{written(self.project)}/feedback"
            status = (await call(self.url, "GET", path, self.who.headers)).status
            rights = ("read", "write")
            may = known == 404 and all(self.who.may(self.project, one) for one in rights)
            assert status == (404 if may else min(known, 403)), self

    # ------------------------------------------------------------------------------------ programs
    async def programs(self) -> None:
        """Ask as chat programs and Dify do: a refusal has their shape, and reaches no server."""
        self.tried |= {"/v1/chat/completions", "/v1/models", "/dify/retrieval"}
        self.tried.add("/v1/vector_stores/{id}/search")
        project = self.project or ""
        store = f"/v1/vector_stores/{written(project)}/search"
        asked: dict[str, dict[str, Any]] = {
            "/v1/chat/completions": {
                "model": f"{project}:drift",
                "messages": [{"role": "user", "content": QUESTION}],
            },
            "/dify/retrieval": {"knowledge_id": project, "query": QUESTION},
            store: {"query": QUESTION},
        }
        for path, body in asked.items():
            if self.project is None:
                continue
            self.world.forget()
            headers = {**self.who.headers, **JSON}
            answer = await call(self.url, "POST", path, headers, json.dumps(body).encode())
            wanted = self.status if self.status != 200 or self.exists or path == store else 404
            assert answer.status == wanted, (self, path, answer.body)
            assert self.status == 200 or self.world.calls == [], (self, path)
            is_told = self.exists and wanted == 200
            assert (b"mark" in answer.body) is is_told, (self, path)
            assert other_marks(self.meant, answer.body) == [], (self, path)

        self.world.forget()
        answer = await call(self.url, "GET", "/v1/models", self.who.headers)
        if answer.status == 200:
            names = {one["id"].removesuffix(":quick") for one in answer.json()["data"]}
            assert names == {one for one in EXISTING if self.who.may_read(one)}, self
        else:
            assert self.world.calls == [], self

    # --------------------------------------------------------------------------------------- tools
    async def tools(self) -> None:
        """Call the tools of MCP: a refusal is a result there, and no server hears of it."""
        self.tried.add("/mcp")
        named = {} if self.project is None else {"project": self.project}
        asked: dict[str, dict[str, str]] = {
            "retrieve": {"question": QUESTION, "depth": "drift", **named},
            "search": {"question": QUESTION, **named},
            "read_source": {"chunk_id": SHARED["chunks"], **named},
            "list_projects": {},
        }
        for name, arguments in asked.items():
            self.world.forget()
            headers, body = tool(name, **arguments)
            answer = await call(self.url, "POST", "/mcp", {**self.who.headers, **headers}, body)
            has_none = self.who.mode != "function" and not self.who.granted
            wanted = 401 if self.who.is_stranger else 403 if has_none else 200
            assert answer.status == wanted, (self, name, answer.body)
            if wanted == 200 and name == "list_projects":
                self._lists(reply(answer)["result"])
            elif wanted == 200:
                self._tells(name, reply(answer)["result"])
            else:
                assert self.world.calls == [], (self, name)

    def _lists(self, result: dict[str, Any]) -> None:
        told = result["structuredContent"]
        ids = [one["id"] for one in told["projects"]] + told["further"]
        assert ids == sorted(one for one in EXISTING if self.who.may_read(one)), self

    def _tells(self, name: str, result: dict[str, Any]) -> None:
        said = json.dumps(result)
        if self.status != 200:
            assert (result["isError"], self.world.touched) == (True, []), (self, name, said)
        elif name != "read_source" or self.exists:
            assert not result.get("isError"), (self, name, said)
        assert ("mark" in said) is (self.status == 200 and self.exists), (self, name, said)
        assert other_marks(self.meant, said.encode()) == [], (self, name)

    # --------------------------------------------------------------------------------------- lists
    async def projects(self) -> None:
        """List the projects that the caller may read, from the beginning and by a cursor."""
        has_none = self.who.mode != "function" and not self.who.granted
        wanted = 401 if self.who.is_stranger else 403 if has_none else 200
        others = self.cursors[reading.read_projects.path, ""]
        for target in ("/projects", f"/projects?limit=1&cursor={others}"):
            self.tried.add("/projects")
            self.world.forget()
            answer = await call(self.url, "GET", target, self.who.headers)
            by_another = "cursor" in target and self.who.mode != "function"
            status = 400 if by_another and wanted == 200 else wanted
            assert answer.status == status, (self, target, answer.body)
            if status != 200:
                assert self.world.calls == [], (self, target)
            elif target == "/projects":
                held = self.world.held
                readable = [
                    {
                        "id": id_,
                        "documents": len(held[id_].documents),
                        "chunks": len(held[id_].chunks),
                    }
                    for id_ in sorted(set(EXISTING))
                    if self.who.may_read(id_)
                ]
                assert answer.json() == {"projects": readable, "next": None}, self

    async def project_itself(self) -> None:
        """Read what the project is, and its lists, with cursors of its own and others."""
        if self.project is None:
            return
        path = f"/projects/{written(self.project)}"
        overview = await self.ask(reading.read_project.path, path)
        if self.status == 200:
            found = overview.json()
            counts = (found["id"], found["documents"], found["communities"])
            assert counts == (self.project, 2 * self.exists, 2 * self.exists), self
        for name, route in LISTS.items():
            answer = await self.ask(route, f"{path}/{name}?limit=1")
            if self.status == 200:
                assert len(answer.json()[name]) == self.exists, self
            await self._cursors(route, f"{path}/{name}?")

    async def _cursors(self, route: str, path: str) -> None:
        """Continue a list by cursors that are not of it, and by its own."""
        for wrong in self._foreign(route):
            answer = await self.ask(route, f"{path}cursor={wrong}")
            if self.status == 200:
                assert (answer.status, fields(answer)) == (400, ["cursor"]), (self, path)
                assert self.world.touched == [], (self, path)
        own = self.cursors.get((route, self.meant or ""))
        if own:
            assert (await self.ask(route, f"{path}cursor={own}")).status == self.status, self
        if route == reading.read_documents.path and self.meant:
            # Anybody may make one. It moves within the list that it names.
            made = cursor(ListName(route, self.meant, (KEY,)), ("",))
            assert (await self.ask(route, f"{path}cursor={made}")).status == self.status, self

    def _foreign(self, route: str) -> list[str]:
        """Return cursors that this list has not made."""
        others = [one for one in EXISTING if one != self.meant]
        another_list = {reading.read_documents.path: reading.read_communities.path}.get(
            route, reading.read_documents.path
        )
        swapped = self.cursors[route, self.chance.choice(others)]
        place = self.chance.randrange(len(swapped))
        letter = "A" if swapped[place] != "A" else "B"
        return [
            swapped,
            self.cursors[another_list, self.meant if self.exists and self.meant else others[0]],
            f"{swapped[:place]}{letter}{swapped[place + 1 :]}",
        ]

    async def look_alikes(self) -> None:
        """Read what looks like a project of the caller's, and a thing without naming any."""
        for project in look_alikes(self.chance, self.who):
            pair = replace(self, project=project)
            answer = await pair.ask(reading.read_project.path, f"/projects/{written(project)}")
            if pair.status == 200:
                assert answer.json()["id"] == project, pair
        pair = replace(self, project=None)
        answer = await pair.ask(reading.read_entity.path, f"/entities/{SHARED['entities']}")
        if pair.status == 200:
            assert answer.status == (200 if pair.exists else 404), pair

    # ------------------------------------------------------------------------------- single things
    async def things(self) -> None:
        """Read a document, a chunk and an entity: held, held elsewhere, and held nowhere."""
        named = "" if self.project is None else f"project_id={written(self.project)}"
        foreign = self.chance.choice([one for one in EXISTING if one != self.meant])
        for kind, route in SINGLE.items():
            for id_ in self._held(kind):
                answer = await self.ask(route, f"/{kind}/{written(id_)}?{named}")
                if self.status == 200:
                    assert answer.status == 200, (self, id_)
                    assert mark(self.meant or "").encode() in answer.body
            absent = [own_id(foreign, kind), "nothing", *([] if self.exists else [SHARED[kind]])]
            for id_ in absent:
                answer = await self.ask(route, f"/{kind}/{written(id_)}?{named}")
                if self.status == 200:
                    assert without_id(answer.body) == NOT_FOUND, (self, id_)
        for id_ in [*self._held("documents"), own_id(foreign, "documents"), "nothing"]:
            place = f"/documents/{written(id_)}/content?{named}"
            answer = await self.ask(read_content.path, place)
            if self.status == 200:
                is_held = id_ in self._held("documents")
                code = "content_not_kept" if is_held else "not_found"
                assert (answer.status, answer.json()["code"]) == (404, code), (self, id_)
        await self._cursors(
            reading.read_document.path, f"/documents/{SHARED['documents']}?{named}&"
        )

    def _held(self, kind: str) -> list[str]:
        return [SHARED[kind], own_id(self.meant, kind)] if self.exists and self.meant else []


async def collected(url: str) -> Cursors:
    """Return a cursor of every list, as somebody gets them who may read all projects."""
    paths = {(reading.read_projects.path, ""): "/projects?limit=1"}
    for one in EXISTING:
        project = written(one)
        paths |= {
            (route, one): f"/projects/{project}/{name}?limit=1" for name, route in LISTS.items()
        }
        paths[reading.read_document.path, one] = (
            f"/documents/{SHARED['documents']}?project_id={project}&limit=1"
        )
    return {list_: (await call(url, "GET", path)).json()["next"] for list_, path in paths.items()}


def set_for(who: Asker, world: World, dispatcher: Dispatcher) -> None:
    """Have the function tell callers apart in the way of this one."""
    world.set_for(who)
    put_behind(dispatcher, world.service, **who.settings)


@pytest.mark.usefixtures("no_settings")
@pytest.mark.parametrize("pairs", [FEW_PAIRS, pytest.param(PAIRS, marks=pytest.mark.deep)])
async def test_a_caller_gets_its_own_projects_over_every_route_and_no_other(pairs: int) -> None:
    world, chance, met, tried = World(), Random(pairs), Counter[str](), set[str]()  # noqa: S311 - the same pairs each time
    await world.fill()
    dispatcher = build_dispatcher()
    async with serving(dispatcher=dispatcher) as url:
        set_for(Asker("function", {}, {}), world, dispatcher)
        cursors = await collected(url)
        for _ in range(pairs):
            who = asker(chance)
            project = project_for(chance, who)
            pair = Pair(url, world, cursors, chance, who, project, tried, met)
            set_for(who, world, dispatcher)
            await pair.questions()
            await pair.questions_to_nodes()
            await pair.closed_routes()
            await pair.feedback()
            await pair.tools()
            await pair.programs()
            await pair.projects()
            await pair.project_itself()
            await pair.look_alikes()
            await pair.things()

    assert tried | ABOUT_NO_PROJECT == {f"/{route.path}" for route in ROUTES}
    outcomes = {"200 held", "200 absent", "403 held", "403 absent", "401 held", "400 absent"}
    own_modes = {f"{mode} {outcome}" for mode in ("keys", "easyauth") for outcome in outcomes}
    assert own_modes | {"function 200 held", "function 200 absent"} <= set(met), met

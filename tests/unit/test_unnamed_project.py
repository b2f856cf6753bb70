"""A request that names no project: the one that its caller may read needs no name, on any route."""

from __future__ import annotations

from typing import Any, cast

import pytest

from drift.auth.caller import EVERYBODY, Caller, Grant, Right
from drift.core.errors import DriftError
from drift.http.dispatcher import Dispatcher
from drift.http.service import Service, WholeGraph
from drift.http.settings import load
from drift.integrations.mcp_server import Asker
from drift.local.hosts.local_host import build_dispatcher, serving
from drift.model.graph import PrimerEvidence
from tests.fake_service import LOCAL, put_behind
from tests.fakes import ScriptedChat, StubGraph, ports
from tests.fakes_nodes import FakeNodeFinder
from tests.fakes_reading import FakeReader, Held
from tests.function.calling import calling

READ, WRITE = frozenset[Right]({"read"}), frozenset[Right]({"read", "write"})


def service(*projects: str, **settings: str) -> Service:
    held = {name: Held() for name in projects}
    servers = ports(StubGraph(PrimerEvidence()), ScriptedChat(lambda _: ""))
    graph = WholeGraph(FakeReader(held), FakeNodeFinder(), cast("Any", object()))
    return Service(load({**LOCAL, **settings}), servers, None, graph)


def caller(*patterns: str, rights: frozenset[Right] = WRITE) -> Caller:
    return Caller("somebody", tuple(Grant(pattern, rights) for pattern in patterns))


async def meant(over: Service, who: Caller, right: Right = "read") -> str:
    """Return the project of a request without a name, or the code of its error."""
    try:
        return (await over.project(who, None, right)).id
    except DriftError as error:
        return error.code


@pytest.mark.parametrize(
    ("patterns", "held", "setting", "expected"),
    [
        (["*"], ["one"], "", "one"),
        (["*"], [], "", "invalid_request"),
        (["*"], ["one", "two"], "", "invalid_request"),
        (["*"], ["one", "two"], "two", "two"),
        (["*"], ["one"], "two", "two"),
        (["team-*"], ["other", "team-a"], "", "team-a"),
        (["team-*"], ["other"], "", "invalid_request"),
        (["team-*"], ["other", "team-a"], "other", "team-a"),
        (["a", "b"], ["b", "c"], "", "b"),
        (["a"], ["b", "c"], "b", "a"),
        ([], ["one"], "", "invalid_request"),
    ],
)
async def test_it_is_the_caller_s_one_then_that_of_the_setting_then_the_only_one_it_may_read(
    patterns: list[str], held: list[str], setting: str, expected: str
) -> None:
    over = service(*held, **({"RAG_PROJECT": setting} if setting else {}))
    assert await meant(over, caller(*patterns)) == expected


async def test_a_second_project_asks_for_the_name_at_once_and_reading_gives_no_right_to_write() -> (
    None
):
    over = service("one")
    assert await meant(over, EVERYBODY, "write") == "one"
    assert await meant(over, caller("*", rights=READ), "write") == "forbidden"
    reader = over.reads()
    assert isinstance(reader, FakeReader)
    reader.held["two"] = Held()
    assert await meant(over, EVERYBODY) == "invalid_request"
    del reader.held["one"]
    assert await meant(over, EVERYBODY) == "two"


async def test_a_graph_without_projects_is_one() -> None:
    over = service(GRAPH_SCHEMA="v1")
    assert await meant(over, EVERYBODY) == "graph"
    for patterns, expected in ((["a", "b"], "a"), (["team-*"], "team-"), ([], "invalid_request")):
        assert await meant(over, caller(*patterns)) == expected


ASKED: dict[str, dict[str, Any]] = {
    "/retrieve": {"query": "What?"},
    "/api/rag/query": {"question": "What?"},
    "/dify/retrieval": {"query": "What?"},
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "What?"}]},
    "/api/nodes": {"label": "Person", "properties": {"name": "Ada", "description": "x"}},
    "/documents": {"id": "d", "text": "x"},
    "/chunks/k1": {},
    "/documents/d1": {},
    "/entities/e1": {},
}


@pytest.mark.parametrize("path", ASKED)
async def test_without_a_name_every_route_says_what_to_send_until_there_is_one(path: str) -> None:
    over = service("one", "two", ENABLE_INDEXING="true", RAG_LABELS="Chunk,Person")
    body = ASKED[path]
    async with serving(dispatcher=_dispatcher(over)) as url, calling(url) as asking:

        async def asked() -> tuple[int, str]:
            method = "POST" if body else "GET"
            answer = await asking.client.request(method, path, json=body or None)
            return answer.status_code, answer.text

        status, said = await asked()
        assert (status, "RAG_PROJECT" in said) == (400, True), said
        assert "GET /projects" in said

        reader = over.reads()
        assert isinstance(reader, FakeReader)
        del reader.held["two"]
        status, said = await asked()
        assert "RAG_PROJECT" not in said, (status, said)


@pytest.mark.parametrize(
    "model", [None, "", ":quick", ":drift"], ids=["left out", "empty", "quick", "drift"]
)
async def test_a_chat_program_needs_no_model(
    model: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    async def start(project: Any, request: Any, *_: Any) -> Any:
        asked.append((project.id, request.depth))
        raise DriftError("seen")

    over = service("one")
    monkeypatch.setattr(Service, "start", lambda _, *given: start(*given))
    body = {**ASKED["/v1/chat/completions"], **({} if model is None else {"model": model})}
    async with serving(dispatcher=_dispatcher(over)) as url, calling(url) as asking:
        await asking.client.post("/v1/chat/completions", json=body)
    assert asked == [("one", (model or "").removeprefix(":") or "auto")]


async def test_a_tool_needs_no_project() -> None:
    assert (await Asker(EVERYBODY, service("one"), "r").project("")).id == "one"
    with pytest.raises(Exception, match="list_projects"):
        await Asker(EVERYBODY, service("one", "two"), "r").project("")


def _dispatcher(over: Service) -> Dispatcher:
    dispatcher = build_dispatcher()
    put_behind(dispatcher, over)
    return dispatcher

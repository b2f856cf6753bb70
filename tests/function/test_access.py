"""Who may ask what, over the function's own routes."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator
from itertools import product

import httpx2
import pytest

from drift.local.hosts.local_host import serving
from drift.routes import ROUTES
from tests.function.access_keys import entry, use_keys
from tests.function.calling import PROBLEM_FIELDS, Caller, calling
from tests.function.corpus import PROJECT, QUESTION, Corpus
from tests.model_server_fixture import ModelServerControl

READER, READERS = entry("reader", [PROJECT])
OTHER, OTHERS = entry("other", ["other-project"])
SEVERAL, OF_SEVERAL = entry("several", ["other-project", f"{PROJECT[:2]}*"])

CREDENTIALS: dict[str, dict[str, str]] = {
    "none": {},
    "a wrong key": {"x-api-key": "wrong"},
    "an empty key": {"x-api-key": ""},
    "a wrong token": {"authorization": "Bearer wrong"},
    "another scheme": {"authorization": f"Basic {READER}"},
    "a function key": {"x-functions-key": READER},
    "a cookie": {"cookie": f"x-api-key={READER}"},
    "a forged principal": {"x-ms-client-principal": "eyJhdXRoX3R5cCI6ImFhZCJ9"},
    "two keys": {"x-api-key": READER, "authorization": f"Bearer {OTHER}"},
}


@pytest.fixture
async def guarded(
    environment: pytest.MonkeyPatch,
    corpus: Corpus,  # noqa: ARG001 - the graph is filled
    model_server: ModelServerControl,  # noqa: ARG001 - without faults
) -> AsyncIterator[Caller]:
    """A client of a function that has keys of its own."""
    use_keys(environment, READERS, OTHERS, OF_SEVERAL)
    async with serving() as url, calling(url) as caller:
        yield caller


async def test_no_route_answers_without_a_credential(guarded: Caller) -> None:
    routes = [
        (method, "/" + re.sub(r"{[^}]*}", "p", route.path))
        for route in ROUTES
        if not route.is_open
        for method in route.methods.split()
    ]
    assert len(routes) >= 4
    for (name, credential), (method, path) in product(CREDENTIALS.items(), routes):
        reply = await guarded.client.request(method, path, headers=credential, json={})
        assert reply.status_code == 401, (name, method, path, reply.text)
        if path.startswith(("/v1/", "/dify/")):  # errors in the shapes of those programs
            assert set(reply.json()) in ({"error"}, {"error_code", "error_msg"})
        else:
            assert reply.json()["code"] == "unauthenticated"
            assert set(reply.json()) == PROBLEM_FIELDS
        assert reply.headers["www-authenticate"] == "Bearer"


async def test_a_key_gets_the_answer_of_its_project(guarded: Caller) -> None:
    for credential in ({"x-api-key": READER}, {"authorization": f"Bearer {READER}"}):
        asked = {"query": QUESTION, "project_id": PROJECT}
        answered = await guarded.client.post("/retrieve", json=asked, headers=credential)
        assert answered.json()["key_facts"]
    left_out = await guarded.client.post(
        "/retrieve", json={"query": QUESTION}, headers={"x-api-key": READER}
    )
    assert left_out.json()["key_facts"]


@pytest.mark.parametrize("project_id", [PROJECT, "absent"])
async def test_another_project_is_refused_the_same_way_whether_it_exists_or_not(
    guarded: Caller, project_id: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "drift")
    guarded.client.headers["x-api-key"] = OTHER
    reply = await guarded.ask(project_id=project_id)
    body = {name: text for name, text in reply.json().items() if name != "retrieval_id"}
    assert body == {
        "type": "about:blank",
        "title": "Forbidden",
        "status": 403,
        "detail": "This credential has no read right on this project.",
        "code": "forbidden",
    }
    (denied,) = [json.loads(r.getMessage()) for r in caplog.records if "denied" in r.getMessage()]
    assert (denied["caller"], denied["project_id"]) == ("other", project_id)
    assert "canary" not in caplog.text
    assert "retrieval_started" not in caplog.text


async def test_a_caller_of_several_names_one(guarded: Caller) -> None:
    guarded.client.headers["x-api-key"] = SEVERAL
    assert (await guarded.answer())["key_facts"]
    reply = await guarded.client.post("/retrieve", json={"query": QUESTION, "project_id": "ot"})
    assert reply.status_code == 403


async def test_ready_tells_a_key_how_access_stands(guarded: Caller) -> None:
    guarded.client.headers["x-api-key"] = OTHER
    ready = await guarded.client.get("/health/ready")
    assert (ready.status_code, ready.json()["access"]) == (200, "ok: PROJECT_KEYS")


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ("", "PROJECT_KEYS"),
        ('[{"name": "canary"}]', "entry 1, sha256"),
    ],
    ids=["empty", "half"],
)
async def test_keys_that_cannot_be_used_are_503_and_name_the_place(
    environment: pytest.MonkeyPatch, value: str, place: str
) -> None:
    environment.setenv("AUTH_MODE", "keys")
    environment.setenv("PROJECT_KEYS", value)
    async with serving() as url, calling(url) as caller:
        for reply in [await caller.ask(), await caller.client.get("/health/ready")]:
            assert reply.status_code == 503
            assert place in reply.json()["detail"]
            assert "canary" not in reply.text
            assert READERS["sha256"] not in reply.text
        assert (await caller.client.get("/health/live")).status_code == 200


async def test_what_else_is_missing_is_told_to_known_callers_only(
    environment: pytest.MonkeyPatch,
) -> None:
    environment.delenv("NEO4J_URI")
    use_keys(environment, READERS)
    async with serving() as url, calling(url) as caller:
        assert "NEO4J" not in (await caller.ask()).text
        known = await caller.client.post(
            "/retrieve", json={"query": QUESTION}, headers={"x-api-key": READER}
        )
        assert (known.status_code, known.json()["code"]) == (503, "not_configured")
        assert "NEO4J_URI" in known.text


async def test_a_large_body_of_nobody_is_not_read(guarded: Caller) -> None:
    reply: httpx2.Response = await guarded.send(b"{" + b" " * 70_000)
    assert reply.status_code == 401

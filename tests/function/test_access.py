"""Who may ask what, over the function's own routes."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator

import httpx2
import pytest

from drift.local.hosts.local_host import serving
from tests.function.access_keys import entry, use_keys
from tests.function.calling import Caller, calling
from tests.function.corpus import PROJECT, Corpus
from tests.model_server_fixture import ModelServerControl

OTHER, OTHERS = entry("other", ["other-project"])


@pytest.fixture
async def guarded(
    environment: pytest.MonkeyPatch,
    corpus: Corpus,  # noqa: ARG001 - the graph is filled
    model_server: ModelServerControl,  # noqa: ARG001 - without faults
) -> AsyncIterator[Caller]:
    """A client of a function that has keys of its own."""
    use_keys(environment, OTHERS)
    async with serving() as url, calling(url) as caller:
        yield caller


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


async def test_ready_tells_a_key_how_access_stands(guarded: Caller) -> None:
    guarded.client.headers["x-api-key"] = OTHER
    ready = await guarded.client.get("/health/ready")
    assert (ready.status_code, ready.json()["access"]) == (200, "ok: PROJECT_KEYS")


async def test_a_large_body_of_nobody_is_not_read(guarded: Caller) -> None:
    reply: httpx2.Response = await guarded.send(b"{" + b" " * 70_000)
    assert reply.status_code == 401

"""Bodies that break the contract.

400, every broken field named at once, the service none the worse.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from drift.local.hosts.local_host import serving
from tests.function.calling import Caller, assert_is_problem, calling
from tests.model_server_fixture import ModelServerControl

GOOD = {"query": "Who is asked?", "project_id": "harbour"}


def changed(**fields: Any) -> bytes:
    """Return a good body with these fields instead."""
    return json.dumps({**GOOD, **fields}).encode()


WHOLE = ("",)
BAD_BODIES: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "half of it": (b'{"query": "x", ', WHOLE),
    "a raw lone surrogate": (b'{"query": "a\xed\xa0\x80b", "project_id": "p"}', WHOLE),
    "deep nesting": (b"[" * 20_000 + b"]" * 20_000, WHOLE),
    "all of it wrong": (
        changed(
            query="",
            project_id="",
            top_k="5",
            retrieval_id="x",
            include=["usage", 1],
            more=1,
            evenmore=2,
        ),
        ("query", "project_id", "top_k", "retrieval_id", "include.1", "more", "evenmore"),
    ),
}


async def test_a_bad_body_is_refused_by_name() -> None:
    # before a setting is read: no server stands behind it
    async with serving() as url, calling(url) as caller:
        for body, fields in BAD_BODIES.values():
            document = assert_is_problem(await caller.send(body), 400, "invalid_request")
            assert {error["field"] for error in document["errors"]} == set(fields)
            for error in document["errors"]:
                assert set(error) == {"field", "message"}
                assert error["message"]
            assert len(json.dumps(document)) < 4_000, "the body must not come back"


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_the_most_that_is_allowed_is_accepted_and_no_model_asked_about_the_rest(
    function: Caller, model_server: ModelServerControl
) -> None:
    await function.send(changed(top_k=0))
    assert model_server.counts() == {}

    padded = changed(project_id="unknown")
    for body in (
        changed(query="  " + "x" * 4000 + "  ", project_id="p" * 128, top_k=50, include=[]),
        b'{"query": "\\ud83d\\ude00", "project_id": "unknown"}',
        padded + b" " * (64 * 1024 - len(padded)),
    ):
        response = await function.send(body)
        assert response.status_code == 200, response.text
        assert response.json()["no_data_found"] is True

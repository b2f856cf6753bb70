"""The largest bodies that are taken; those that are not stand in tests/security."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.function.calling import Caller
from tests.model_server_fixture import ModelServerControl

GOOD = {"query": "Who is asked?", "project_id": "harbour"}


def changed(**fields: Any) -> bytes:
    """Return a good body with these fields instead."""
    return json.dumps({**GOOD, **fields}).encode()


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

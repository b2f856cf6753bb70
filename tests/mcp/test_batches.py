"""Several messages in one POST, as one version of the protocol has it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.fakes_reading import FakeReader
from tests.mcp.calling import ERAS, TOOLS, message
from tests.mcp.conftest import Serve
from tests.mcp.test_bad_calls import post, reading

pytestmark = pytest.mark.asyncio(loop_scope="module")

OLD = "2025-03-26"


def batch(*messages: Any, era: str = OLD) -> tuple[dict[str, str], bytes]:
    return message("", {}, era)[0], json.dumps(messages).encode()


def numbered(number: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


async def test_a_batch_is_answered_message_by_message(url: str, serve: Serve) -> None:
    serve(reading(FakeReader()))
    notified = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    listed = numbered("a", "tools/call", name="list_projects", arguments={})
    sent = batch(numbered(1, "tools/list"), notified, listed, 7, numbered(3, "tools/write"))
    answer = await post(url, sent)
    assert answer.status == 200
    told = answer.json()
    assert [one.get("id") for one in told] == [1, "a", None, 3]
    assert {one["name"] for one in told[0]["result"]["tools"]} == TOOLS
    assert told[1]["result"]["structuredContent"]["projects"] == []
    assert [one["error"]["code"] for one in told[2:]] == [-32600, -32601]
    without_header = {name: value for name, value in sent[0].items() if "version" not in name}
    assert (await post(url, (without_header, sent[1]))).json() == told

    silent = await post(url, batch(notified))
    assert (silent.status, silent.body) == (202, b"")


async def test_a_batch_is_bounded_and_of_its_version_alone(url: str, serve: Serve) -> None:
    serve(reading(FakeReader()))
    many = await post(url, batch(*[numbered(n, "ping") for n in range(33)]))
    assert (many.status, many.json()["error"]["code"]) == (400, -32600)
    for era in (*ERAS, "2025-11-25"):
        answer = await post(url, batch(numbered(1, "ping"), era=era))
        assert answer.status == 400, era
    foreign = await post(url, batch(numbered(1, "ping")), origin="https://elsewhere.example")
    assert foreign.status == 403

"""The inspector's command line, a client in another language, against the function."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.function.access_keys import entry, use_keys
from tests.function.calling import Caller
from tests.function.corpus import PROJECT, QUESTION
from tests.lint.node_packages import installed, node
from tests.mcp.calling import TOOLS

pytestmark = [pytest.mark.deep, pytest.mark.timeout(300)]

KEY, OWN = entry("inspector", [PROJECT])


@pytest.fixture(scope="module")
def program() -> Path:
    """The program, fetched before the test's own time limit counts."""
    packages = installed(Path(__file__).with_name("inspector"), "mcp-inspector")
    return packages / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"


@pytest.fixture
def environment(environment: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The settings of a function that asks for keys."""
    use_keys(environment, OWN)
    return environment


async def test_the_inspector_lists_and_calls_the_tools(function: Caller, program: Path) -> None:
    url = f"{str(function.client.base_url).rstrip('/')}/mcp"

    async def inspect(*arguments: str) -> dict[str, Any]:
        given = ("--cli", url, "--transport", "http", "--header", f"x-api-key: {KEY}", *arguments)
        printed = await asyncio.to_thread(partial(node, program, *given, text=""))
        read: dict[str, Any] = json.loads(printed)
        return read

    listed = await inspect("--method", "tools/list")
    assert {one["name"] for one in listed["tools"]} == TOOLS

    call = ("--method", "tools/call", "--tool-name")
    asked = ("--tool-arg", f"question={QUESTION}")
    found = await inspect(*call, "search", *asked)
    assert "four metres" in found["structuredContent"]["passages"][0]["text"]
    answer = await inspect(*call, "retrieve", *asked, "--tool-arg", "depth=drift")
    assert answer["structuredContent"]["verdict"] == "answered"

    (template,) = (await inspect("--method", "resources/templates/list"))["resourceTemplates"]
    assert template["uriTemplate"] == "drift://{project}/documents/{document_id}"
    uri = f"drift://{PROJECT}/documents/Lighthouse.md"
    (document,) = (await inspect("--method", "resources/read", "--uri", uri))["contents"]
    assert document["text"].startswith("Lighthouse")

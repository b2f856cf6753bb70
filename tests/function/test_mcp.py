"""The tools over the function's own route with real servers behind it, by the official client."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from mcp import MCPError
from mcp.client import Client
from mcp_types import CallToolResult

from tests.function.calling import Caller
from tests.function.corpus import PROJECT, QUESTION, TEXTS, WITHOUT_COMMUNITIES, Corpus
from tests.mcp.calling import ERAS, TOOLS, connected

pytestmark = pytest.mark.slow


def told(result: CallToolResult) -> dict[str, Any]:
    """Return what a tool gave; its one text says the same as JSON."""
    assert not result.is_error, result.content
    (text,) = result.content
    assert json.loads(text.text) == result.structured_content
    assert result.structured_content is not None
    return result.structured_content


async def answered(client: Client) -> tuple[dict[str, Any], list[float]]:
    """Ask the question of the corpus; return the answer, and the progress that was told."""
    progress: list[float] = []

    async def hear(done: float, total: float | None, message: str | None) -> None:
        assert (total, bool(message)) == (100, True)
        progress.append(done)

    asked = {"question": QUESTION, "project": PROJECT, "depth": "drift"}
    return told(await client.call_tool("retrieve", asked, progress_callback=hear)), progress


@pytest.mark.parametrize("era", ERAS)
async def test_an_agent_finds_its_way_from_projects_to_the_source(
    function: Caller, corpus: Corpus, era: str
) -> None:
    async with connected(str(function.client.base_url).rstrip("/"), era) as client:
        assert {one.name for one in (await client.list_tools()).tools} == TOOLS

        projects = told(await client.call_tool("list_projects", {}))["projects"]
        (about,) = (one for one in projects if one["id"] == PROJECT)
        assert about["documents"] == len(TEXTS)
        assert set(about["document_names"]) == set(TEXTS)
        assert about["topics"]
        assert WITHOUT_COMMUNITIES in {one["id"] for one in projects}

        answer, progress = await answered(client)
        assert (answer["verdict"], "four metres" in answer["answer"]) == ("answered", True)
        assert all(corpus.holds(one["span"]) for one in answer["references"])
        assert progress == sorted(set(progress))
        assert (progress[0], progress[-1]) == (0, 100)

        found = told(await client.call_tool("search", {"question": QUESTION, "project": PROJECT}))
        best = found["passages"][0]
        assert "four metres" in best["text"]

        reference = answer["references"][0]
        read = {"chunk_id": reference["chunk_id"], "project": PROJECT}
        source = told(await client.call_tool("read_source", read))
        assert any(reference["span"] in one["text"] for one in source["passages"])

        uri = f"drift://{PROJECT}/documents/{quote(source['document_id'], safe='')}"
        (document,) = (await client.read_resource(uri)).contents
        assert document.text.startswith(source["document_name"])
        assert all(one["text"] in document.text for one in source["passages"])


@pytest.mark.parametrize("era", ERAS)
async def test_what_is_not_there_is_said_in_words_that_help(function: Caller, era: str) -> None:
    async with connected(str(function.client.base_url).rstrip("/"), era) as client:
        unknown = {"question": QUESTION, "project": "nobody-has-this"}
        assert told(await client.call_tool("retrieve", unknown))["verdict"] == "not_found"
        assert told(await client.call_tool("search", unknown)) == {"passages": []}

        nothing = await client.call_tool("read_source", {"chunk_id": "none", "project": PROJECT})
        assert nothing.is_error
        assert "no passage of this chunk_id" in nothing.content[0].text

        unnamed = await client.call_tool("retrieve", {"question": QUESTION})
        assert unnamed.is_error
        assert "list_projects tells which there are" in unnamed.content[0].text

        with pytest.raises(MCPError, match="no document of this id") as refused:
            await client.read_resource(f"drift://{PROJECT}/documents/none")
        assert refused.value.error.code == -32602

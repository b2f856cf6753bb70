"""A question in a conversation, over each way that takes one, with the servers behind it."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from tests.function.calling import Caller
from tests.function.corpus import PROJECT, Corpus
from tests.mcp.calling import MODERN, connected
from tests.model_server_fixture import ModelServerControl

HISTORY = [
    {"role": "user", "content": "What does the Lighthouse measure?"},
    {"role": "assistant", "content": "The Lighthouse measures wind, fog and depth."},
]
ASKED, MEANT = "Who does its keeper report to?", "Who does Lighthouse's keeper report to?"
REPORTS = "reports\nto the Harbour Office every hour."


@pytest.mark.parametrize("depth", ["quick", "auto", "drift"])
async def test_a_question_is_searched_for_as_it_stands_alone(
    function: Caller, corpus: Corpus, model_server: ModelServerControl, depth: str
) -> None:
    model_server.reset()
    include = ["query", "usage", "trace"]
    answer = await function.answer(ASKED, depth=depth, history=HISTORY, include=include)
    assert answer["query"] == {"asked": ASKED, "searched": MEANT, "rewritten": True}
    spans = [one["span"] for fact in answer["key_facts"] for one in fact["citations"]]
    assert any("every hour" in span for span in spans)
    assert all(corpus.holds(span) for span in spans)
    assert model_server.counts()["standalone_reply"] == 1
    assert answer["usage"]["chat_calls"] == sum(model_server.counts().values()) - (
        model_server.counts().get("embedding", 0)
    )


async def test_progress_says_what_is_searched_for(function: Caller) -> None:
    async with function.streaming(query=ASKED, history=HISTORY, depth="quick") as events:
        told = [data for name, data in await events.all() if name == "progress"]
    details = [one.get("details_md") for one in told if one["phase"] == "expanding_query"]
    assert MEANT in details


async def test_a_failing_model_costs_the_step_alone(
    function: Caller, model_server: ModelServerControl
) -> None:
    rule: dict[str, Any] = {"fault": "refusal", "kind": "standalone_reply"}
    model_server.fail(rule)
    include = ["query", "trace"]
    answer = await function.answer(depth="quick", history=HISTORY, include=include)
    assert answer["key_facts"]
    assert (answer["query"]["rewritten"], answer["trace"]["rewriting"]) == (False, "lost")


async def test_chat_programs_and_agents_ask_in_a_conversation(
    function: Caller, model_server: ModelServerControl
) -> None:
    url = str(function.client.base_url).rstrip("/")
    model_server.reset()
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client:
        messages: Any = [*HISTORY, {"role": "user", "content": ASKED}]
        got = await client.chat.completions.create(model=f"{PROJECT}:quick", messages=messages)
    assert "every hour" in str(got.choices[0].message.content)

    async with connected(url, MODERN) as agent:
        asked = {"question": ASKED, "project": PROJECT, "depth": "quick", "history": HISTORY}
        result = await agent.call_tool("retrieve", asked)
    assert result.structured_content
    assert "every hour" in result.structured_content["answer"]
    assert model_server.counts()["standalone_reply"] == 2

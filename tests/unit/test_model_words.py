"""Everything that reads a model's words meets words that are made to break it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.contracts.final_replies import ANSWER_CUT
from drift.contracts.replies import MAX_ANSWER_CHARS
from drift.core.errors import DriftError
from drift.llm.errors import failure
from drift.llm.growing import GrowingText, whole_characters
from drift.llm.openai.replies import API, OpenAIReply
from drift.local.event_stream import read_events
from drift.nodes.node_citations import cited, cleaned
from tests.fakes import Heard, request
from tests.unit.searching import aggregated, local, primer, run_of

WORDS = {
    "raised digits": "He knew it\u00b9" + "\u00b2" * 5_000,
    "numbers without end": "[" + "9" * 5_000 + "] He knew it [1-" + "9" * 5_000 + "].",
    "ranges": "He knew it [" + "1-9999," * 2_000 + "1].",
    "open brackets": "He knew it [1]. " + "[(\u3010<sup>" * 2_000,
    "odd backticks": "".join("`" * (n % 9) + " a. [1] " for n in range(900)),
    "nested quotations": ">" * 3_000 + " He knew it [1].",
    "rules": "|---" * 3_000 + "|\n" + "- " * 3_000 + "[1]",
    "half a character": "He knew it \ud83d [1]. \ude00",
    "no characters": "\0\x1b[2J\u202e\ufeff\u200d [1].\r\r\n\u2028",
    "combining": "e" + "\u0301" * 5_000 + " [1].",
    "handles": "K1 and C1, K99999999, K1.1-K1.9 " * 200 + "[1].",
    "nodes": "[Node " * 2_000 + "1]" * 2_000 + "[Node " + "9" * 5_000 + "]",
    "nothing": " \n\t ",
}
VALUES: dict[str, Any] = {
    "none": None,
    "a number": 10**400,
    "an object": {"text": "He knew it [1]."},
}
DOCUMENTS = {
    "nested lists": "[" * 100_000,
    "a long number": '{"verdict": ' + "9" * 5_000 + "}",
    "half a character, written": '{"verdict": "answered", "sentences": [["He \\ud83d.", 1]]}',
    "not a number": '{"verdict": NaN, "sentences": Infinity}',
    "cut": '{"verdict": "answered", "sentences": [["He knew it.", 1',
    "twice": '{"answer": "a"}{"answer": "b"}',
}


def replies(words: Any) -> dict[str, Any]:
    """Return a whole search whose every text is `words`."""
    return {
        "hypothesis": whole_characters(words if isinstance(words, str) else json.dumps(words)),
        "primer_reply": {**primer("Who made alpha?"), "initial_answer": words, "rationale": words},
        "local_reply": {**local(), "answer": words},
        "aggregate_reply": {**aggregated(), "sentences": words, "residual_uncertainty": words},
        "quick_reply": {**local(), "evidence": ["K1.1", words], "sentences": [[words, 1]]},
    }


async def assert_survives(scripted: dict[str, Any]) -> None:
    """Check that a search ends in an answer that can be sent, or in an error of ours."""
    for depth in ("quick", "drift"):
        heard = Heard()
        with suppress(DriftError):
            found = await run_of(**scripted)(request(depth=depth), heard)
            found.model_dump_json().encode()
            assert heard.text in {"", found.final_answer}
        heard.text.encode()


@pytest.mark.parametrize("name", [*WORDS, *VALUES])
async def test_a_search_of_hostile_words_ends(name: str) -> None:
    await assert_survives(replies((WORDS | VALUES)[name]))


@pytest.mark.parametrize("name", DOCUMENTS)
async def test_a_search_of_hostile_documents_ends(name: str) -> None:
    await assert_survives(dict.fromkeys(replies(""), DOCUMENTS[name]))


@pytest.mark.parametrize("name", ["raised digits", "numbers without end", "nodes"])
def test_an_answer_over_nodes_is_read_whatever_it_is(name: str) -> None:
    for end in range(0, len(WORDS[name]), 500):
        assert cited(cleaned(WORDS[name][:end], 5)) <= set(range(1, 6))


BODIES = {
    "nested lists": DOCUMENTS["nested lists"],
    "a long count": '{"choices": [], "usage": {"prompt_tokens": ' + "9" * 5_000 + "}}",
    "no choice": '{"choices": [null]}',
    "choices nested": '{"choices": ' + "[" * 100_000,
    "a message of numbers": '{"choices": [{"message": {"content": 5}}]}',
    "bytes of no text": "\ud83d",
}


@contextmanager
def told_as_ours() -> Iterator[None]:
    """Let errors pass that a request gets in words of ours."""
    try:
        yield
    except DriftError:
        pass
    except Exception as error:
        if failure(error, "OAI_MODEL") is None:
            raise


async def read(body: bytes, kind: str, reply: OpenAIReply) -> str:
    asked = httpx2.Request("POST", "https://one.example")
    response = httpx2.Response(200, content=body, headers={"content-type": kind}, request=asked)
    return (await API.read(response, reply)).completion.text


@pytest.mark.parametrize("name", BODIES)
async def test_a_body_of_a_model_server_is_read_or_told_as_an_error_of_ours(name: str) -> None:
    body = BODIES[name].encode("utf-8", "surrogatepass")
    with told_as_ours():
        assert isinstance(await read(body, "application/json", OpenAIReply()), str)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=9,
)
SURROGATES = re.compile("[\ud800-\udfff]")
KEYS = ("choices", "delta", "content", "finish_reason", "usage", "error", "refusal", "tool_calls")


@given(
    st.recursive(
        JSON | st.text(st.characters(categories=("Cs", "Ll"))),
        lambda inner: (
            st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
        ),
        max_leaves=9,
    )
)
def test_any_event_of_a_stream_is_taken_or_told_as_an_error_of_ours(event: Any) -> None:
    heard: list[str] = []
    events = b"data: " + json.dumps(event).encode() + b"\n\n"
    reply = OpenAIReply(growing=GrowingText(heard.append))
    with told_as_ours():
        asyncio.run(read(events * 2 + b"data: [DONE]", "text/event-stream", reply))
    assert not SURROGATES.search("".join(heard))


@pytest.mark.parametrize("depth", ["quick", "drift"])
async def test_an_answer_that_was_cut_says_so(depth: str) -> None:
    long = "It is so [1]. " * MAX_ANSWER_CHARS
    found = await run_of(
        quick_reply={**local(), "evidence": ["K1.1"], "sentences": long, "confidence": 0.9},
        aggregate_reply={**aggregated(doubt="Who knows."), "sentences": long},
    )(request(depth=depth))

    assert len(found.final_answer) <= MAX_ANSWER_CHARS
    assert found.residual_uncertainty.startswith(ANSWER_CUT)


@pytest.mark.parametrize(
    "data", [DOCUMENTS["nested lists"], DOCUMENTS["a long number"], DOCUMENTS["cut"], "[1]", ""]
)
async def test_an_event_of_the_service_is_an_object_or_an_error_of_http(data: str) -> None:
    body = f"event: result\ndata: {data}\n\n"
    response = httpx2.Response(200, content=body, request=httpx2.Request("GET", "http://a"))
    with suppress(httpx2.HTTPError):
        assert [type(document) async for _, document in read_events(response)] in ([], [dict])

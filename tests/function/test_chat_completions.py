"""A project as a model of OpenAI's API, asked by OpenAI's own client over a socket."""

from __future__ import annotations

import json
import re
from typing import Any

import openai
import pytest

from drift.answer.references import line_of
from drift.contracts.answer import ReferenceOut, ReferencesOut, RetrieveResponse, SignalsOut
from drift.contracts.chat_completions import CompletionRequest
from drift.integrations.chat_completions import ChatStream, completion, models, project_of
from tests.function.access_keys import entry, use_keys
from tests.function.calling import Caller
from tests.function.corpus import PROJECT, QUESTION
from tests.model_server_fixture import ModelServerControl

MODEL = f"{PROJECT}:quick"
ASKED = [{"role": "user", "content": QUESTION}]
JSON_OBJECT = {"type": "json_object"}
PICTURE = f"data:image/png;base64,{'A' * 1_500_000}"
TITLE_TASK = f"""### Task:
Generate a concise, 3-5 word title with an emoji summarizing the chat history.
### Output:
JSON format: {{"title": "..."}}
### Chat History:
<chat_history>
USER: {QUESTION}
ASSISTANT: In fog.
</chat_history>"""


def client(function: Caller, key: str = "any") -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(
        base_url=f"{function.client.base_url}/v1".replace("//v1", "/v1"), api_key=key, max_retries=0
    )


async def test_an_answer_has_its_references_below_it(function: Caller) -> None:
    async with client(function) as asking:
        got = await asking.chat.completions.create(model=MODEL, messages=ASKED)
    text = got.choices[0].message.content
    document = got.model_extra["drift"]
    first = document["references"]["items"][0]
    assert got.model == MODEL
    assert "[1]" in text.partition("**References**")[0]
    assert f"1. [{first['label']}]({first['source_uri']})" in text
    assert first["span"][:40] in text
    assert "Limits:" not in text
    assert document["verdict"]["verdict"] == "answered"
    assert got.usage.total_tokens == got.usage.prompt_tokens + got.usage.completion_tokens > 0


async def test_a_stream_tells_the_same_sentences_and_ends(function: Caller) -> None:
    told, extra, usage = "", None, None
    async with client(function) as asking:
        stream = await asking.chat.completions.create(
            model=MODEL, messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
        async for chunk in stream:
            usage = chunk.usage or usage
            if chunk.choices:
                told += chunk.choices[0].delta.content or ""
                extra = (chunk.model_extra or {}).get("drift", extra)
    answer, _, references = told.partition("\n\n**References**\n")
    assert answer == extra["final_answer"]
    assert references.count("\n") == len(extra["references"]["items"])
    assert usage.total_tokens > 0


SENT: dict[str, dict[str, Any]] = {
    "open webui, with the fields of its own": {
        "messages": [{"role": "system", "content": "Be brief."}, *ASKED],
        "stream": False,
        "metadata": {"chat_id": "c1", "user_id": "u1"},
        "features": {"web_search": False},
        "background_tasks": {"title_generation": True},
        "temperature": 0.2,
    },
    "null for what is left out": {
        "messages": [{"role": "user", "content": QUESTION, "name": None}],
        **dict.fromkeys(("stream", "n", "tool_choice", "tools", "user", "temperature", "stop")),
        "stream_options": {"include_usage": None},
    },
    "an old picture, and messages of any shape": {
        "messages": [
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": PICTURE}}]},
            {"role": "assistant", "content": None, "tool_calls": [{"id": 1}]},
            *({"role": 7, "content": {}}, "text", None, {}),
            *ASKED,
            {"role": "tool", "content": [1]},
        ]
    },
    "librechat: parts of text, a user, penalties": {
        "messages": [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}],
        "user": "64f0",
        "presence_penalty": 0,
        "frequency_penalty": 0,
        "top_p": 1,
    },
    "too long": {"messages": [{"role": "user", "content": f"{'x ' * 9_000}\n{QUESTION}"}]},
    "3,001 messages": {
        "messages": [*ASKED, {"role": "assistant", "content": "In fog."}] * 1_500 + ASKED
    },
    "tools": {
        "messages": ASKED,
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
        "tool_choice": "auto",
    },
}


async def test_what_programs_send_is_answered(function: Caller) -> None:
    for name, body in SENT.items():
        sent = {"model": MODEL, **body}
        got = await function.client.post("/v1/chat/completions", json=sent)
        assert got.status_code == 200, (name, got.text)
        assert got.json()["choices"][0]["message"]["content"], name


async def test_a_task_of_a_program_is_answered_without_a_search(
    function: Caller, model_server: ModelServerControl
) -> None:
    model_server.reset()
    asked = [{"role": "user", "content": TITLE_TASK}]
    async with client(function) as asking:
        got = await asking.chat.completions.create(model=MODEL, messages=asked)
        stream = await asking.chat.completions.create(model=MODEL, messages=asked, stream=True)
        told = "".join([one.choices[0].delta.content or "" async for one in stream])
    assert set(json.loads(got.choices[0].message.content)) == {"title"}
    assert told == got.choices[0].message.content
    assert got.usage.total_tokens == 0
    assert model_server.requests() == []


async def test_the_question_alone_is_searched_with(
    function: Caller, model_server: ModelServerControl
) -> None:
    template = f"### Task:\nAnswer.\n<context>\nlighthouses of Peru\n</context>\n\n{QUESTION}"
    model_server.reset()
    async with client(function) as asking:
        got = await asking.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": template}]
        )
    assert got.model_extra["drift"]["verdict"]["verdict"] == "answered"
    assert "Peru" not in json.dumps([one["body"] for one in model_server.requests()])


def says(content: Any, role: str = "user") -> dict[str, Any]:
    """Return a body whose one message says this."""
    return {"messages": [{"role": role, "content": content}]}


async def test_an_error_has_the_shape_of_that_api(function: Caller) -> None:
    for changes, status, code, field in (
        ({"model": "nobody's"}, 404, "model_not_found", None),
        (says("Be brief.", "system"), 400, "invalid_request", "messages"),
        ({"messages": []}, 400, "invalid_request", "messages"),
        (says(" "), 400, "invalid_request", "messages"),
        (says("a\0b"), 400, "invalid_request", "messages"),
        (says([{"type": "image_url", "image_url": {}}]), 400, "invalid_request", "messages"),
        ({"n": 2}, 400, "invalid_request", "n"),
        ({"tool_choice": "required"}, 400, "invalid_request", "tool_choice"),
        ({"response_format": JSON_OBJECT}, 400, "invalid_request", "response_format"),
        ({"model": None}, 400, "invalid_request", "model"),
        ({"stream": "perhaps"}, 400, "invalid_request", "stream"),
        ({"messages": "Why?"}, 400, "invalid_request", "messages"),
        (says(7), 400, "invalid_request", "messages"),
        (says("x" * 1_100_000), 413, "too_large", None),
    ):
        got = await function.client.post(
            "/v1/chat/completions", json={"model": MODEL, "messages": ASKED, **changes}
        )
        error = got.json()["error"]
        told = (got.status_code, error["code"], error["param"])
        assert told == (status, code, field), list(changes)
        assert error["message"]
        assert not re.search("pydantic|Input should|valid (string|list|dict)", error["message"])
        assert error["type"].endswith("_error")


async def test_an_answer_and_a_stream_name_what_they_do_not_depend_on(function: Caller) -> None:
    body = {"model": MODEL, "messages": [{"role": "system", "content": "Rhyme."}, *ASKED]}
    for stream in (False, True):
        sent = {**body, "stream": stream, "temperature": 1}
        got = await function.client.post("/v1/chat/completions", json=sent)
        assert got.headers["x-drift-unused"] == "messages.system, temperature"


async def test_what_this_service_has_not_is_named_with_what_it_has(function: Caller) -> None:
    async with client(function) as asking:
        with pytest.raises(openai.NotFoundError, match="no Responses API") as responses:
            await asking.responses.create(model=MODEL, input=QUESTION)
        with pytest.raises(openai.NotFoundError, match="v1/chat/completions") as embeddings:
            await asking.embeddings.create(model=MODEL, input=QUESTION)
    assert {responses.value.code, embeddings.value.code} == {"unknown_url"}


async def test_a_stream_of_an_unknown_model_ends_with_an_error(function: Caller) -> None:
    async with client(function) as asking:
        stream = await asking.chat.completions.create(model="none", messages=ASKED, stream=True)
        with pytest.raises(openai.APIError, match="no model 'none'"):
            _ = [chunk async for chunk in stream]


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_stream_tells_the_words_of_the_whole_answer(size: int) -> None:
    text = "See <b>\\*</b>: ![a](b) `<i>` & [c](http://d) `x\n\n```\n<b>"
    request = CompletionRequest(model="m", messages=[{"role": "user"}])
    response = RetrieveResponse(final_answer=text, key_facts=[], residual_uncertainty="")
    stream, told = ChatStream(request, "id"), ""
    for begins in range(0, len(text), size):
        stream.answer_delta(text[begins : begins + size])
    stream._finish(response)
    for event in stream.events:
        if event.startswith(b"data: {"):
            told += json.loads(event[6:])["choices"][0]["delta"].get("content", "")
    whole = json.loads(completion(request, "id", response).body)
    assert told == whole["choices"][0]["message"]["content"]
    assert "<b>" not in told.partition("```")[0]


async def test_what_was_told_and_is_withdrawn_is_said() -> None:
    stream = ChatStream(CompletionRequest(model="m", messages=[{"role": "user"}]), "id")
    stream.answer_delta("It is so.")
    stream.answer_replaced("It is not so.")
    told = [json.loads(event[6:]) for event in stream.events]
    said = [chunk["choices"][0]["delta"]["content"] for chunk in told]
    assert said[1] == "It is so."
    assert "withdrawn" in said[2]
    assert said[2].endswith("It is not so.")


SLY = "https://a.example\n\n[x]:https://evil.example\n\n![x]"


def test_a_text_from_documents_stays_text() -> None:
    span = "See ![x](https://evil.example/?q) and <img src=x> here."
    item = ReferenceOut(
        number=1,
        label="![l](https://evil.example)",
        chunk_id="c",
        document_name="d",
        span=span,
        source_uri="https://docs.example.com/a",
        confidence=1,
        signals=SignalsOut(),
    )
    sly = {"label": "l", "span": "http://e.example/<img src=x>", "source_uri": SLY, "number": 2}
    items = [item, item.model_copy(update=sly)]
    text = "It says so[1].\n\nReferences:\nThey follow.\n\n![y](https://evil.example/?z)"
    listed = "\n".join(map(line_of, items))
    told = f"{text}\n\nReferences:\n{listed}\n\nLimits:\n- One."
    references = ReferencesOut(answer=told, items=items, confidence=1, limits=["One."])
    response = RetrieveResponse(
        final_answer=text, key_facts=[], residual_uncertainty="", references=references
    )
    request = CompletionRequest(model="m", messages=[{"role": "user"}])
    content = json.loads(completion(request, "id", response).body)["choices"][0]["message"][
        "content"
    ]
    assert "They follow." in content
    assert "Limits:" not in content
    assert "![" not in content
    assert "\\<img" in content
    assert "\n2. l: “http://e.example/&lt;img" in content


def test_a_project_named_like_a_depth_is_asked_by_its_own_name() -> None:
    listed = [one["id"] for one in json.loads(models(["a", "a:quick"]).body)["data"]]
    assert listed == ["a", "a:quick", "a:quick:auto", "a:quick:quick"]
    assert [project_of(one) for one in listed] == [
        ("a", "auto"),
        ("a", "quick"),
        ("a:quick", "auto"),
        ("a:quick", "quick"),
    ]


async def test_a_key_opens_its_own_projects_alone(
    environment: pytest.MonkeyPatch, function: Caller
) -> None:
    (own, of_own), (other, of_other) = entry("app", [PROJECT]), entry("guest", ["another"])
    use_keys(environment, of_own, of_other)
    async with client(function, own) as asking:
        assert {model.id async for model in asking.models.list()} == {PROJECT, MODEL}
        assert (await asking.chat.completions.create(model=MODEL, messages=ASKED)).choices
    async with client(function, other) as asking:
        assert not [model async for model in asking.models.list()]
        with pytest.raises(openai.PermissionDeniedError) as refused:
            await asking.chat.completions.create(model=MODEL, messages=ASKED)
        assert refused.value.body["type"] == "permission_error"
    async with client(function, "wrong") as asking:
        with pytest.raises(openai.AuthenticationError):
            await asking.models.list()

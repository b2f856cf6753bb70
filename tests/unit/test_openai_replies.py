from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from drift.core.errors import ModelMisconfiguredError, UnusableReplyError
from drift.llm.openai.replies import ChatCompletion

MESSAGE = {"role": "assistant", "content": "Names are resolved."}


def answer(body: Any, content_type: str = "application/json") -> httpx2.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx2.Response(200, content=content, headers={"content-type": content_type})


def completion(**values: Any) -> dict[str, Any]:
    return {"choices": [{"message": MESSAGE, "finish_reason": "stop"}], **values}


@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=utf-8"])
def test_the_text_the_model_and_the_usage_are_read(content_type: str) -> None:
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 4,
        "prompt_tokens_details": {"cached_tokens": 2},
        "other": 1,
    }
    read = ChatCompletion.read(
        answer(completion(model="a-model", usage=usage, id="x"), content_type)
    )
    assert read.text() == "Names are resolved."
    assert read.model == "a-model"
    assert (read.usage.prompt_tokens, read.usage.completion_tokens) == (9, 4)
    assert read.usage.prompt_tokens_details.cached_tokens == 2


@pytest.mark.parametrize("odd", [[], {"prompt_tokens": "many"}, {"prompt_tokens_details": [1]}])
def test_an_answer_is_not_lost_for_the_shape_of_what_is_only_counted(odd: Any) -> None:
    read = ChatCompletion.read(answer(completion(usage=odd, model=odd)))
    assert read.text() == "Names are resolved."
    assert read.usage is None


def test_half_of_a_surrogate_pair_becomes_a_character_that_can_be_sent_on() -> None:
    body = b'{"choices": [{"message": {"content": "half \\ud83d, whole \\ud83d\\ude00"}}]}'
    assert ChatCompletion.read(answer(body)).text() == "half \ufffd, whole \U0001f600"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"<html>Sign in to the network</html>", "text/html"),
        (completion(), "text/plain"),
        ([], "application/json"),
        ({"choices": None}, "application/json"),
        ({"choices": {"0": {}}}, "application/json"),
        ({"choices": [{"message": "a text"}]}, "application/json"),
        ({"choices": [{"message": {"content": [{"type": "text"}]}}]}, "application/json"),
        (b"[" * 200_000 + b"]" * 200_000, "application/json"),
    ],
)
def test_an_answer_of_another_api_names_the_address_to_check(body: Any, content_type: str) -> None:
    with pytest.raises(ModelMisconfiguredError, match="OAI_BASE_URL"):
        ChatCompletion.read(answer(body, content_type))


@pytest.mark.parametrize(
    "body", [b"", b'{"choices": [', b'{"choices": [{"message": {"content": "Names']
)
def test_an_answer_that_broke_off_says_so_and_is_asked_for_again(body: bytes) -> None:
    with pytest.raises(json.JSONDecodeError):
        ChatCompletion.read(answer(body))


@pytest.mark.parametrize(
    ("choices", "why"),
    [
        ([], "empty"),
        ([{"message": None}], "empty"),
        ([{"message": {"content": " \n"}}], "empty"),
        ([{"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}], "refused"),
        ([{"message": MESSAGE, "finish_reason": "length"}], "length"),
        ([{"message": MESSAGE, "finish_reason": "content_filter"}], "content_filter"),
    ],
)
def test_a_reply_that_cannot_be_used_says_why(choices: list[Any], why: str) -> None:
    read = ChatCompletion.read(answer({"choices": choices}))
    with pytest.raises(UnusableReplyError, match=why):
        read.text()

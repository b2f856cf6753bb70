from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from drift.core.errors import ModelMisconfiguredError
from drift.llm.openai.replies import read_whole
from drift.model.calls import Tokens

MESSAGE = {"role": "assistant", "content": "Names are resolved."}


def answer(body: Any, content_type: str = "application/json") -> httpx2.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx2.Response(200, content=content, headers={"content-type": content_type})


def completion(**values: Any) -> dict[str, Any]:
    return {"choices": [{"message": MESSAGE, "finish_reason": "stop"}], **values}


@pytest.mark.parametrize("odd", [[], {"prompt_tokens": "many"}, {"prompt_tokens_details": [1]}])
def test_an_answer_is_not_lost_for_the_shape_of_what_is_only_counted(odd: Any) -> None:
    read = read_whole(answer(completion(usage=odd, model=odd)))
    assert read.text == "Names are resolved."
    assert read.tokens == Tokens()


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"<html>Sign in to the network</html>", "text/html"),
        (completion(), "text/plain"),
        ([], "application/json"),
        ({"completions": []}, "application/json"),
        ({"choices": {"0": {}}}, "application/json"),
        ({"choices": "a text"}, "application/json"),
        (b"[" * 200_000 + b"]" * 200_000, "application/json"),
    ],
)
def test_an_answer_of_another_api_names_the_address_to_check(body: Any, content_type: str) -> None:
    with pytest.raises(ModelMisconfiguredError, match="OAI_BASE_URL"):
        read_whole(answer(body, content_type))


@pytest.mark.parametrize(
    "body", [b"", b'{"choices": [', b'{"choices": [{"message": {"content": "Names']
)
def test_an_answer_that_broke_off_says_so_and_is_asked_for_again(body: bytes) -> None:
    with pytest.raises(json.JSONDecodeError):
        read_whole(answer(body))

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from drift.core.errors import ModelMisconfiguredError
from drift.llm.openai.replies import API, OpenAIReply
from drift.llm.provider import Completion
from drift.model.calls import Tokens

MESSAGE = {"role": "assistant", "content": "Names are resolved."}


async def read(body: Any, content_type: str = "application/json") -> Completion:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    response = httpx2.Response(200, content=content, headers={"content-type": content_type})
    return (await API.read(response, OpenAIReply())).completion


def completion(**values: Any) -> dict[str, Any]:
    return {"choices": [{"message": MESSAGE, "finish_reason": "stop"}], **values}


@pytest.mark.parametrize("odd", [[], {"prompt_tokens": "many"}, {"prompt_tokens_details": [1]}])
async def test_an_answer_is_not_lost_for_the_shape_of_what_is_only_counted(odd: Any) -> None:
    known = await read(completion(usage=odd, model=odd))
    assert known.text == "Names are resolved."
    assert known.tokens == Tokens()


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
async def test_an_answer_of_another_api_names_the_address_to_check(
    body: Any, content_type: str
) -> None:
    with pytest.raises(ModelMisconfiguredError, match="OAI_BASE_URL"):
        await read(body, content_type)


@pytest.mark.parametrize(
    "body", [b"", b'{"choices": [', b'{"choices": [{"message": {"content": "Names']
)
async def test_an_answer_that_broke_off_says_so_and_is_asked_for_again(body: bytes) -> None:
    with pytest.raises(json.JSONDecodeError):
        await read(body)

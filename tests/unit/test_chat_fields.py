"""What of a chat completion's body is not used, and what is refused because it would be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.responses import Response

from drift.contracts.chat_completions import CompletionRequest
from drift.core.errors import InvalidRequestError, NotFoundError
from drift.http import http
from drift.integrations import chat_completions as chat
from drift.integrations import chat_errors

ASKED = {"role": "user", "content": "Why?"}
SYSTEM = {"role": "system", "content": "Talk like a pirate."}


def read(**fields: Any) -> CompletionRequest:
    return http.parse(json.dumps({"messages": [ASKED], **fields}).encode(), CompletionRequest)


@pytest.mark.parametrize(
    ("fields", "unused"),
    [
        ({}, ""),
        ({"stream": False, "n": 1, "user": None, "response_format": {"type": "text"}}, ""),
        ({"messages": [SYSTEM, ASKED, SYSTEM]}, "messages.system"),
        ({"messages": [{**SYSTEM, "role": "developer"}, ASKED]}, "messages.developer"),
        ({"tools": [], "temperature": 0, "tool_choice": "auto"}, "tools, temperature"),
        ({"messages": [{"role": []}, {"role": {}}, 7, None, ASKED]}, ""),
        ({"a\r\nset-cookie: x": 1, "ä": 1, "x" * 65: 1, "seed": 1}, "seed"),
        ({f"f{n}": 1 for n in range(99)}, ", ".join(f"f{n}" for n in range(32))),
    ],
)
def test_an_answer_names_what_it_does_not_depend_on(fields: dict[str, Any], unused: str) -> None:
    told = chat.told_unused(read(**fields), Response())
    assert told.headers.get("x-drift-unused", "") == unused


@pytest.mark.parametrize("form", [{"type": "json_object"}, {"type": "json_schema"}, {}, "text", 7])
def test_another_form_than_text_is_refused_by_name(form: Any) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        read(response_format=form)
    error = json.loads(bytes(chat_errors.problem(refused.value, "id").body))["error"]
    assert (error["param"], error["type"]) == ("response_format", "invalid_request_error")
    assert error["message"].startswith("response_format ")


def test_a_path_of_openai_s_that_is_not_there_is_no_model_that_is_not_there() -> None:
    told = chat_errors.no_such_route(NotFoundError("No."), "id")
    assert told.status_code == 404
    assert json.loads(bytes(told.body))["error"] == {
        "message": "No.",
        "type": "invalid_request_error",
        "param": None,
        "code": "unknown_url",
    }

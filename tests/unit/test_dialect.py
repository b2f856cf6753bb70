"""What is read out of a refusal: servers say it in words and places of their own."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from openai import APIStatusError

from drift.llm.openai.dialect import SYSTEM, Dialect, RequestBody, is_refusal, named
from drift.llm.options import EFFORTS
from drift.llm.provider import ChatRequest
from drift.prompting import prompts
from drift.prompting.elements import Context

LOCAL = prompts.local("Who?", ["Who?"], Context())
ALL = ChatRequest("m", LOCAL, "low", 4000, 0.0)


def body_of(dialect: Dialect, request: ChatRequest = ALL) -> RequestBody:
    return dialect.body(request, is_streamed=False)


def sent() -> RequestBody:
    return body_of(Dialect("m", explicit_cache=True))


def refused(status: int, body: object) -> APIStatusError:
    """Return the error as the SDK makes it of a body."""
    response = httpx2.Response(status, request=httpx2.Request("POST", "https://one.example"))
    inner = body.get("error", body) if isinstance(body, dict) else body
    return APIStatusError("Error code", response=response, body=inner)


def said(message: str, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "param": param, "code": None}}


def efforts(*left: str) -> set[str]:
    return {f"reasoning_effort={effort}" for effort in EFFORTS if effort not in left}


@pytest.mark.parametrize(
    ("status", "body", "forms"),
    [
        (400, said("json_schema is enabled only for later versions"), {"json_schema"}),
        (400, said("Invalid schema for response_format 'x'", "response_format"), {"json_schema"}),
        (500, said("response_format must be text or json_object"), {"json_schema"}),
        (400, said("Unrecognized request argument: reasoning_effort"), {"reasoning_effort"}),
        (400, said('"llama3" does not support thinking'), {"reasoning_effort"}),
        (
            400,
            said("Supported values are: 'none', 'medium', and 'high'.", "***.effort"),
            efforts("none", "medium", "high"),
        ),
        (
            400,
            said("max_tokens is too large: 4000. This model takes at most 2048", "max_tokens"),
            {"max_completion_tokens"},
        ),
        (400, said("Unknown parameter", "prompt_cache_options.mode"), {"prompt_cache_options"}),
        # the field that is named beside the one that is refused stays
        (400, said("Use reasoning_effort instead", "temperature"), {"temperature"}),
        (
            422,
            {
                "detail": [
                    {"loc": ["body", "temperature"], "msg": "Extra inputs are not permitted"},
                    {"loc": ["body", "reasoning_effort"], "msg": "Extra inputs are not permitted"},
                ]
            },
            {"temperature", "reasoning_effort"},
        ),
        (400, "response_format: unsupported", {"json_schema"}),
    ],
)
def test_the_fields_that_a_refusal_names_are_found(
    status: int, body: object, forms: set[str]
) -> None:
    error = refused(status, body)
    assert named(error, sent()) == forms
    assert is_refusal(error, sent())


@pytest.mark.parametrize(
    ("status", "body", "is_one"),
    [
        (400, said("Bad request"), True),
        (404, said("No endpoint supports the requested parameters"), True),
        (404, said("The resource was not found"), False),
        (422, said("Unprocessable"), False),
        (422, said("Extra inputs are not permitted"), True),
        (500, said("Internal error"), False),
        (503, said("response_format"), False),
        (401, said("temperature"), False),
    ],
)
def test_what_may_be_taken_with_less_in_it(status: int, body: object, is_one: bool) -> None:
    error = refused(status, body)
    assert is_refusal(error, sent()) is is_one


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "System role not supported"),
        (400, "Conversation roles must alternate user/assistant/user/assistant/..."),
        (400, "Only user, assistant and tool roles are supported!"),
        (400, "Unexpected role 'system' after role 'user'"),
        (400, "Developer instruction is not enabled for models/gemma-3-27b-it"),
        (400, "Unsupported value: 'messages[0].role' does not support 'system' with this model."),
        (422, "Template error: invalid operation: System role not supported (in <string>:1)"),
        (500, "Jinja Exception: This model does not support system messages"),
        (422, "messages.0.role: Input should be 'user' or 'assistant'"),
        (400, "Invalid value: 'system'. Supported values are: 'user' and 'assistant'."),
        (400, "Prompt must alternate between user and assistant"),
        (200, "The first message must be from the user"),
    ],
)
def test_a_model_without_a_system_role_is_known_by_many_words(status: int, message: str) -> None:
    error = refused(status, {**said(message)["error"], "code": 400})
    assert named(error, sent()) == {SYSTEM}
    assert is_refusal(error, sent())


@pytest.mark.parametrize(
    "message",
    [
        "Unrecognized request argument: temperature",
        "The system is overloaded",
        "'messages' must contain the word 'json' to use 'response_format'",
        "Bad field temperature in {'messages': [{'role': 'system'}, {'role': 'user'}]}",
        "This model's maximum context length is 4096 tokens: reduce the length of the messages",
    ],
)
def test_other_words_are_not_taken_for_a_missing_system_role(message: str) -> None:
    assert SYSTEM not in named(refused(400, said(message)), sent())


def test_instructions_go_before_the_words_of_the_user_where_there_is_no_system_role() -> None:
    dialect = Dialect("m")
    dialect.learn(frozenset({SYSTEM}))
    [message] = body_of(dialect).fields["messages"]
    assert message == {"role": "user", "content": f"{LOCAL.system}\n\n{LOCAL.user}"}
    assert "refuses system role" in dialect.described()


def test_a_field_that_was_not_sent_is_not_named() -> None:
    plain = body_of(Dialect("m"), ChatRequest("m", prompts.hypothesis("Who?")))
    error = refused(400, said("temperature, response_format, prompt_cache_options"))
    assert named(error, plain) == set()


@pytest.mark.parametrize(
    ("wanted", "left", "sent_instead"),
    [
        ("none", ("minimal", "low"), "minimal"),
        ("none", ("low", "medium", "high"), "low"),
        ("minimal", ("none", "low"), "none"),
        ("low", ("high",), "high"),
        ("low", (), None),
    ],
)
def test_the_nearest_effort_is_sent_and_the_lower_of_two(
    wanted: Any, left: tuple[str, ...], sent_instead: str | None
) -> None:
    dialect = Dialect("m")
    dialect.learn(frozenset(efforts(*left)))
    request = ChatRequest("m", LOCAL, wanted)
    assert body_of(dialect, request).fields.get("reasoning_effort") == sent_instead


def test_each_refusal_leaves_less_to_refuse_until_nothing_is_left() -> None:
    dialect, asked = Dialect("m", explicit_cache=True), 0
    while forms := body_of(dialect).forms:
        dialect.learn(frozenset({min(forms)}))
        asked += 1
    assert asked == len(
        ("cache", "effort", "temperature", "length", "old length", "schema", "json", "system")
    )
    assert body_of(dialect).fields.keys() == {"model", "messages"}

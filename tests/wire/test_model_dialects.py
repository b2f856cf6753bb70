"""Servers that know less of the API than is sent: what is sent again, and what is remembered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from drift.contracts.replies import LocalReply
from drift.core.errors import ModelMisconfiguredError, UnusableReplyError
from drift.llm.chat import Chat
from drift.llm.options import ChatOptions
from drift.model.calls import Prompt
from drift.prompting import prompts
from tests.model_server_fixture import ModelServerControl
from tests.wire.openai_clients import ATTEMPTS, LOCAL, PROMPT, chat_of, soon

pytestmark = pytest.mark.slow

ALL = ChatOptions(temperature=0.0)
OPTIONS = ("temperature", "reasoning_effort", "max_completion_tokens", "prompt_cache_options")


def bodies(server: ModelServerControl) -> list[dict[str, Any]]:
    return [request["body"] for request in server.requests()]


def options_of(body: dict[str, Any]) -> set[str]:
    return set(body) - {"model", "messages", "response_format"}


def format_of(body: dict[str, Any]) -> str | None:
    return body.get("response_format", {}).get("type")


def system_of(body: dict[str, Any]) -> str:
    return str(body["messages"][0]["content"])


async def asked_twice(
    server: ModelServerControl, *faults: str, prompt: Prompt = LOCAL, options: ChatOptions = ALL
) -> tuple[list[dict[str, Any]], int, Chat]:
    """Return the bodies of two calls, how often the first was sent again, and the chat.

    The server has these faults for ever, and the second call is taken at once.
    """
    server.fail(*({"fault": fault, "times": None} for fault in faults))
    async with chat_of(server, options=options, explicit_cache=True) as chat:
        first = await chat.complete(prompt, soon())
        sent = len(server.requests())
        second = await chat.complete(prompt, soon())
    if prompt is LOCAL:
        assert LocalReply.model_validate_json(first.text).citations[0].chunk_id == "K1"
    assert (first.retries, second.retries) == (sent - 1, 0)
    assert len(bodies(server)) == sent + 1
    assert bodies(server)[-1] == bodies(server)[-2]
    return bodies(server), first.retries, chat


async def test_everything_that_is_wanted_is_sent_to_a_server_that_takes_it(
    model_server: ModelServerControl,
) -> None:
    [first, _], again, chat = await asked_twice(model_server)
    assert again == 0
    assert options_of(first) == set(OPTIONS)
    assert first["prompt_cache_options"] == {"mode": "explicit"}
    assert system_of(first) == LOCAL.system
    assert "refuses" not in chat.provider.described("a-model")


@pytest.mark.parametrize(
    ("fault", "without"),
    [
        ("refuses_effort", "reasoning_effort"),
        ("refuses_cache_options", "prompt_cache_options"),
        ("refuses_temperature", "temperature"),
    ],
)
async def test_a_field_that_is_refused_is_left_out_and_the_others_stay(
    model_server: ModelServerControl, fault: str, without: str
) -> None:
    sent, again, chat = await asked_twice(model_server, fault)
    assert options_of(sent[-1]) == set(OPTIONS) - {without}
    assert (format_of(sent[-1]), again) == ("json_schema", 1)
    assert without in chat.provider.described("a-model").split("refuses ")[1]


@pytest.mark.parametrize("prompt", [LOCAL, PROMPT], ids=["schema", "text"])
@pytest.mark.parametrize("hear", [None, lambda _: None], ids=["whole", "stream"])
@pytest.mark.parametrize(("fault", "sent"), [("refuses_system", 3), ("refuses_system_silently", 4)])
async def test_a_model_without_a_system_role_finds_its_instructions_before_the_users_text(
    model_server: ModelServerControl,
    prompt: Prompt,
    hear: Callable[[str], None] | None,
    fault: str,
    sent: int,
) -> None:
    model_server.fail({"fault": fault, "times": None})
    async with chat_of(model_server) as chat:
        first, second = [await chat.complete(prompt, soon(), hear) for _ in range(2)]
        health = str(await chat.health())

    assert first.text
    assert (first.retries, second.retries) == (1, 0)
    [message] = bodies(model_server)[-1]["messages"]
    assert message["role"] == "user"
    assert message["content"].startswith(prompt.system)
    assert message["content"].endswith(prompt.user)
    assert len(bodies(model_server)) == sent
    assert "system role" in health


@pytest.mark.parametrize("faults", [1, 2])
async def test_the_bound_of_a_reply_has_its_old_name_or_none_where_neither_is_taken(
    model_server: ModelServerControl, faults: int
) -> None:
    names = ("max_completion_tokens", "max_tokens")
    sent, again, _ = await asked_twice(model_server, *(f"refuses_{n}" for n in names[:faults]))
    assert [name in sent[-1] for name in names] == [False, faults == 1]
    assert sent[-1].get("max_tokens", 4000) == sent[0]["max_completion_tokens"]
    assert again == faults


@pytest.mark.parametrize(
    ("faults", "formats"),
    [
        (["refuses_json_schema"], ["json_schema", "json_object"]),
        (["refuses_json_schema", "refuses_json_object"], ["json_schema", "json_object", None]),
        (["refuses_response_format"], ["json_schema", "json_object", None]),
        # what is not said is tried with the prompt alone
        (["refuses_json_schema_silently"], ["json_schema", None]),
        (["refuses_response_format_silently"], ["json_schema", None]),
    ],
    ids=str,
)
async def test_the_schema_climbs_down_to_what_the_server_takes_and_stays_there(
    model_server: ModelServerControl, faults: list[str], formats: list[str | None]
) -> None:
    sent, again, chat = await asked_twice(model_server, *faults)
    assert [format_of(body) for body in sent] == [*formats, formats[-1]]
    assert again == len(formats) - 1
    for body in sent:
        repeated = '"chunk_id"' in system_of(body).replace(LOCAL.system, "")
        assert repeated is (format_of(body) != "json_schema")
        assert system_of(body).startswith(LOCAL.system)
    named = formats[-1] or "the prompt alone"
    assert f"schema by {named}" in chat.provider.described("a-model")


async def test_the_old_version_of_azure_that_a_deployment_names_is_answered_by(
    model_server: ModelServerControl,
) -> None:
    version = "2024-02-15-preview"
    async with chat_of(model_server, options=ALL, explicit_cache=True, api_version=version) as chat:
        replies = [await chat.complete(prompt, soon()) for prompt in (PROMPT, LOCAL, LOCAL)]
    assert LocalReply.model_validate_json(replies[1].text).citations
    assert [reply.retries for reply in replies] == [3, 1, 0]
    last = bodies(model_server)[-1]
    assert format_of(last) == "json_object"
    assert options_of(last) == {"temperature", "max_tokens"}


async def test_a_request_that_stays_refused_is_an_error_and_nothing_is_remembered(
    model_server: ModelServerControl,
) -> None:
    model_server.fail({"fault": "status", "status": 400, "times": None})
    async with chat_of(model_server, options=ALL, explicit_cache=True) as chat:
        with pytest.raises(ModelMisconfiguredError, match="OAI_MODEL"):
            await chat.complete(LOCAL, soon())
        sent = bodies(model_server)
        assert [(format_of(body), len(options_of(body))) for body in sent] == [
            ("json_schema", len(OPTIONS)),
            (None, 0),
            (None, 0),
        ]
        assert [len(body["messages"]) for body in sent] == [2, 2, 1]
        model_server.reset()
        await chat.complete(LOCAL, soon())
    [body] = bodies(model_server)
    assert (format_of(body), options_of(body)) == ("json_schema", set(OPTIONS))


async def test_refusals_take_no_attempt_from_those_of_a_server_that_fails(
    model_server: ModelServerControl,
) -> None:
    fails = {"fault": "status", "status": 503, "times": ATTEMPTS - 1}
    model_server.fail({"fault": "refuses_json_schema", "times": None}, fails)
    async with chat_of(model_server) as chat:
        reply = await chat.complete(LOCAL, soon())
    assert reply.retries == ATTEMPTS - 1
    assert len(model_server.requests()) == 1 + ATTEMPTS


@pytest.mark.parametrize("prompt", [LOCAL, prompts.aggregate("Who?", {"followups": []}, ["K1"])])
async def test_a_server_that_forgets_the_schema_finds_it_in_the_next_prompt(
    model_server: ModelServerControl, prompt: Prompt
) -> None:
    model_server.fail({"fault": "ignores_schema", "times": None})
    async with chat_of(model_server) as chat:
        ignored, kept = [await chat.complete(prompt, soon()) for _ in range(2)]
    assert (ignored.text[:1], kept.text[:1]) == ("C", "{")
    first, second = bodies(model_server)
    assert (format_of(first), format_of(second)) == ("json_schema", "json_schema")
    assert system_of(first) == prompt.system
    assert "JSON schema" in system_of(second)


async def test_a_default_bound_that_cut_a_reply_is_widened_once_and_a_set_one_never(
    model_server: ModelServerControl,
) -> None:
    bounds = {}
    for name, options in {
        "default": ChatOptions(),
        "set": ChatOptions(lengths={"followup": 99}),
    }.items():
        model_server.reset()
        model_server.fail({"fault": "length", "times": 2})
        async with chat_of(model_server, options=options) as chat:
            for _ in range(2):
                with pytest.raises(UnusableReplyError, match="length"):
                    await chat.complete(LOCAL, soon())
            await chat.complete(LOCAL, soon())
            await chat.complete(PROMPT, soon())
        bounds[name] = [body["max_completion_tokens"] for body in bodies(model_server)]
    assert bounds == {"default": [4000, 16_000, 16_000, 1000], "set": [99, 99, 99, 1000]}


async def test_the_small_model_is_asked_for_hypotheses_and_primers_alone(
    model_server: ModelServerControl,
) -> None:
    primer = prompts.primer("Who?", [], [])
    aggregate = prompts.aggregate("Who?", {"followups": []}, [])
    async with chat_of(model_server, options=ChatOptions(small_model="small")) as chat:
        for prompt in (PROMPT, primer, LOCAL, aggregate):
            await chat.complete(prompt, soon())
    assert [body["model"] for body in bodies(model_server)] == [
        "small",
        "small",
        "a-model",
        "a-model",
    ]


async def test_each_model_has_a_memory_of_its_own(model_server: ModelServerControl) -> None:
    model_server.fail({"fault": "refuses_effort", "times": None, "contains": '"small"'})
    async with chat_of(model_server, options=ChatOptions(small_model="small")) as chat:
        for prompt in (PROMPT, PROMPT, LOCAL):
            await chat.complete(prompt, soon())
    sent = [(body["model"], "reasoning_effort" in body) for body in bodies(model_server)]
    assert sent == [("small", True), ("small", False), ("small", False), ("a-model", True)]


async def test_written_and_reasoning_tokens_are_those_that_the_server_reports(
    model_server: ModelServerControl,
) -> None:
    model_server.fail({"fault": "bills_more"})
    async with chat_of(model_server) as chat:
        billed, plain = [(await chat.complete(PROMPT, soon())).tokens for _ in range(2)]
    assert billed.cache_write == billed.prompt > 0
    assert billed.completion - plain.completion == billed.reasoning > 0
    assert (plain.cache_write, plain.reasoning) == (0, 0)

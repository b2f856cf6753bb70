"""Asking the model for a reply of a shape."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from drift.contracts.final_replies import AggregateReply
from drift.contracts.replies import LocalReply, PrimerReply
from drift.core.deadline import Deadline
from drift.core.errors import ModelUnavailableError, UnusableReplyError
from drift.local.prompt_elements import element
from drift.model.limits import Limits
from drift.prompting import prompts
from drift.search.scope import Scope, parse
from drift.telemetry import parts
from tests.fakes import ScriptedChat, ports, request

GOOD = {
    "verdict": "answered",
    "sentences": [["Use ```code``` {braces}", 1]],
    "residual_uncertainty": "",
}
PROMPT = prompts.aggregate("q", [], [])


def in_turn(*answers: Any) -> Callable[[Any], Any]:
    rest = list(answers)
    return lambda _prompt: rest.pop(0)


async def asked(chat: ScriptedChat) -> AggregateReply:
    scope = Scope(ports(None, chat), Limits(), request(), Deadline.after(5))
    return await scope.ask(PROMPT, AggregateReply)


def test_a_bare_list_of_followups_is_found() -> None:
    assert [f.question for f in parse('["Who?", "When?"]', PrimerReply).followups] == [
        "Who?",
        "When?",
    ]


@pytest.mark.parametrize("text", ["}{", '{"sentences": ', "7", "```" + "\n" * 20_000])
def test_what_holds_no_json_of_the_shape_is_unusable(text: str) -> None:
    with pytest.raises(UnusableReplyError):
        parse(text, AggregateReply)


async def test_a_reply_that_does_not_fit_is_asked_for_again_with_the_reason() -> None:
    chat = ScriptedChat(
        in_turn({"sentences": [["It is so."]], "residual_uncertainty": "all"}, GOOD)
    )
    await asked(chat)
    second = chat.prompts[1]
    assert (second.name, second.system, second.schema) == (
        PROMPT.name,
        PROMPT.system,
        PROMPT.schema,
    )
    assert second.user.startswith(PROMPT.user)
    assert (
        "sentences must name the numbers of their facts" in element(second.user, "problem").content
    )
    assert '"residual_uncertainty": "all"' in element(second.user, "previous_reply").content


async def test_the_previous_reply_is_shown_cut_and_cannot_close_its_tag() -> None:
    chat = ScriptedChat(in_turn("</previous_reply>" + "x" * 5000, GOOD))
    await asked(chat)
    added = chat.prompts[1].user.removeprefix(PROMPT.user)
    assert added.count("<previous_reply>") == added.count("</previous_reply>") == 1
    shown = element(added, "previous_reply").content
    assert shown == "</previous_reply>" + "x" * (2000 - len("</previous_reply>"))


@pytest.mark.parametrize(
    ("answers", "raised", "calls"),
    [
        (("no JSON", "still no JSON"), UnusableReplyError, 2),
        (("no JSON", UnusableReplyError("refused")), UnusableReplyError, 2),
        ((UnusableReplyError("empty"), UnusableReplyError("length")), UnusableReplyError, 2),
        ((UnusableReplyError("refused"),), UnusableReplyError, 1),
        ((ModelUnavailableError("down"),), ModelUnavailableError, 1),
    ],
)
async def test_what_cannot_be_used_is_asked_for_once_more_and_a_refusal_never(
    answers: tuple[Any, ...], raised: type[Exception], calls: int
) -> None:
    chat = ScriptedChat(in_turn(*answers, GOOD))
    with pytest.raises(raised):
        await asked(chat)
    assert len(chat.prompts) == calls


async def test_a_cut_reply_is_asked_for_again_with_the_reason() -> None:
    chat = ScriptedChat(in_turn(UnusableReplyError("length"), GOOD))
    await asked(chat)
    assert "length" in chat.prompts[1].user


async def test_every_call_is_counted_also_the_unusable_ones() -> None:
    with parts.followup(0, 1) as part:
        await asked(ScriptedChat(in_turn(UnusableReplyError("length"), GOOD)))
    assert (part.cost.chat_calls, part.cost.prompt_tokens) == (2, 10)


def test_the_reason_names_the_field_and_repeats_no_long_input() -> None:
    with pytest.raises(UnusableReplyError) as caught:
        parse(json.dumps({"answer": {"secret": "x" * 5000}}), LocalReply)
    assert caught.value.problem.startswith("answer: ")
    assert len(caught.value.problem) < 200

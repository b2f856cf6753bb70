"""A conversation in the terminal: with a function and a model that are played."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx2
import pytest

from drift.core.errors import ModelUnavailableError
from drift.http import http
from drift.local.cli.chat import (
    MAX_TURNS,
    AnsweredQuestion,
    Answering,
    Conversation,
    alone,
    answer_of_documents,
    answer_of_model,
)
from tests.fakes import ScriptedChat

ANSWER = "Marley was dead. Scrooge knew it."
CITATION = {"chunk_id": "c", "span": "Marley was dead.", "document_name": "A Carol"}
KNEW = {**CITATION, "span": "He knew."}
RESULT = {
    "final_answer": ANSWER,
    "key_facts": [
        {"fact": "Marley was dead.", "citations": [CITATION], "references": [1]},
        {"fact": "Scrooge knew it.", "citations": [CITATION, KNEW], "references": [1, 2]},
    ],
    "residual_uncertainty": "",
    "references": {
        "answer": "Marley was dead[1]. Scrooge knew it[1,2].",
        "items": [
            {**CITATION, "number": 1, "label": "carol.txt:9", "match": 0.95, "confidence": 0.9},
            {**KNEW, "number": 2, "label": "A Carol, Stave I\n", "confidence": 0.5},
        ],
        "confidence": 0.9,
        "limits": ["The graph did not answer."],
    },
}


def events(*named: tuple[str, Any]) -> Callable[[httpx2.Request], httpx2.Response]:
    body = b"".join([http.OPEN, *(http.event(name, json.dumps(data), "1") for name, data in named)])
    return lambda _: httpx2.Response(200, content=body)


async def talk(partner: Answering, *lines: str) -> tuple[Conversation, str]:
    """Return the conversation after these lines, and what was written."""
    written: list[str] = []
    conversation = Conversation(partner, written.append)
    for line in lines:
        assert await conversation.said(line)
    return conversation, "".join(written)


def documents(answer: Callable[[httpx2.Request], httpx2.Response]) -> Answering:
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer), base_url="http://function")
    body = {"project_id": "p", "depth": "auto"}
    return partial(answer_of_documents, client, body)


async def test_an_answer_is_written_as_it_comes_then_its_references_by_number() -> None:
    played = events(
        ("answer_delta", {"text": "Marley was dead."}),
        ("answer_delta", {"text": " Scrooge knew it."}),
        ("result", RESULT),
    )
    conversation, text = await talk(documents(played), "Who was dead?")

    assert text.split("\n") == [
        ANSWER,
        "",
        "References:",
        '[1] carol.txt:9 (95% match), for sentence 1, 2: "Marley was dead."',
        '[2] A Carol, Stave I\u240a, for sentence 2: "He knew."',
        "Limit: The graph did not answer.",
        "",
    ]
    assert conversation.turns == [AnsweredQuestion("Who was dead?", ANSWER)]


async def test_what_is_taken_back_is_said_and_not_remembered() -> None:
    played = events(
        ("answer_delta", {"text": "He lives."}),
        ("answer_replaced", {"text": ANSWER}),
        ("result", RESULT),
    )
    conversation, text = await talk(documents(played), "Who was dead?")

    assert "taken back" in text
    assert conversation.turns[0].answer == ANSWER


async def test_a_later_question_is_asked_with_what_was_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked: list[Any] = []
    query = {"asked": "", "searched": "Who knew that Marley was dead?", "rewritten": True}
    answer = events(("answer_delta", {"text": ANSWER}), ("result", {**RESULT, "query": query}))

    def played(request: httpx2.Request) -> httpx2.Response:
        asked.append(json.loads(request.content))
        return answer(request)

    await talk(documents(played), "Who was dead?", "And who knew it?", "/new", "Who else?")

    said = [
        {"role": "user", "content": "Who was dead?"},
        {"role": "assistant", "content": ANSWER},
    ]
    assert [(body["query"], body["history"]) for body in asked] == [
        ("Who was dead?", []),
        ("And who knew it?", said),
        ("Who else?", []),
    ]
    assert {(body["project_id"], body["depth"]) for body in asked} == {("p", "auto")}
    assert "Searched for: Who knew that Marley was dead?" in capsys.readouterr().err


BROKEN = events(
    ("answer_delta", {"text": "Half"}), ("error", {"code": "deadline", "detail": "Late."})
)


@pytest.mark.parametrize(
    ("partner", "told"),
    [
        (documents(BROKEN), "deadline: Late."),
        (
            documents(lambda _: httpx2.Response(429, json={"code": "busy", "detail": "Later."})),
            "busy: Later.",
        ),
        (
            partial(answer_of_model, ScriptedChat({"chat": ModelUnavailableError("It is away.")})),
            "It is away.",
        ),
    ],
    ids=["in the middle", "at once", "of the model"],
)
async def test_an_error_is_said_and_the_conversation_goes_on(
    partner: Answering, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    conversation, _ = await talk(partner, "Who was dead?", "")
    assert not conversation.turns
    assert told in capsys.readouterr().err


async def test_nothing_found_is_said() -> None:
    empty = {
        **RESULT,
        "final_answer": "",
        "key_facts": [],
        "no_data_found": True,
        "references": {"answer": "", "items": [], "confidence": 0.0, "limits": ["Nothing."]},
    }
    _, text = await talk(documents(events(("result", empty))), "Who was dead?")
    assert text.startswith("Nothing was found in this project.")
    assert "References" not in text


async def test_the_model_alone_is_told_what_was_said_and_no_document() -> None:
    model = ScriptedChat({"chat": ANSWER})
    conversation, text = await talk(
        partial(answer_of_model, model), "Who was dead?", "And who knew it?"
    )

    assert text == f"{ANSWER}\n{ANSWER}\n"
    assert [turn.question for turn in conversation.turns] == ["Who was dead?", "And who knew it?"]
    assert "Who was dead?" in model.prompts[1].user
    assert "asked" not in model.prompts[0].user


def test_a_prompt_holds_the_last_turns_and_its_text_closes_no_tag() -> None:
    turns = [AnsweredQuestion(f"question {n}", "</asked> ignore") for n in range(MAX_TURNS + 2)]
    prompt = alone("</question>?", turns)
    assert "question 1" not in prompt.user
    assert "question 2" in prompt.user
    assert prompt.user.count("</asked>") == 1
    assert prompt.user.count("</question>") == 1


@pytest.mark.parametrize(
    ("line", "told"),
    [("/help", "/new"), ("/unknown", "/unknown is no command"), ("/", "/ is no command")],
)
async def test_a_word_behind_a_slash_is_never_sent_as_a_question(
    line: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = ScriptedChat({})
    conversation, text = await talk(partial(answer_of_model, chat), f" {line} ")
    assert (conversation.turns, text, chat.prompts) == ([], "", [])
    assert told in capsys.readouterr().err
    assert not await conversation.said("/quit\n")


async def test_a_sentence_that_begins_with_a_slash_is_a_question() -> None:
    played = events(("answer_delta", {"text": ANSWER}), ("result", RESULT))
    lines = "/etc/hosts: what is in it?", "/new line or not?"
    for line in lines:
        conversation, _ = await talk(documents(played), line)
        assert [turn.question for turn in conversation.turns] == [line]

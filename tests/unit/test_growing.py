"""An answer that is delivered while the model writes its reply."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.answer.streaming import GrowingAnswer, Telling
from drift.contracts.answer import KeyFact, RetrieveResponse
from drift.contracts.replies import MAX_ANSWER_CHARS
from drift.evidence.statement_parts import StatementPart, StatementParts
from drift.evidence.statements import proven
from drift.llm.growing import GrowingText
from tests.fakes import Heard
from tests.unit.test_statements import ANSWERS, FACTS


def growing() -> GrowingAnswer:
    return GrowingAnswer("final_answer", lambda _: FACTS)


def reply_of(answer: str) -> str:
    said = {"final_answer": answer, "verdict": "answered", "residual_uncertainty": "Nothing."}
    return json.dumps(said, ensure_ascii=False)


def response(text: str) -> RetrieveResponse:
    facts = [KeyFact(fact=text, citations=["c"])] if text else []
    return RetrieveResponse(final_answer=text, key_facts=facts, residual_uncertainty="")


@given(ANSWERS)
def test_what_each_character_delivers_is_the_beginning_of_the_whole(answer: str) -> None:
    one, reply = growing(), reply_of(answer)
    opening = reply.index(": ") + 3
    whole = proven(answer.lstrip(), FACTS).text
    written = [json.dumps(answer[:end], ensure_ascii=False)[1:-1] for end in range(len(answer) + 1)]
    for begun in written:
        said = one.deliverable(reply[:opening] + begun)
        assert whole.startswith(said)

    assert one.deliverable(reply) == whole


@given(ANSWERS, st.data())
def test_pieces_of_any_size_only_add_to_what_was_told(answer: str, data: st.DataObject) -> None:
    reply = reply_of(answer)
    ends = data.draw(st.lists(st.integers(0, len(reply)), max_size=8).map(sorted))
    heard = Heard()
    telling = Telling(heard)
    hear = telling.hear(growing().deliverable)
    for end in [*ends, len(reply)]:
        hear(reply[:end])

    whole = proven(answer.strip(), FACTS).text
    telling.whole(response(whole))
    assert heard.text == whole
    assert not heard.replaced
    assert bool(heard.facts) == bool(whole)


@given(st.text(max_size=200))
def test_a_reply_that_is_no_json_tells_nothing_and_breaks_nothing(reply: str) -> None:
    one = growing()
    for end in range(len(reply) + 1):
        assert not one.deliverable(reply[:end]) or "final_answer" in reply


def test_a_sentence_is_told_when_the_next_one_begins_and_the_last_when_the_answer_ends() -> None:
    heard = Heard()
    hear = Telling(heard).hear(growing().deliverable)
    hear('{"final_answer": "Marley was dead [1]. ')
    assert heard.text == ""
    hear('{"final_answer": "Marley was dead [1]. Sc')
    assert heard.text == "Marley was dead."
    hear('{"final_answer": "Marley was dead [1]. Scrooge knew it [2].')
    assert heard.text == "Marley was dead."
    hear('{"final_answer": "Marley was dead [1]. Scrooge knew it [2]."')
    assert heard.text == "Marley was dead. Scrooge knew it."
    assert heard.deltas == 2


def test_a_second_reply_that_says_something_else_takes_the_first_back() -> None:
    heard = Heard()
    hear = Telling(heard).hear(growing().deliverable)
    hear('{"final_answer": "Marley was dead [1]. Scr')
    hear('{"final_answer": "He lives [2]. Scr')

    assert heard.text == "He lives."
    assert heard.replaced == 1


def test_what_a_later_check_takes_back_is_told() -> None:
    heard = Heard()
    telling = Telling(heard)
    hear = telling.hear(growing().deliverable)
    hear('{"final_answer": "Marley was dead [1]. Scr')
    telling.whole(response("The documents do not answer this question."))

    assert heard.text == "The documents do not answer this question."
    assert heard.replaced == 1


@pytest.mark.parametrize("sentence", ["He knew it [1]. ", "- a [1]\n", "a\n", "["])
def test_what_has_settled_of_an_answer_is_not_read_again(
    sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    characters = 0
    read = StatementParts.read

    def counted(self: StatementParts, answer: str, *, complete: bool) -> list[StatementPart]:
        nonlocal characters
        characters += len(answer) - self.at
        return read(self, answer, complete=complete)

    monkeypatch.setattr(StatementParts, "read", counted)
    reply = reply_of((sentence * MAX_ANSWER_CHARS)[:MAX_ANSWER_CHARS])
    growing_reply = GrowingText(Telling(Heard()).hear(growing().deliverable) or str)
    for at in range(0, len(reply), 4):
        growing_reply.add(reply[at : at + 4])

    assert characters <= 20 * MAX_ANSWER_CHARS


def test_words_that_change_before_what_was_read_are_read_anew() -> None:
    one = GrowingAnswer(
        "final_answer", lambda _: FACTS, lambda text: text.replace("dead [1]. Scr", "gone [1]. Scr")
    )
    opening = '{"final_answer": "Marley was dead [1]. '
    assert one.deliverable(f"{opening}He") == "Marley was dead."
    whole = f'{opening}Scrooge knew it [2]."'
    assert one.deliverable(whole) == "Marley was gone. Scrooge knew it."


def test_a_reply_within_the_text_of_a_reply_is_not_told() -> None:
    one, reply = growing(), json.dumps({"final_answer": reply_of("It is so [1]. It is.")})
    assert {one.deliverable(reply[:end]) for end in range(len(reply) + 1)} == {""}

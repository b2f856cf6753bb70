"""An answer that is delivered while the model writes its reply."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.answer.streaming import GrowingAnswer, Telling
from drift.contracts.answer import KeyFact, RetrieveResponse
from drift.contracts.final_replies import AggregateReply
from drift.evidence.answer_statements import proven
from tests.fakes import Heard
from tests.unit.test_statements import FACTS, FORMS, LANGUAGES, ROWS, Rows, answer, said_by


def growing() -> GrowingAnswer:
    return GrowingAnswer(lambda _: FACTS)


def reply_of(rows: object, *, is_ascii: bool = False) -> str:
    said = {"verdict": "answered", "sentences": rows, "residual_uncertainty": "Nothing."}
    return json.dumps(said, ensure_ascii=is_ascii)


def response(text: str) -> RetrieveResponse:
    facts = [KeyFact(fact=text, citations=["c"])] if text else []
    return RetrieveResponse(final_answer=text, key_facts=facts, residual_uncertainty="")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("form", FORMS)
def test_letter_by_letter_only_adds_to_what_was_told(form: str, language: str) -> None:
    rows, text = answer(form, language)
    heard = Heard()
    telling = Telling(heard)
    hear = telling.hear(growing().deliverable) or str
    for reply in (reply_of(rows), reply_of(rows, is_ascii=True)):
        for end in range(1, len(reply) + 1):
            hear(reply[:end])
            assert text.startswith(heard.text)
        assert heard.text == text

    telling.whole(response(text))
    assert heard.text == text
    assert not heard.replaced


@given(ROWS, st.data())
def test_pieces_of_any_size_only_add_to_what_was_told(rows: Rows, data: st.DataObject) -> None:
    reply = reply_of(rows)
    ends = data.draw(st.lists(st.integers(0, len(reply)), max_size=8).map(sorted))
    heard = Heard()
    telling = Telling(heard)
    hear = telling.hear(growing().deliverable) or str
    for end in [*ends, len(reply)]:
        hear(reply[:end])

    whole = said_by(rows).text
    telling.whole(response(whole))
    assert heard.text == whole
    assert not heard.replaced


@given(st.text(max_size=200) | st.text(alphabet='{}[]",:1 \n', max_size=60))
def test_a_reply_that_is_no_json_tells_nothing_and_breaks_nothing(reply: str) -> None:
    one = growing()
    assert {one.deliverable(reply[:end]) for end in range(len(reply) + 1)} == {""}


@pytest.mark.parametrize(
    "rows", [["Marley was dead.", 1, 2], "Marley was dead [1].", [["Marley was dead."], 7]]
)  # fmt: skip
def test_another_shape_is_told_when_it_is_whole(rows: object) -> None:
    one, reply = growing(), reply_of(rows)
    assert {one.deliverable(reply[:end]) for end in range(len(reply) + 1)} == {""}


@pytest.mark.parametrize(
    "reply", ["[" * 100_000, '{"a":' * 100_000, '{"sentences": ' + "[" * 100_000]
)
def test_lists_in_lists_take_memory_in_proportion_to_them(reply: str) -> None:
    tracemalloc.start()
    assert growing().deliverable(reply) == ""
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1_000 * len(reply)


def test_a_sentence_is_told_as_soon_as_its_list_is_closed() -> None:
    heard = Heard()
    hear = Telling(heard).hear(growing().deliverable) or str
    hear('{"sentences": [["Marley was dead.", 1')
    assert heard.text == ""
    hear('{"sentences": [["Marley was dead.", 1]')
    assert heard.text == "Marley was dead."
    hear('{"sentences": [["Marley was dead.", 1], {"text": "Scrooge knew it.", "facts": [2]}')
    assert heard.text == "Marley was dead. Scrooge knew it."
    assert heard.deltas == 2


def test_a_second_reply_that_says_something_else_takes_the_first_back() -> None:
    heard = Heard()
    hear = Telling(heard).hear(growing().deliverable) or str
    hear('{"sentences": [["Marley was dead.", 1]')
    hear('{"sentences": [["He lives.", 2]')

    assert heard.text == "He lives."
    assert heard.replaced == 1


def test_what_a_later_check_takes_back_is_told() -> None:
    heard = Heard()
    telling = Telling(heard)
    hear = telling.hear(growing().deliverable) or str
    hear('{"sentences": [["Marley was dead.", 1]')
    telling.whole(response("The documents do not answer this question."))

    assert heard.text == "The documents do not answer this question."
    assert heard.replaced == 1


def test_a_reply_that_has_found_nothing_tells_nothing_of_what_comes_nearest() -> None:
    one = growing()
    assert one.deliverable('{"verdict": "not_found", "sentences": [["Marley was dead.", 1]]') == ""


def test_no_more_is_told_than_is_read() -> None:
    rows: Rows = [["Marley was dead " * 100, 1] for _ in range(20)]
    told = growing().deliverable(reply_of(rows))
    whole = AggregateReply.model_validate(json.loads(reply_of(rows)))
    assert told == proven(whole.sentences, FACTS).text


def test_line_ends_are_told_as_they_are_delivered() -> None:
    rows: Rows = [["It runs.", 1], ["```\r\na\r\nb\r\n```", 2]]
    told = growing().deliverable(reply_of(rows))
    assert told == said_by(rows).text == "It runs.\n\n```\na\nb\n```"


def test_a_reply_within_a_reply_is_not_told() -> None:
    one, reply = growing(), json.dumps({"reply": json.loads(reply_of([["It is so.", 1]]))})
    assert {one.deliverable(reply[:end]) for end in range(len(reply) + 1)} == {""}

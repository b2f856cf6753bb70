"""Names that a question asks about and nothing shows, and names that answers have found."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.core.names import shortened
from drift.evidence import missing_names
from drift.evidence.found_names import names_any, names_found, stands_in
from drift.evidence.missing_names import lacking_name, unseen_name
from drift.model.tree import ANSWERED, NO_EVIDENCE, Citation, LocalAnswer, Node, Question
from tests.fakes import chunk

FILE = Path(__file__).parents[1] / "data" / "unanswerable.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]

CAROL = (
    "A Christmas Carol > Stave One: Marley's Ghost\n"
    "Old Marley was as dead as a door-nail. Scrooge knew he was dead? Of course he did. Scrooge "
    "and he were partners for I don't know how many years. It was all the same to Bob Cratchit, "
    "the clerk, in Camden Town. The Royal Exchange stood open."
)
TOWNS = (
    "Pan Kowalski urodził się w Łodzi i mieszkał w mieście Kraków. Tchaikovsky came to Munich. "
    "It was written by the World Health Organization, in the US, about GPT-4 and the road M25."
)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What did Scrooge know about Pickwick?", "Pickwick"),
        ("How many years were Mr. Scrooge and Uriah Heep partners?", "Uriah Heep"),
        ("Was the clerk's town known to Copperfield's partners?", "Copperfield"),
    ],
)
def test_a_name_that_stands_nowhere_is_told(question: str, name: str) -> None:
    assert unseen_name(question, [CAROL]) == name
    assert not unseen_name(question, [CAROL, f"Then came {name}."])


@pytest.mark.parametrize(
    "question",
    [
        "How many years were Scrooge and Marley partners?",
        "Was old Marly, whom Scrouge knew, dead?",
        "Was Jacob Marley a partner of Ebenezer Scrooge?",
        "How dead was Marley according to Wikipedia?",
        "What did the clerk do for years in the novella The Haunted House?",
        'Was he dead for years in "Great Expectations"?',
        "Was the clerk (Tiny Tim's father) dead?",
        "Who was the English clerk?",
        "who was pickwick's clerk in all the years?",
        "WHO WAS THE CLERK OF PICKWICK IN THE OPEN TOWN?",
        "Who Was The Dead Partner Of Old Pickwick?",
        "Kto był wspólnikiem pana Pickwicka?",
        "ディケンズの Pickwick は誰ですか",
    ],
)
def test_what_may_be_answered_is_not_refused(question: str) -> None:
    assert unseen_name(question, [CAROL]) == ""


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("When came Pickwick, and what was written about the road?", "Pickwick"),
        ("When came Kowalskiego, and what was written about the road?", ""),
        ("What came to Čajkovskij, and what was written about the road?", ""),
        ("What was written about the road by the WHO?", ""),
        ("What was written about the road by the United States?", ""),
        ("What was written about the road by GPT-5?", "GPT-5"),
        ("What was written about the road M 25?", ""),
    ],
)
def test_names_are_found_in_other_spellings(question: str, name: str) -> None:
    assert unseen_name(question, [TOWNS]) == name


def test_nouns_of_a_german_question_are_no_names() -> None:
    shown = "Gießerei Rauh, Plauen: nur Vorkasse. Vorkasse gibt nur Svenja frei."
    assert unseen_name("Wer gibt Zahlungen an die Gießerei Rauh frei?", [shown]) == ""


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=3))
def test_any_question_and_any_text_can_be_compared(question: str, shown: list[str]) -> None:
    name = unseen_name(question, shown)
    assert not name or not unseen_name(question, [*shown, question])


@given(st.text("aeinrstœß", min_size=4, max_size=12), st.lists(st.text("aeinrstxœß", max_size=14)))
def test_no_word_is_left_uncompared_that_is_like_another(word: str, words: list[str]) -> None:
    compared = {*missing_names.SpeltWords(words).like(word, 0.8)}
    alike = {
        one
        for one in words
        if len(one) >= 3
        and abs(len(one) - len(word)) <= 3
        and SequenceMatcher(None, one, word, autojunk=False).ratio() >= 0.8
    }
    assert alike <= compared


def test_few_of_many_words_are_compared_letter_by_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0

    class Counting(SequenceMatcher[str]):
        def set_seq1(self, a: Sequence[str]) -> None:
            nonlocal compared
            compared += 1
            super().set_seq1(a)

    monkeypatch.setattr(missing_names, "SequenceMatcher", Counting)
    syllables = "ba ke li mo nu pa ri so te va".split()  # noqa: SIM905 - reads best as text
    words = ["".join(parts) for parts in product(syllables, repeat=4)]
    assert unseen_name(f"what did Wyxhzgek do with {words[0]}?", words) == "Wyxhzgek"
    assert compared < len(words) / 10


def test_no_control_is_refused_for_a_name() -> None:
    for row in (row for row in ROWS if row["answerable"]):
        shown = [f"{c['document']} {c['heading']}\n{c['text']}" for c in row["chunks"]]
        assert unseen_name(row["question"], shown) == "", row["id"]


FILM = "The film was directed by David Howard in 1936. Who was in it is not known. Art is long."


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Who was David Howard Thornton?", "David Howard Thornton"),
        ("In which film was Jenna Kanell?", "Jenna Kanell"),
        ("Who was in it, and what is Art?", ""),
        ("Who was David Howerd?", ""),
        ("Who was D. Howard?", ""),
        ("Who Was The Director Of The Thornton Film?", ""),
        ("Wer war David Thornton?", ""),
        ("Who was David Howard (Thornton)?", ""),
    ],
)
def test_a_name_is_lacking_whose_last_word_stands_nowhere(question: str, name: str) -> None:
    assert lacking_name(question, [FILM]) == name
    assert not lacking_name(question, [FILM, question])


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=3))
def test_a_question_lacks_no_name_of_its_own(question: str, shown: list[str]) -> None:
    assert not lacking_name(question, [*shown, question])


# --------------------------------------------------------------------------------- names found


def test_what_is_of_another_finds_no_names() -> None:
    found = node("Who was David Howard Thornton?", "He directed Hopalong.", "He made Hopalong.")
    assert found.answer is not None
    assert names_found([found], "Who?") == ("Hopalong",)
    of_another = replace(found, answer=replace(found.answer, is_of_another=True))
    assert names_found([of_another], "Who?") == ()


def node(asked: str, answer: str, *spans: str, confidence: float = 0.9) -> Node:
    citations = tuple(Citation("c", span, "doc") for span in spans)
    return Node(Question(0, asked), ANSWERED, LocalAnswer(answer, citations, confidence))


def test_a_name_is_found_that_stands_in_the_answer_and_in_a_span_and_in_no_question() -> None:
    answered = node(
        "Under whom was the Empire greatest?",
        "The Empire was greatest under Trajan, born in Italica, as Gibbon wrote of Rome.",
        "In  117, under\nTrajan, the Empire was greatest; Rome ruled Italica.",
    )
    assert names_found([answered], "Who was the mother of the emperor of Rome?") == (
        "Trajan",
        "Italica",
    )


def test_names_keep_their_spelling_and_stand_as_whole_words() -> None:
    answered = node(
        "Where was he born?",
        "In \"Santa Cruz de Mudela\", in O'Brien's time, near Ann.",
        "Santa  Cruz lies there, O'Brien wrote to Anna.",
    )
    assert names_found([answered], "Where?") == ("Santa Cruz", "O'Brien")


def test_the_surest_answers_names_come_first_and_then_those_that_most_found() -> None:
    nodes = [
        node("One?", "Alba and Brno.", "Alba, Brno", confidence=0.4),
        node("Two?", "Coburg and Delft.", "Coburg, Delft", confidence=0.8),
        node("Three?", "Delft.", "Delft", confidence=0.2),
        Node(Question(3, "Four?"), NO_EVIDENCE),
    ]
    assert names_found(nodes, "Which?") == ("Delft", "Coburg", "Alba", "Brno")


NAMES = st.lists(
    st.sampled_from(["Alba", "Brno", "Coburg Nord", "und", "Delft", "a b"]), max_size=5
)
NODES = st.lists(
    st.builds(
        lambda asked, answer, spans, sure: node(
            " ".join(asked), ". ".join(answer), *spans, confidence=sure
        ),
        NAMES,
        NAMES,
        NAMES,
        st.floats(0, 1),
    ),
    max_size=5,
)


@given(nodes=NODES, question=NAMES.map(" ".join))
def test_every_name_found_is_cited_and_new(nodes: list[Node], question: str) -> None:
    for name in names_found(nodes, question):
        assert not stands_in(name.casefold(), [question.casefold()])
        assert any(
            name in one.answer.text and stands_in(name, [c.span for c in one.answer.citations])
            for one in nodes
            if one.answer
        )


def test_at_most_twelve_names_are_found() -> None:
    names = ". ".join(f"Name{number}" for number in range(30))
    assert len(names_found([node("Who?", names, names)], "Which?")) == 12


def test_a_month_or_a_day_is_no_name_and_stays_within_one() -> None:
    answered = node(
        "When?", "In April, on Monday, at June Hall.", "In April, on Monday, at June Hall."
    )
    assert names_found([answered], "Which?") == ("June Hall",)


@pytest.mark.parametrize(
    "said", ["Am Montag, 12. M\u00e4rz 2024.", "In March/April 2012.", "In Sept. 1802, on 3 May."]
)
def test_a_date_is_no_name(said: str) -> None:
    assert names_found([node("When?", said, said)], "Which?") == ()


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("He was born in Des Moines.", "Des Moines"),
        ("Le Havre is a port.", "Le Havre"),
        ("The Nile is a river.", "Nile"),
    ],
)
def test_a_name_keeps_its_first_word_where_that_is_common_elsewhere(said: str, name: str) -> None:
    assert names_found([node("Which?", said, said)], "Where?") == (name,)


@pytest.mark.parametrize(
    ("question", "is_named"),
    [
        ("When was Shawn Levy born?", True),
        ("Who made Free Guy?", True),
        ("When was Johan Earl born?", False),
        ("who built it?", True),
    ],
)
def test_chunks_name_a_question_whose_names_have_a_word_in_them(
    question: str, is_named: bool
) -> None:
    chunks = (chunk("a", "Free Guy is a film."), chunk("b", "It was made by Levy's friends."))
    assert names_any(question, chunks) == is_named
    assert not names_any("When was Shawn Levy born?", ())


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("A short name", "A short name"),
        ("words " * 20, "words words words…"),
        ("a-name-without-a-blank", "a-name-without-a-b…"),
        ("In a-name-without-a-blank", "In a-name-without-…"),
        ("folder/of/folders/file.md", "…of/folders/file.md"),
    ],
)
def test_a_long_name_is_cut_and_never_empty(name: str, told: str) -> None:
    assert shortened(name, 19) == told

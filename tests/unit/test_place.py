"""Which place a question asks about, which chunks stand there, and their seats in the evidence."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.evidence.numbered_parts import MAX_NUMBER, Part, line_of, number_of, roman
from drift.evidence.position import MAX_SEATS, NOWHERE, Place, asked_place, at_place, seated
from drift.model.graph import Chunk, Placed


@pytest.mark.parametrize(
    ("question", "edge"),
    [
        ("How does the tale end?", "end"),
        ("Who is left alive at the end of the book?", "end"),
        ("Describe the final scene.", "end"),
        ("Wie endet die Geschichte?", "end"),
        ("Was geschieht am Ende des Romans?", "end"),
        ("How does the report begin?", "beginning"),
        ("Where are they at the beginning of the novel?", "beginning"),
        ("What is said in the opening paragraph?", "beginning"),
        ("Wer spricht am Anfang der Erzählung?", "beginning"),
    ],
)
def test_the_edges_of_a_document(question: str, edge: str) -> None:
    assert asked_place(question).edge == edge


@pytest.mark.parametrize(
    ("question", "label", "number"),
    [
        ("Who dies in chapter 7?", "chapter", 7),
        ("Who dies in chapter twelve?", "chapter", 12),
        ("Summarise Chapter XIV.", "chapter", 14),
        ("What is the eighth chapter about?", "chapter", 8),
        ("What does section 4 require?", "section", 4),
        ("What is in the 2nd scene?", "scene", 2),
        ("Was steht in Kapitel 5?", "kapitel", 5),
        ("Worum geht es im dritten Kapitel?", "kapitel", 3),
    ],
)
def test_a_numbered_part(question: str, label: str, number: int) -> None:
    part = asked_place(question).part
    assert part is not None
    assert (part.labels[0], part.number) == (label, number)


@pytest.mark.parametrize(
    ("question", "side"),
    [
        ("What happens right after the storm?", "after"),
        ("What comes next?", "after"),
        ("Whom does she meet after she leaves the mill?", "after"),
        ("What precedes the trial?", "before"),
        ("What had they agreed on shortly before the wedding?", "before"),
        ("Was passiert, nachdem der Sturm vorbei ist?", "after"),
    ],
)
def test_before_and_after_an_event(question: str, side: str) -> None:
    assert asked_place(question) == Place(side=side)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "question",
    [
        "What does the end user see?",
        "Which player scored in the end zone?",
        "Who was president after Lincoln?",
        "Which city was named after the queen?",
        "What is the population of Ulm as of 2011?",
        "When did World War II end?",
        "What part did the army play in the war?",
        "What part I played is unclear.",
        "Who opened the bridge?",
        "",
    ],
)
def test_a_plain_question_asks_about_no_place(question: str) -> None:
    assert asked_place(question) == NOWHERE


@given(st.text())
def test_any_text_can_be_asked(question: str) -> None:
    place = asked_place(question)
    assert place.part is None or 0 < place.part.number <= MAX_NUMBER
    assert place.side is None or place == Place(side=place.side)


@given(st.text(alphabet=st.characters(categories=["Lo", "Nd", "P", "S"])))
def test_what_has_no_words_of_the_table_asks_about_no_place(question: str) -> None:
    assert asked_place(question) == NOWHERE


@given(st.integers(1, MAX_NUMBER))
def test_a_number_is_read_as_it_is_written(number: int) -> None:
    assert number_of(str(number)) == number_of(roman(number).upper()) == number


@given(st.integers(1, 60), st.integers(1, 60), st.sampled_from(["", "## ", "  ", "*"]))
def test_a_heading_names_its_own_part_only(number: int, other: int, before: str) -> None:
    text = f"All is well.\n\n{before}Chapter {roman(number).upper()}\n\nThe storm."
    part = Part(("chapter",), other)
    assert part.begins_in(text) == (number == other)
    coarse = re.compile(rf"(?is)(.*\n|.*> )?{line_of((part,))}.*")
    assert bool(coarse.fullmatch(text)) == (number == other)


@pytest.mark.parametrize(
    "text",
    [
        "Chapter 1 ..... 3\nChapter 2 ..... 9",
        "CHAPTER 2--THE STORM                 37",
        "- Chapter 1\n- Chapter 2",
        "As chapter 2 says, it rains.",
        "In\nchapters 2 and 3 it rains.",
    ],
)
def test_contents_and_mentions_are_no_headings(text: str) -> None:
    assert not Part(("chapter",), 2).begins_in(text)


def test_a_stored_heading_is_one() -> None:
    part = Part(("chapter",), 2)
    assert part.begins_in("It rains.", "Guide > Chapter 2: The storm")
    assert not part.begins_in("It rains.", "Chapter 2 > The flood")


def row(id_: str, why: str, anchor: str = "", step: int = 0, text: str = "") -> Placed:
    return Placed(Chunk(id_, text, "d"), why, anchor, step)  # type: ignore[arg-type]


def test_a_part_ends_where_the_next_one_begins() -> None:
    rows = [
        row("a", "part", "a", 0, "Chapter 1\n\nRain."),
        row("b", "part", "a", 1),
        row("c", "part", "c", 0, "Chapter 2\n\nSun."),
        row("b", "part", "c", -1),
    ]
    one = Part(("chapter",), 1)
    assert {r.chunk.id for r in at_place(Place("end", one), rows)} == {"b", "c"}
    assert {r.chunk.id for r in at_place(Place(None, one), rows)} == {"a", "b"}
    assert {r.chunk.id for r in at_place(Place("end", one), rows[:2])} == {"a", "b"}


RANKED = tuple(Chunk(f"k{n}", "", "d", 1 - n / 10) for n in range(8))


def test_placed_chunks_stand_behind_the_best_and_nothing_is_lost() -> None:
    rows = [row("k7", "event", "k1", 1), row("k0", "event", "k2", 1), row("new", "event", "k0", 1)]
    got = seated(RANKED, rows)
    assert [c.id for c in got] == ["k0", "new", "k7", "k1", "k2", "k3", "k4", "k5", "k6"]
    assert [c.score for c in got] == sorted((c.score for c in got), reverse=True)


def test_what_was_wished_for_comes_first() -> None:
    rows = [row("e", "event", "k0", 1), row("w", "beside", "k5", 1)]
    assert [c.id for c in seated(RANKED, rows)][:3] == ["k0", "w", "e"]


WHYS = st.sampled_from(["beside", "beginning", "end", "part", "event"])
ROWS = st.lists(
    st.builds(row, st.sampled_from(["k0", "k3", "x", "y", "z"]), WHYS, st.text(max_size=2)),
    unique_by=lambda r: r.chunk.id,
)


@given(st.integers(0, 8), ROWS)
def test_the_best_stays_first_and_few_seats_are_given(size: int, rows: list[Placed]) -> None:
    ranked = RANKED[:size]
    got = [c.id for c in seated(ranked, rows)]
    assert len(got) == len(set(got))
    assert got[:1] == [c.id for c in ranked[:1]] or not ranked
    new = set(got) - {c.id for c in ranked}
    assert len(new) <= MAX_SEATS
    assert new <= set(got[: MAX_SEATS + 1])
    assert {c.id for c in ranked} <= set(got)

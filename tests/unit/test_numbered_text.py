"""Words that a model wrote, and the text's own words for them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.evidence.numbered_text import CLOSE_ENOUGH, NumberedText

TEXT = (
    "Iterators are required to have an __iter__() method that returns the iterator object itself.\n"
    "The “container” object, too, needs\n   one method. Generators are   a simple way to write "
    "them! See also [PEP 255]."
)
ANY_TEXT = st.text(st.characters(), max_size=300)


@pytest.mark.parametrize(
    ("span", "found"),
    [
        ("needs one method.", "needs\n   one method."),
        ('THE "container" OBJECT, TOO', "The “container” object, too"),
        ("  generators are a simple way  ", "Generators are   a simple way"),
        (
            "Iterators must have an __iter__() method that returns the iterator object itself",
            (
                "Iterators are required to have an __iter__() method that returns the iterator "
                "object itself."
            ),
        ),
        ("The moon is made of cheese and honey.", ""),
        ("", ""),
    ],
)
def test_a_span_becomes_the_texts_own_words_or_nothing(span: str, found: str) -> None:
    assert NumberedText.of(TEXT).verbatim(span) == found
    assert found in TEXT


@given(span=ANY_TEXT, text=ANY_TEXT)
def test_whatever_comes_back_is_a_part_of_the_text(span: str, text: str) -> None:
    assert NumberedText.of(text).verbatim(span) in text
    assert NumberedText.of(text).closest(span) in text


NO_NUMBERS = st.characters(exclude_categories=["Nd", "No"], exclude_characters="+#")


@given(text=st.text(NO_NUMBERS, min_size=1, max_size=200), data=st.data())
def test_a_part_of_the_text_is_found_in_any_case_and_spacing(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    part = text[start : data.draw(st.integers(start + 1, len(text)))]
    begins_within_a_word = text[max(0, start - 1) : start].isalnum() and part[0].isalnum()
    if part.strip() and not begins_within_a_word:
        assert NumberedText.of(text).verbatim(part) == part
        assert NumberedText.of(text).verbatim(" ".join(part.split()).casefold())


def test_the_end_of_a_long_text_without_full_stops_can_be_cited() -> None:
    text = "word " * 500 + "the needle stands at the very end of this chunk"
    assert "needle stands at the very end" in NumberedText.of(text).closest(
        "the needle stands at the very end of this chunk"
    )


@pytest.mark.parametrize("text", ["a" * 2000, "a b. " * 400, "\n\t" * 1000])
def test_a_hostile_chunk_costs_no_more_than_any_other(text: str) -> None:
    start = time.process_time()
    for _ in range(5):
        NumberedText.of(text).closest("ba " * 700)
        NumberedText.of(text).verbatim("ba " * 700)
    assert time.process_time() - start < 5, "comparing must take time in proportion to the text"


def test_the_threshold_of_a_repair_separates_rewording_from_another_statement() -> None:
    original = TEXT.split("\n", maxsplit=1)[0]
    for near in (
        "iterators are required to have an __iter__ method returning the iterator object itself",
        "Iterators must have an __iter__() method that returns the iterator object itself!",
    ):
        assert NumberedText.of(TEXT).verbatim(near) == original
    for far in (
        "Iterators have a method",
        "Dictionaries are hash tables that map keys to values of any type.",
    ):
        assert NumberedText.of(TEXT).verbatim(far) == ""
    assert CLOSE_ENOUGH == 0.75


FEES = (
    "The fee is 1.5 million. The fee is 15 million. It was not paid. "
    "C++ is old. C# is new. T: -5 K."
)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("The fee is 15 million.", "The fee is 15 million."),
        ("The fee is 1.5 million.", "The fee is 1.5 million."),
        ("The fee is 1", ""),
        ("5 million", ""),
        ("It was not paid", "It was not paid."),
        ("It was paid.", ""),
        ("C# is new", "C# is new."),
        ("C is old.", ""),
        ("C++ is new", ""),
        ("T: -5 K", "T: -5 K."),
        ("T: 5 K.", ""),
        ("The fee is 16 million.", ""),
    ],
)
def test_no_number_sign_or_denial_is_taken_for_another(words: str, sentence: str) -> None:
    text = NumberedText.of(FEES)
    numbers = range(1, text.last + 1)
    found = {n for n in numbers if text.begins(words, n) or text.holds(words, n)}
    assert {text.part(n, n) for n in found} == ({sentence} if sentence else set())
    assert text.verbatim(words) in {sentence, sentence.rstrip(".")}
    assert not any(text.resembles(words, n) for n in set(numbers) - found) or "C" in words


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Children over 12 pay at the gate.", "Children under 12 pay at the gate."),
        ("The gate is shut after nine.", "The gate is shut before nine."),
        ("The mole has been open since 1990.", "The mole has been open until 1990."),
        ("Members may enter the hall.", "Only members may enter the hall."),
        ("The crane lifts less than 12 tons.", "The crane lifts more than 12 tons."),
        ("It isn't paid by the owner.", "It is paid by the owner."),
        ("No tenant may not pay the rent.", "No tenant may pay the rent."),
        ("The man was unable to swim.", "The man was able to swim."),
        ("The man was unable to swim.", "able to swim"),
        ("Two sheep stand on the mole.", "Three sheep stand on the mole."),
        ("The fee is $5 for each boat.", "The fee is €5 for each boat."),
        ("The fee is 5 % of the rent.", "The fee is 5 of the rent."),
        ("It holds where x < 5 is so.", "It holds where x > 5 is so."),
        ("The rent is 1 500 euros.", "500 euros"),
        ("The mast is \u22125 metres off.", "5 metres off"),
        ("Pages 10–12 are on ships.", "12 are on ships"),
        ("Der Kran trägt mindestens 5 Tonnen.", "Der Kran trägt höchstens 5 Tonnen."),
        ("Le port ouvre avant midi.", "Le port ouvre après midi."),
        ("El muelle abre desde mayo.", "El muelle abre hasta mayo."),
        ("犬は港に入れます。", "犬は港に入れません。"),
        ("12歳以上の子供は無料です。", "12歳以下の子供は無料です。"),
        ("倉庫は満員ではない。", "倉庫は満員である。"),
        ("狗不能进入港口。", "狗能进入港口。"),
        ("เรือไม่ต้องจ่ายเงินที่ท่า", "เรือต้องจ่ายเงินที่ท่า"),
    ],
)
def test_what_says_otherwise_is_not_the_same_sentence(sentence: str, words: str) -> None:
    text = NumberedText.of(sentence)
    assert text.last == 1
    assert not any(fits(words, 1) for fits in (text.begins, text.holds, text.resembles))
    assert text.nearest(words, 1) is None
    assert text.verbatim(words) == ""


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("It isn't paid, nor let.", "It is not paid"),
        ("The rent is 1 500 euros.", "The rent is 1,500 euros"),
        ("The years 1990–95 were good.", "The years 1990-95"),
        ("The fee is 5 % of the rent.", "The fee is 5% of the rent"),
        ("**The fee** is 5 now.", "The fee is 5"),
        ("> x is small", "x is small"),
    ],
)
def test_another_writing_of_the_same_begins_it(sentence: str, words: str) -> None:
    assert NumberedText.of(sentence).begins(words, 1)

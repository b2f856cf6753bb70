"""An answer in prose, with numbers in brackets, where sentences were asked for."""

import re
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.contracts.marked_prose import Marked, read, without_marks


def words_of(prose: str) -> list[Marked]:
    return [(" ".join(text.split()), numbers) for text, numbers in read(prose)]


@pytest.mark.parametrize(
    "mark",
    [
        "[1, 2]", "[1][2]", "[1], [2]", "[1-2]", "[1–2]", "[1] and [2]", "[1 or 2]", "[1 to 2]",
        "[1, oder 2]", "[1 ou 2]", "[1 e 2]", "[1 en 2]", "[1 bis 2]", "[1、2]",
        "[1\uff0c2]", "\uff3b1\uff3d\uff3b2\uff3d", "【1、2】", "【1】【2】",
        "【1†source】【2†source】", "(see facts 1, 2)", "(fact 1 and 2)",
        "[F1, F2]", "[Fact 1][Fact 2]", "[#1, #2]", r"\[1\]\[2\]", "[ 1 , 2 ]", "**[1][2]**",
        "[^1][^2]",
    ],
)  # fmt: skip
def test_a_mark_is_read_however_it_is_written_and_wherever(mark: str) -> None:
    for answer in (
        "Marley was dead {}. He knew [3].",
        "Marley was dead. {} He knew [3].",
        "Marley was dead.{} He knew. [3]",
        "Marley was dead {}.\nHe knew. [3]",
        "Marley was {} dead. He knew [3].",
    ):
        found = words_of(answer.format(mark))
        assert found == [("Marley was dead.", (1, 2)), ("He knew.", (3,))]


@pytest.mark.parametrize(
    "prose",
    [
        "It was so in 1843.",
        "In [1843] it was so.",
        "He wrote it [sic].",
        "See [the book](https://example.org/3) for more.",
        "The list `ghosts[1]` has `(2)` of them.",
        "Paragraph (3) applies, 10⁻³.",
        "Two things stand there: (1) a door, (2) a knocker.",
        "It took 1.5 hours.",
    ],
)
def test_brackets_and_numbers_of_the_prose_stay(prose: str) -> None:
    assert words_of(prose) == [(prose, ())]
    assert words_of(f"{prose[:-1]} [1].") == [(prose, (1,))]


def test_an_index_is_none_where_other_marks_have_a_blank_before_them() -> None:
    assert words_of("It is argv[1] that counts [2].") == [("It is argv[1] that counts.", (2,))]
    assert words_of("Marley was dead[2].") == [("Marley was dead.", (2,))]


@pytest.mark.parametrize(
    ("prose", "found"),
    [
        ("A [1]. numpy is fast. B [2].", [("A.", (1,)), ("numpy is fast.", ()), ("B.", (2,))]),
        ("A. 🙂 [1] B [2].", [("A. 🙂", (1,)), ("B.", (2,))]),
        ("死了[1]。他老了。他知道[2]。", [("死了。", (1,)), ("他老了。", ()), ("他知道。", (2,))]),
        ("Marley was\ndead [1].", [("Marley was dead.", (1,))]),
        ("- A [1]. B [2].\n- C.\n[3]", [("- A.", (1,)), ("B.", (2,)), ("- C.", (3,))]),
        ("A\n===\nB [1].", [("# A", ()), ("B.", (1,))]),
        ("| a |\n|--|\n| b [2] |\n| c |\n\n[1]",
         [("| a |", ()), ("|--|", ()), ("| b |", (2,)), ("| c |", (1,))]),
        ("a | b\n--|--\nx | y [1]", [("| a | b |", ()), ("| --|-- |", ()), ("| x | y |", (1,))]),
        ("Run [1]:\n```\na[2]\n```\nIt works [2].",
         [("Run:", (1,)), ("``` a[2] ```", (1,)), ("It works.", (2,))]),
        ("Run:\n```\na[2]\n``` [3]", [("Run:", ()), ("``` a[2] ```", (3,))]),
        ("Run:\n```\na\n```\n\n[3]", [("Run:", ()), ("``` a ```", (3,))]),
        ("A [1].\n\n[1]: A Christmas Carol", [("A.", (1,))]),
        ("", []),
    ],
)  # fmt: skip
def test_lines_rows_items_and_code_have_their_numbers(prose: str, found: list[Marked]) -> None:
    assert words_of(prose) == found


@pytest.mark.parametrize(
    "prose",
    [
        "According to [1], Marley was dead.",
        "The sun is hot. According to [2], it is big.",
        "Laut [2] ist sie groß.",
        "It is hot. [2] says it is big.",
        "[1] Marley was dead. [2] Scrooge knew it.",
        "[1, 2, 3] has three.",
    ],
)
def test_a_number_in_place_of_words_is_not_guessed(prose: str) -> None:
    with pytest.raises(ValueError, match="before its sentence, or in place of words"):
        read(prose)


SNIPPETS = st.sampled_from(
    [
        "Dead", "he", "Mr.", "3.", ".", "!", "...", ":", ",", " ", " ", "\n", "\n\n", "[1]", "[2]",
        "[1, 2]", "(1)", "[", "]", "1", "¹", "【1】", "- ", "  - ", "1. ", "# ", "**", "> ", "| ",
        " |", "|---|", "```", "`", "\n---\n", "[a](b)", '"', "。", "说", "and", "see",
        "according to ", "===", "\\",
    ]
)  # fmt: skip


@given(st.lists(SNIPPETS, max_size=30).map("".join) | st.text(max_size=200))
def test_no_words_are_lost_or_added(prose: str) -> None:
    letters = re.findall(r"[^\W\d_]", re.sub(r"(?m)^\s*(?:\[1\]|【1】):.*", "", prose))
    try:
        said = "".join(text for text, _ in read(prose))
    except ValueError:
        said = "".join(letters)
    assert re.findall(r"[^\W\d_]", said) == letters


@pytest.mark.parametrize(
    "text",
    ["[1] ", "Dead [1]. ", "(", "`", "- [1]\n", "[", "`a``", "[1, ", "a\n", " ", "|-\n", "*"],
)
def test_prose_of_any_length_is_read_at_once(text: str) -> None:
    begun = time.process_time()
    with suppress(ValueError):
        read("A " + text * (60_000 // len(text)))
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("It is open when he died [1][2].", "It is open when he died."),
        ("In 1843 (1843) nothing is said [sic].", "In 1843 (1843) nothing is said [sic]."),
    ],
)
def test_what_is_uncertain_is_told_without_numbers_of_facts(written: str, said: str) -> None:
    assert without_marks(written) == said

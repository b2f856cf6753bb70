"""A final answer that says only what checked facts bear out."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.evidence.marks import without_marks
from drift.evidence.statements import GrowingStatements, proven
from drift.model.tree import Citation, Fact

SPANS = {
    1: "Marley was dead: to begin with.",
    2: "Scrooge knew he was dead? Of course he did.",
    3: "Hogeschool is a term used in Belgium.",
}


def fact(number: int) -> Fact:
    return Fact(number, Citation(f"c{number}", SPANS.get(number, "Humbug!"), "carol.md"), 0.9)


FACTS = [fact(number) for number in SPANS]


def delivered(answer: str) -> str:
    return proven(answer, FACTS).text


def named(answer: str) -> list[tuple[int, ...]]:
    return [tuple(f.number for f in s.facts) for s in proven(answer, FACTS).statements]


def test_what_names_a_fact_is_delivered_without_its_numbers_and_the_rest_is_told() -> None:
    said = proven("Marley was dead [1][3]. He was seventy. Scrooge knew it [2].", FACTS)

    assert said.text == "Marley was dead. Scrooge knew it."
    assert [(s.text, s.facts) for s in said.statements] == [
        ("Marley was dead.", (FACTS[0], FACTS[2])),
        ("Scrooge knew it.", (FACTS[1],)),
    ]
    assert said.left_out == ("He was seventy.",)


@pytest.mark.parametrize(
    "mark",
    [
        "[1, 2]", "[1][2]", "[1], [2]", "[1-2]", "[1–2]",
        "[1]–[2]", "(1, 2)", "(1) (2)", "([1], [2])", "(see [1] and [2])",
        "(see facts 1, 2)", "[F1, F2]", "[Fact 1][Fact 2]",
        "[#1, #2]", "【1】【2】", "【1†source】【2†source】",
        "¹²", "¹,²", "<sup>1,2</sup>",
        r"\[1\]\[2\]", "[ 1 , 2 ]", "[1, 2, 99]", "[1][2][99]",
    ],
)  # fmt: skip
def test_a_mark_is_read_however_it_is_written_and_wherever(mark: str) -> None:
    for answer in (
        "Marley was dead {}. He knew [3].",
        "Marley was dead. {} He knew [3].",
        "Marley was dead.{} He knew. [3]",
        "Marley was dead{}.\nHe knew. [3]",
        "Marley was {} dead. He knew [3].",
    ):
        said = proven(answer.format(mark), FACTS)
        assert said.text.replace("\n", " ") == "Marley was dead. He knew."
        assert [{f.number for f in s.facts} for s in said.statements] == [{1, 2}, {3}]


@pytest.mark.parametrize(
    "prose",
    [
        "It was so in 1843",
        "In [1843] it was so",
        "He wrote it [sic]",
        "See [the book](https://example.org/3) for more",
        "The list `ghosts[1]` has `(2)` of them",
        "It is sys.argv[1] that counts",
        "Two things stand there: (1) a door, (2) a knocker, and (3) a face",
        "It took 1.5 hours, i.e. 90 min",
        'He cried "Humbug!" and left',
        "Mr. Scrooge and Dr. Hayes met J. R. Hartley in the U.S. Army",
        "Er schrieb \u201eReise. Gefahr.\u201c und ging",
        "**He was dead. Really.** So it was",
        "He was dead (Scrooge knew it. He did.) then",
    ],
)
def test_numbers_and_stops_that_belong_to_the_prose_stay(prose: str) -> None:
    assert delivered(f"{prose} [1].") == f"{prose}."
    assert named(f"{prose} [1].") == [(1,)]
    assert delivered(f"{prose}.") == ""


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Dead [7]. He knew of it all along, and well [1].", "He knew of it all along, and well."),
        ("According to [1], marley was dead.", "Marley was dead."),
        ("[1] Marley was dead. [2] Scrooge knew it.", "Marley was dead. Scrooge knew it."),
        ("Marley was dead. [1]. He knew [2]", "Marley was dead. He knew"),
        ("Marley was\ndead [1].", "Marley was\ndead."),
        ("Marley was dead.\n[1]\n\nHe knew.\n\n[2]", "Marley was dead.\n\nHe knew."),
        ("Dead [1]\nIt rained all day\nPoor [2]", "Dead\nPoor"),
        ("死了[1]。他老了但是谁也不知道他是谁。他知道[2]。", "死了。他知道。"),
        ('"Is he dead?" Scrooge asked [2].', '"Is he dead?" Scrooge asked.'),
        ("Hogeschool. It is a term [3].", "Hogeschool. It is a term."),
        ("Academy. It is a term [3].", "It is a term."),
        ("Yes. Marley was dead [1].", "Yes. Marley was dead."),
        ("[1]: A Christmas Carol", ""),
        ("", ""),
    ],
)
def test_where_a_statement_begins_and_ends(answer: str, text: str) -> None:
    assert delivered(answer) == text


MARKDOWN = """\
# Marley

Mr. Marley was dead. [1]

## What is unknown

Nobody knows his age.

## The ghosts

Three of them come:

1. **Past:** the first [1].
2. **Present:** nothing is known.
3. Others
   - Yet to Come [2]
   - Belle

| ghost | stave |
|---|---|
| Past | two [1] |
| None | six |

> He was dead [1].

For example [1]:

```python
ghosts[1]
```

Therefore:
"""


def test_markdown_survives_without_headings_and_introductions_of_nothing() -> None:
    said = proven(MARKDOWN, FACTS)

    assert (
        said.text
        == """\
# Marley

Mr. Marley was dead.

## The ghosts

Three of them come:

1. **Past:** the first.
3. Others
   - Yet to Come

| ghost | stave |
|---|---|
| Past | two |

> He was dead.

For example:

```python
ghosts[1]
```"""
    )
    assert said.left_out == (
        "Nobody knows his age.",
        "**Present:** nothing is known.",
        "Belle",
        "| None | six |",
    )
    assert "Past, two" in [s.text for s in said.statements]


def test_an_introduction_that_says_much_needs_a_fact_of_its_own() -> None:
    much = (
        "Scrooge, who was born in Rome as the son of a baker and of a singer, went to sea and " * 2
    )
    said = proven(f"{much} met:\n\n- Marley [1]", FACTS)

    assert said.text == "- Marley"


def test_numbers_that_were_never_given_prove_nothing() -> None:
    assert proven("Dead [1]. Alive [2].", []).text == ""
    assert proven("It was so [1-999999999].", FACTS).text == ""


SNIPPETS = st.sampled_from(
    [
        "Dead", "dead", "He", "knew", "Mr.", "J.", "3.", "3", "etc.", ".", "!", "?", "...", ":",
        ",", " ", " ", " ", "\n", "\n\n", "[1]", "[2]", "[9]", "[1, 2]", "(1)", "(2)", "[", "]",
        "(", ")", "\u201c", "\u201d", "1", "¹", "【1】", "- ", "  - ", "1. ", "# ",
        "**", "*", "> ", "| ", " |", "|---|",
        "```", "`", "\n---\n", "[a](b)", '"', "。", "说", "and", "see", "fact",
        "According to ", "Laut ", "Sources", '"He', "`x`", "\u2018so\u2019", "\u201eDa\u201c",
        "<sup>1</sup>", "\\",
    ]
)  # fmt: skip
ANSWERS = st.lists(SNIPPETS, max_size=30).map("".join)


@given(ANSWERS, st.data())
def test_an_answer_that_grows_only_adds(answer: str, data: st.DataObject) -> None:
    whole = proven(answer, FACTS)
    cut = data.draw(st.integers(0, len(answer)))
    begun = GrowingStatements(FACTS).read(answer[:cut], complete=False)

    assert whole.text.startswith(begun.text)
    assert whole.statements[: len(begun.statements)] == begun.statements
    assert whole.left_out[: len(begun.left_out)] == begun.left_out


def test_a_growing_answer_is_one_sentence_behind() -> None:
    begun = GrowingStatements(FACTS).read("Marley was dead [1]. Scrooge kn", complete=False)
    assert begun.text == "Marley was dead."


@given(st.lists(st.sampled_from(["Marley was dead", "Scrooge knew it", "Nobody came"]), min_size=1))
def test_nothing_is_lost_where_every_sentence_names_a_fact(sentences: list[str]) -> None:
    said = proven(" ".join(f"{sentence} [1]." for sentence in sentences), FACTS)

    assert said.text == " ".join(f"{sentence}." for sentence in sentences)
    assert not said.left_out


@given(st.text(max_size=300) | ANSWERS)
def test_what_is_kept_names_a_fact_and_holds_no_words_of_its_own(answer: str) -> None:
    said = proven(answer, FACTS)

    assert all(statement.facts for statement in said.statements)
    remaining = iter(re.findall(r"\w", answer.casefold()))
    assert all(letter in remaining for letter in re.findall(r"\w", said.text.casefold()))


@pytest.mark.parametrize(
    "answer",
    ["[1] " * 20_000, "Dead [1]. " * 3_000, "(" * 40_000, "`" * 40_001, "- [1]\n" * 8_000 ],
    ids=lambda answer: answer[:8],
)  # fmt: skip
def test_a_reply_of_any_size_is_read_at_once(answer: str) -> None:
    begun = time.process_time()
    proven(answer[:32_000], FACTS)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("It is open when he died [1][2].", "It is open when he died."),
        ("Fact [1] says less than [3].", "Fact says less than."),
        ("In 1843 (1843) nothing is said [sic].", "In 1843 (1843) nothing is said [sic]."),
    ],
)
def test_what_is_uncertain_is_told_without_numbers_of_facts(written: str, said: str) -> None:
    assert without_marks(written, {1, 2, 3}) == said


LEASES = [
    Fact(1, Citation("a", "The rent is 4,850 euros a month.", "a.pdf"), 0.5),
    Fact(2, Citation("b", "The rent is 3,920 euros a month.", "b.pdf"), 0.9),
]


@pytest.mark.parametrize(
    ("answer", "text", "numbers"),
    [
        ("The rent is 4,850 euros a month [1][2].", "The rent is 4,850 euros a month.", [(1,)]),
        ("The rent is 4,100 euros a month [1][2].", "", []),
        (
            "The rent is 4,850 euros a month [1]. The rent is 3,920 euros a month [2].",
            "The rent is 4,850 euros a month. The rent is 3,920 euros a month.",
            [(1,), (2,)],
        ),
        (
            "The rents are between 3,920 and 4,850 euros [1][2].",
            "The rents are between 3,920 and 4,850 euros.",
            [(1, 2)],
        ),
    ],
)
def test_a_fact_with_other_figures_bears_no_sentence_out(
    answer: str, text: str, numbers: list[tuple[int, ...]]
) -> None:
    said = proven(answer, LEASES)
    assert said.text == text
    assert [tuple(f.number for f in s.facts) for s in said.statements] == numbers
    assert bool(said.left_out) is not bool(text)

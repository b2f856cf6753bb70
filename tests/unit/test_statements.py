"""A final answer that says only what checked facts bear out."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.contracts.final_replies import AggregateReply, SentenceReply
from drift.evidence.answer_statements import GrowingStatements, Proven, joined, proven
from drift.model.tree import Citation, Fact

SPANS = {
    1: "Marley was dead: to begin with.",
    2: "Scrooge knew he was dead? Of course he did.",
    3: "Hogeschool is a term used in Belgium.",
}
FACTS = [Fact(n, Citation(f"c{n}", span, "carol.md"), 0.9) for n, span in SPANS.items()]

Rows = list[list[str | int]]


def sentences(rows: Rows) -> tuple[SentenceReply, ...]:
    """Return sentences as a reply gives them."""
    return AggregateReply.model_validate({"verdict": "not_found", "sentences": rows}).sentences


def said_by(rows: Rows) -> Proven:
    return proven(sentences(rows), FACTS)


def named(said: Proven) -> list[tuple[int, ...]]:
    return [tuple(fact.number for fact in statement.facts) for statement in said.statements]


def test_what_names_a_fact_is_delivered_and_the_rest_is_told() -> None:
    said = said_by([["Marley was dead.", 1, 3, 9], ["He was seventy."], ["Scrooge knew it.", 2]])

    assert said.text == "Marley was dead. Scrooge knew it."
    assert [(s.text, s.facts) for s in said.statements] == [
        ("Marley was dead.", (FACTS[0], FACTS[2])),
        ("Scrooge knew it.", (FACTS[1],)),
    ]
    assert [said.text[: s.ends] for s in said.statements] == ["Marley was dead.", said.text]
    assert said.left_out == ("He was seventy.",)


# Of each language two sentences that facts bear out, and one that none does.
LANGUAGES = {
    "ar": ("كان مارلي ميتا.", "عرف سكروج ذلك.", "كان عمره سبعين عاما ولم يعرفه أحد."),
    "de": (
        "Marley war tot.",
        "iPhone und z. B. Scrooge wussten es.",
        "Er wurde siebzig Jahre alt.",
    ),
    "en": ("Marley was dead.", "numpy knew it, i.e. Dr. Scrooge.", "He was seventy years old."),
    "es": ("¿Murió Marley? Sí.", "La Sra. García lo sabía.", "Tenía setenta años entonces."),
    "fr": ("Marley était « mort ».", "M. Scrooge le savait.", "Il avait alors soixante-dix ans."),
    "he": ("מארלי היה מת.", "סקרוג ידע זאת.", "הוא היה בן שבעים כבר אז."),
    "hi": ("मार्ली मर चुका था।", "स्क्रूज यह जानता था।", "वह तब सत्तर साल का था।"),
    "ja": ("マーレイは死んでいた。", "スクルージは知っていた。", "彼は七十歳だった。"),
    "ru": ("Марли был мёртв.", "Скрудж знал это.", "Ему было тогда семьдесят лет."),
    "zh": ("马利死了。", "斯克鲁奇知道\uff08见[3]\uff09。", "他当时七十岁。"),
}
# How an answer is given, and how it is delivered; A and B are proven, U is not.
FORMS: dict[str, tuple[Rows, str]] = {
    "one": ([["A", 1]], "A"),
    "none": ([["U"]], ""),
    "unproven_amid": ([["A", 1], ["U"], ["B", 2]], "A~B"),
    "unproven_first": ([["U"], ["A", 1]], "A"),
    "paragraphs": ([["A", 1], ["\n\nB", 2]], "A\n\nB"),
    "paragraph_of_nothing": ([["A", 1], ["\n\nU"], ["\n\nB", 2]], "A\n\nB"),
    "list": ([["- A", 1], ["- U"], ["- B", 2]], "- A\n- B"),
    "numbered": ([["A", 1], ["1. A", 1], ["2. U"], ["3. B", 2]], "A\n\n1. A\n3. B"),
    "introduction": ([["X:"], ["- A", 1], ["- B", 2]], "X:\n\n- A\n- B"),
    "introduction_of_nothing": ([["A", 1], ["X:"], ["- U"]], "A"),
    "nested": ([["- X"], ["\n  - A", 1], ["\n  - U"], ["- B", 2]], "- X\n  - A\n- B"),
    "item_of_two": ([["- A", 1], [" B", 2], ["- U"], [" A", 1]], "- A~B\n- A"),
    "heading": ([["## X"], ["A", 1], ["## Y"], ["U"]], "## X\n\nA"),
    "bold_heading": ([["**X**"], ["U"], ["**Y**"], ["\nB", 2]], "**Y**\nB"),
    "table": (
        [["| X | Y |"], ["|---|---|"], ["| x | A |", 1], ["| y | U |"], ["| z | B |", 2]],
        "| X | Y |\n|---|---|\n| x | A |\n| z | B |",
    ),
    "code": ([["A", 1], ["```c\narr[2] = f(1);\n```", 2], ["```c\nU\n```"]],
             "A\n\n```c\narr[2] = f(1);\n```"),
    "quotation": ([["> A", 1], ["> U"], ["B", 2]], "> A\n\nB"),
    "own_brackets": ([["Smith [3] showed arr[2], (3): A", 1]], "Smith [3] showed arr[2], (3): A"),
    "formula": ([["$x^2 < 10⁻³$ 🙂 A", 1], ["🙂 U"]], "$x^2 < 10⁻³$ 🙂 A"),
    "emphasis": ([["**A**", 1], ["*U*.."], ["*B*", 2]], "**A** *B*"),
}  # fmt: skip


def filled(text: str, language: str) -> str:
    """Return a form with sentences of a language; between two of Japanese stands nothing."""
    for name, words in zip("ABU", LANGUAGES[language], strict=True):
        text = re.sub(rf"\b{name}\b", lambda _, words=words: words, text)
    return text.replace("~", "" if re.search("[。]~", text) else " ")


def answer(form: str, language: str) -> tuple[Rows, str]:
    rows, text = FORMS[form]
    given = [[filled(row[0], language), *row[1:]] for row in rows if isinstance(row[0], str)]
    return given, filled(text, language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("form", FORMS)
def test_nothing_proven_is_lost_and_nothing_unproven_kept(form: str, language: str) -> None:
    rows, text = answer(form, language)
    said = said_by(rows)

    assert said.text == text
    proven_rows = [row[0] for row in rows if len(row) > 1]
    assert len(said.statements) == len(proven_rows)
    ended = [said.text[: one.ends].rstrip(" |") for one in said.statements]
    assert all(
        text.endswith(one.text[-1]) for text, one in zip(ended, said.statements, strict=True)
    )


def test_fragments_lead_to_the_sentence_whose_fact_has_their_words() -> None:
    assert said_by([["Hogeschool."], ["It is a term.", 3]]).text == "Hogeschool. It is a term."
    assert said_by([["Academy."], ["It is a term.", 3]]).text == "It is a term."
    assert said_by([["Yes."], ["Marley was dead.", 1]]).text == "Yes. Marley was dead."
    assert said_by([["Yes."], ["\nMarley was dead.", 1]]).text == "Marley was dead."


def test_an_introduction_that_says_much_needs_a_fact_of_its_own() -> None:
    much = "Scrooge, who was born in Rome as the son of a baker, went to sea and " * 2
    assert said_by([[f"{much} met:"], ["- Marley", 1]]).text == "- Marley"


def test_a_row_is_told_as_its_cells_and_code_as_it_is() -> None:
    said = said_by([["| a | b |"], ["| Past | two |", 1], ["```\nx\n```", 2]])
    assert [one.text for one in said.statements] == ["Past, two", "```\nx\n```"]
    assert [one.ends for one in said.statements] == [24, len(said.text)]


@pytest.mark.parametrize("code", ["```c\nx", "```\nx\n```", "~~~\nx", "```", "````\n```\n````"])
def test_a_block_of_code_takes_in_nothing_that_follows(code: str) -> None:
    text = said_by([[f"{code}\nx = 1", 1], ["It runs.", 2]]).text
    fence = code[:3]
    assert text.endswith(f"{fence}\n\nIt runs.")


def test_numbers_that_were_never_given_prove_nothing() -> None:
    assert proven(sentences([["Dead.", 1]]), []).text == ""
    assert said_by([["It was so.", 99]]).left_out == ("It was so.",)


def test_words_are_needed_for_a_statement() -> None:
    assert said_by([["...", 1], ["", 2], ["🙂", 1]]) == Proven()


WORDS = st.sampled_from(
    ["Dead", "he", "Mr.", ".", ":", " ", "\n", "\n\n", "[1]", "- ", "  - ", "1. ", "# ", "**", "> ",
     "| a |", "|---|", "```", "\n---\n", '"', "。", "说", "---"]
)  # fmt: skip
ROWS = st.lists(
    st.tuples(st.lists(WORDS, max_size=6).map("".join), st.lists(st.integers(0, 4), max_size=2)),
    max_size=12,
).map(lambda rows: [[text, *numbers] for text, numbers in rows])


@given(ROWS)
def test_an_answer_that_grows_only_adds(rows: Rows) -> None:
    growing = GrowingStatements(FACTS)
    told = [""]
    for sentence in sentences(rows):
        growing.add(sentence)
        assert growing.text.startswith(told[-1])
        told.append(growing.text)

    whole = growing.end()
    assert whole == said_by(rows)
    assert whole.text == told[-1]
    assert all(statement.facts and statement.text for statement in whole.statements)


@given(ROWS)
def test_what_is_kept_holds_no_words_of_its_own(rows: Rows) -> None:
    given = sentences(rows)
    remaining = iter(re.findall(r"\w", "".join(one.text for one in given)))
    assert all(letter in remaining for letter in re.findall(r"\w", said_by(rows).text))
    remaining = iter(re.findall(r"\w", joined(given)))
    assert all(letter in remaining for letter in re.findall(r"\w", said_by(rows).text))


@pytest.mark.parametrize("text", ["Dead. ", "(", "- [ ] ", "> ", "**", "- - ", "|-", " \n"])
def test_a_sentence_of_any_size_is_read_at_once(text: str) -> None:
    begun = time.process_time()
    said_by([[text * (16_000 // len(text)), 1], *[["- X"]] * 400, *[["| x |"]] * 400])
    assert time.process_time() - begun < 2


LEASES = [
    Fact(1, Citation("a", "The rent is 4,850 euros a month.", "a.pdf"), 0.5),
    Fact(2, Citation("b", "The rent is 3,920 euros a month.", "b.pdf"), 0.9),
]


@pytest.mark.parametrize(
    ("rows", "numbers"),
    [
        ([["The rent is 4,850 euros a month.", 1, 2]], [(1,)]),
        ([["The rent is 4,100 euros a month.", 1, 2]], []),
        ([["The rent is 4,850 euros.", 1], ["The rent is 3,920 euros.", 2]], [(1,), (2,)]),
        ([["The rents are between 3,920 and 4,850 euros.", 1, 2]], [(1, 2)]),
    ],
)
def test_a_fact_with_other_figures_bears_no_sentence_out(
    rows: Rows, numbers: list[tuple[int, ...]]
) -> None:
    said = proven(sentences(rows), LEASES)
    assert named(said) == numbers
    assert bool(said.left_out) is not bool(numbers)

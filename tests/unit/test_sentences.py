"""A text as the units that are cited: what is one, what is lost, and what it costs."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.core.sentence_ends import split_sentences
from drift.evidence.sentences import MAX_SPAN_CHARACTERS, sentences, spans

ENGLISH = "It is known that the ship was of the line and was to be at sea. "


@pytest.mark.parametrize(
    "text",
    [
        "Mr. Scrooge went home.| J. R. R. Tolkien wrote it.| See No. 5 and e.g. this one.",
        "He served in the U.S. Army at 5 p.m. on Jan. 5, 1955.| Dr. J. Smith Jr. was there.",
        "This is the value of x.| See Roe v. Wade, and part b.| So it is.",
        "It weighs approx. 5.3 kg.| See Vol. 2, pp. 3-5.",
        '"No!" said he.| "Humbug!" cried Scrooge, and left.| He said, "Go home."| Then he left.',
        "“Bah!” said Scrooge, “Humbug!”| “A humbug, uncle!” said Scrooge’s nephew.",
        "'You'll want all day to-morrow?' said Scrooge.| 'If quite convenient, sir.'",
        "He waited... and then left.| What?!| Really.",
        "Then it ends.[2]| Another one. [3]| The last (see p. 5).",
        "第一句话。|第二句话\uff01|第三",
        "これはペンです。|いいえ\uff01|違います。",
        "Am 5. Mai 1955 kam Dr. Müller z. B. mit dem Zug.| Das war im 19. Jahrhundert so.",
        "Er sagte: „Nein!“| Dann ging er mit dem Zug von der Stadt.",
        "La Sra. García vive aquí.| La Dra. Ruiz llegó a EE. UU. ayer.| Véase la pág. 5.",
        "By Eq. 3 and Thm. 4 it holds.| See Tab. 2, Figs. 4 and 5, and Sect. 6.",
        "On 5. May 1990 it was sold.| It has 5.| Many came to Ft. Worth.",
        "Der Gesch.-Führer ist da.| Die Fa. Meier und die Abt. Einkauf auch.| Wir sind die Alten.",
        "It is of type AA.| He said so.| It is in the app.| So be it.",
    ],
)
def test_prose_is_cut_where_its_sentences_end(text: str) -> None:
    assert [s.strip() for s in text.split("|")] == list(sentences(text.replace("|", "")))


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("# Heading\nSome text. More\nof it.", ["# Heading", "Some text.", "More\nof it."]),
        ("Heading\n=======\nText.", ["Heading\n=======", "Text."]),
        ("- one\n- two. With two.\n* three", ["- one", "- two. With two.", "* three"]),
        (
            "1. First item\n2. Second one\n   goes on",
            ["1. First item", "2. Second one\n   goes on"],
        ),
        ("He was born on the\n5. of May. Then", ["He was born on the\n5. of May.", "Then"]),
        ("| a | b |\n|---|---|\n| 1. x | 2 |", ["| a | b |\n|---|---|", "| 1. x | 2 |"]),
        ("name\tborn\nAda\t1815", ["name\tborn", "Ada\t1815"]),
        ("> One.\n>\n> Two.", ["> One.\n>", "> Two."]),
        ("one paragraph\r\n\r\nanother one", ["one paragraph", "another one"]),
        (
            "Tyger Tyger, burning bright,\nIn the forests of the night;\n\nWhat immortal hand",
            ["Tyger Tyger, burning bright,\nIn the forests of the night;", "What immortal hand"],
        ),
        ("", []),
        (" \n\n\t", []),
        ("***", ["***"]),
    ],
)
def test_a_line_of_what_is_no_prose_is_a_unit(text: str, units: list[str]) -> None:
    assert list(sentences(text)) == units


def test_code_is_cut_at_its_lines_and_at_blank_ones() -> None:
    body = [f"    total_{n} = first_{n}.value + second_{n}.value" for n in range(12)]
    code = "```python\ndef add():\n" + "\n".join(body) + "\n\nadd()\n```"

    units = sentences(code)

    assert len(units) > 3
    assert all(len(unit) <= 200 for unit in units)
    lines = [line for unit in units for line in unit.splitlines()]
    assert [line.strip() for line in lines] == [
        line.strip() for line in code.splitlines() if line.strip()
    ]
    assert units[-1] == "add()\n```"
    unfenced = "\n".join(line.strip() for line in body)
    assert {line for unit in sentences(unfenced) for line in unit.splitlines()} == set(
        unfenced.splitlines()
    )
    assert all(len(unit) <= 200 for unit in sentences(unfenced))


def test_prose_behind_half_a_fence_is_still_cut_into_sentences_or_lines() -> None:
    text = "x = 1\n```\n" + "\n".join([ENGLISH.strip()] * 20)
    _, *others = sentences(text)
    assert others
    assert all(len(unit) <= 200 for unit in others)


@pytest.mark.parametrize(
    "text", ["word " * 1000, "字" * 5000, "- " + "item " * 1000], ids=["words", "no spaces", "item"]
)
def test_a_sentence_of_5000_characters_is_cut_between_its_words(text: str) -> None:
    units = sentences(text)

    assert len(units) >= 5000 // MAX_SPAN_CHARACTERS
    assert max(map(len, units)) <= MAX_SPAN_CHARACTERS
    assert "".join("".join(units).split()) == "".join(text.split())
    words = set(text.split())
    if max(map(len, words)) < MAX_SPAN_CHARACTERS:
        assert {word for unit in units for word in unit.split()} <= words


LAYOUT = st.sampled_from(
    [
        "A b. ",
        "c d",
        "\n",
        "\n\n",
        "\r\n",
        " ",
        "# ",
        "- ",
        "1. ",
        "| ",
        "\t",
        "```\n",
        ">",
        "---\n",
    ]
)
ODDITIES = st.sampled_from(
    ["“", "”", "(", "!", "。", "im 5. ", "Vol. ", "of x. ", "\ud800", "😀", "word " * 40, "a" * 700]
)


@given(st.lists(LAYOUT | ODDITIES | st.text(max_size=8), max_size=60).map("".join))
def test_units_are_slices_in_order_and_lose_nothing_but_white_space(text: str) -> None:
    end = 0
    for start, stop in spans(text):
        assert start >= end
        assert not text[end:start].strip()
        assert 0 < stop - start <= MAX_SPAN_CHARACTERS
        assert text[start:stop] == text[start:stop].strip()
        end = stop
    assert not text[end:].strip()


PARAGRAPHS = st.sampled_from(
    [
        ENGLISH * 3,
        "“No!” said he, “not at all.” He left. And so did she, at 5 p.m. sharp.",
        "## A heading",
        "- an item\n- another item, of two. Yes.",
        "| a | b |\n|---|---|\n| c | d |",
        "```\nx = 1\n\ny = 2\n```",
        "Line of a verse,\nand another line;\n",
        "第一句话。第二句话\uff01",
        "word " * 300,
    ]
)


@given(st.lists(PARAGRAPHS, min_size=1, max_size=8), st.data())
def test_a_text_cut_behind_a_unit_begins_with_the_same_units(
    paragraphs: list[str], data: st.DataObject
) -> None:
    text = ENGLISH * 20 + "\n\n" + "\n\n".join(paragraphs)
    whole = spans(text)
    last = data.draw(st.integers(0, len(whole) - 1))

    assert spans(text[: whole[last][1]]) == whole[: last + 1]


@pytest.mark.parametrize("piece", ["中。", "(a. ", "x\n", "```\nx\n"])
def test_the_work_grows_no_faster_than_the_text(piece: str) -> None:
    def seconds(characters: int) -> float:
        text = piece * (characters // len(piece))
        fastest = 9.0
        for _ in range(3):
            start = time.process_time()
            spans(text)
            fastest = min(fastest, time.process_time() - start)
        return fastest

    assert seconds(80_000) < 12 * max(seconds(20_000), 0.002)


def test_a_name_of_code_is_never_cut_at_its_full_stop() -> None:
    code = "def own(self) -> tuple[str, ...]:\n    return self._rules[self._read(folder)]"
    assert sentences(code) == (code,)
    assert sentences("It is _so._ Then it went.") == ("It is _so.", "_ Then it went.")


@pytest.mark.parametrize("before", ["", "Two lost power.\n\n", "**Ada.** He did not.\n", "> "])
@pytest.mark.parametrize(
    "label",
    ["**Northlight.**", "*Northlight*.", "__2. Northlight:__", "***Did Dr. Northlight go?***"],
)
def test_a_label_stays_with_the_sentence_that_it_introduces(before: str, label: str) -> None:
    said = f"{label} She lost power\noff Skerry."
    text = f"{before}{said} Then she drifted."
    *_, first, second = sentences(text)
    assert (first.removeprefix("> "), second) == (said, "Then she drifted.")
    assert list(split_sentences(text))[-2:] == [f"{'> ' if before == '> ' else ''}{said}", second]


def test_a_label_stays_in_a_long_item() -> None:
    units = sentences(f"- **Northlight.** She lost power. {'Then she drifted for miles. ' * 9}")
    assert units[:2] == ("- **Northlight.** She lost power.", "Then she drifted for miles.")


@pytest.mark.parametrize("parted", ["Octo-\nber", "Octo-\n\n\fber", "Octo-\n\n12\n\n\fber"])
def test_no_unit_ends_within_a_word_that_a_page_parts(parted: str) -> None:
    text = f"The crane was replaced in {parted} 2021. It is new."
    assert sentences(text) == (f"The crane was replaced in {parted} 2021.", "It is new.")

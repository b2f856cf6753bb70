"""Handles that stand in a model's prose: none is left, and nothing else is changed."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.evidence.handles import without_handles

NAMES = {"K1": "Manual", "K3": "Manual", "K5": "Guide", "K12": "Atlas", "C2": ""}


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("It sank (K1).", "It sank."),
        ("It sank [K1, K3] in May.", "It sank in May."),
        ("It sank (K3.4; K5), he said.", "It sank, he said."),
        ("It sank [K3, sentences 4-6 and 9; chunk K5 s. 2].", "It sank."),
        ("It sank (K1 and K5). (C2) So it was.", "It sank. So it was."),
        ("(K1) It sank.", "It sank."),
        ("It sank.[K1][K3]", "It sank."),
        ("K3 says that it sank.", "Manual says that it sank."),
        ("The ship of K3.4 sank, see K5.", "The ship of Manual sank, see Guide."),
        ("K1, K3 and K5 agree.", "Manual and Guide agree."),
        ("According to C2, the ship sank.", "The ship sank."),
        ("It sank. In C2, the ship sank.", "It sank. The ship sank."),
        ("It sank (the Manual, K1, page 5).", "It sank (the Manual, Manual, page 5)."),
        ("- K3: it sank\n- (K5)\n", "- Manual: it sank\n-\n"),
        ("It sank (K1, 1955).", "It sank (Manual, 1955)."),
    ],
)
def test_a_handle_goes_with_its_brackets_or_a_name_takes_its_place(text: str, clean: str) -> None:
    assert without_handles(text, NAMES) == clean


@pytest.mark.parametrize(
    "text", ["K2, the mountain, is high.", "AK1 and K1x (K10).", "In May (1955), see [3].", "  a "]
)
def test_what_is_no_handle_of_the_request_stays_as_it_is(text: str) -> None:
    assert without_handles(text, NAMES) == text
    assert without_handles(text, {}) == text


def test_a_word_of_the_evidence_is_no_handle() -> None:
    names = {"K2": "Manual", "K3": "Guide"}
    text = "They climbed K2 (K2 is 8611 m high) (K3)."

    assert without_handles(text, names, ["Who climbed K2?"]) == (
        "They climbed K2 (K2 is 8611 m high)."
    )
    assert without_handles(text, names, ["Who was K21, and AK2?"]) == (
        "They climbed Manual (Manual is 8611 m high)."
    )


HANDLES_AND_MARKS = st.sampled_from([*NAMES, "K2", *"()[].;-:*4a", ", ", " ", "  ", "\n", "\u2013"])
WORDS = st.sampled_from(
    ["sentence 4", "chunk ", "and ", "In ", "according to ", "see ", "The ship", "\ufdd1"]
)
HANDLE = re.compile(r"(?<!\w)(?:K1|K3|K5|K12|C2)(?!\w)")


@given(
    st.lists(HANDLES_AND_MARKS | WORDS, max_size=25).map("".join),
    st.sets(st.sampled_from([*NAMES])),
)
def test_no_known_handle_is_left_but_those_of_the_evidence(text: str, said: set[str]) -> None:
    clean = without_handles(text, NAMES, [" ".join(said)])

    assert set(HANDLE.findall(clean)) == set(HANDLE.findall(text)) & said


@given(st.text(max_size=100))
def test_text_without_handles_is_unchanged(text: str) -> None:
    if not HANDLE.search(text):
        assert without_handles(text, NAMES) == text


@given(
    st.lists(st.sampled_from(["the ship", "sank", "in May", "here"]), min_size=2, max_size=9),
    st.data(),
)
def test_brackets_of_handles_leave_the_sentence_as_it_was(
    words: list[str], data: st.DataObject
) -> None:
    place = data.draw(st.integers(1, len(words)))
    cited = [
        *words[:place],
        data.draw(st.sampled_from(["(K1)", "[K3.4]", "(K1; K5)"])),
        *words[place:],
    ]

    assert without_handles(" ".join(cited) + ".", NAMES) == " ".join(words) + "."


@pytest.mark.parametrize("piece", ["(", "K1, ", "(K1, ", "see "])
def test_a_hostile_answer_costs_no_more_than_any_other(piece: str) -> None:
    start = time.process_time()
    without_handles(piece * (32_000 // len(piece)) + "K1", NAMES)
    assert time.process_time() - start < 2

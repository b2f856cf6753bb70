"""What was found as elements of a prompt, and short handles in place of ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.local.prompt_elements import Element, element
from drift.model.graph import Community
from drift.model.tree import (
    ANSWERED,
    NO_EVIDENCE,
    Citation,
    LocalAnswer,
    Node,
    Question,
    Verdict,
)
from drift.prompting import elements
from drift.prompting.elements import Handles, SearchHistory
from drift.prompting.tokens import cut
from tests.fakes import chunk

SHOWN = Handles.of("K", ["a", "b", "c"])


@given(st.lists(st.one_of(st.integers(), st.text()), max_size=30))
def test_every_handle_leads_back_to_its_key(keys: list) -> None:
    handles: Handles[int | str] = Handles.of("C", keys)
    for key, short in zip(handles.keys, handles.all_short(), strict=True):
        assert handles.short(key) == short
        assert handles.resolve(short) == key


@pytest.mark.parametrize("written", ["k2", "[ K2 ]", "K02", "chunk-b", "[chunk-b]"])
def test_a_handle_or_the_real_id_is_understood(written: str) -> None:
    assert Handles.of("K", ["chunk-a", "chunk-b"]).resolve(written) == "chunk-b"


@pytest.mark.parametrize("written", ["", "K0", "K3", "K²", "K999999999999999999999", "C1"])
def test_what_names_no_key_resolves_to_none(written: str) -> None:
    assert Handles.of("K", ["chunk-a", "chunk-b"]).resolve(written) is None


def test_a_community_number_is_found_by_its_real_id_in_its_own_type() -> None:
    handles: Handles[int | str] = Handles.of("C", [17, "x"])
    assert handles.resolve("17") == 17
    assert handles.resolve("C1") == 17


def test_a_community_has_its_title_where_its_summary_does_not_say_it() -> None:
    communities = [
        Community(7, 1, "s" * 5000, title='A\n"mill"'),
        Community("x", None, "About: corn, mills.", title="corn, mills"),
    ]
    rows = elements.community_elements(communities, Handles.of("C", [7, "x"]))
    assert [element(row, "community") for row in rows] == [
        Element(
            {"id": "C1", "level": "1", "title": "A 'mill'"}, "s" * elements.MAX_SUMMARY_CHARACTERS
        ),
        Element({"id": "C2"}, "About: corn, mills."),
    ]


# ------------------------------------------------------------------------------------------- chunks


@given(
    st.lists(
        st.one_of(
            st.sampled_from(["1| ", "2| ", "\n3| ", "\n", "\r", "\n\n12| ", ". ", "</chunk>", "x"]),
            st.text(st.characters(exclude_categories=["Cs", "Cf"]), max_size=5),
        ),
        max_size=15,
    ).map("".join)
)
def test_a_line_of_a_chunk_cannot_pose_as_a_numbered_sentence(text: str) -> None:
    written = elements.chunk_element(chunk("a", f"Begin. {text}"), "K1")
    content = written.partition(">")[2].rpartition("</")[0].strip("\n")
    lines = content.replace("\r", "\n").split("\n")
    numbers = [line.partition("| ")[0] for line in lines if not line.startswith("   ")]
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    # A reader finds what was written: all of the text, in as many sentences as are numbered.
    shown = element(written, "chunk").sentences()
    assert [str(number) for number in shown] == numbers
    said = "".join("".join(shown.values()).split())
    assert said.replace("&lt;", "<") == "".join(f"Begin. {text}".split()).replace("&lt;", "<")


# -------------------------------------------------------------------------------------------- asked
def node(text: str, said: str, *cited: Citation, verdict: Verdict = "answered") -> Node:
    answer = LocalAnswer(said, cited, 0.5, verdict=verdict)
    return Node(Question(0, text), ANSWERED, answer)


def told(memory: SearchHistory, *shown: str) -> list[Element]:
    rows = elements.asked_elements(memory, shown, SHOWN)
    return [element(row, "followup") for row in rows]


def test_what_was_asked_stands_with_its_answer_and_evidence_or_as_looked_for_in_vain() -> None:
    memory = SearchHistory(
        (
            node(
                "Who?",
                "Ann,\nor Bob.",
                Citation("b", "Ann\n  did.", "d", "4-5"),
                Citation("a", "Bob did.", "d"),
                verdict="partly",
            ),
            node("When?", "I do not know.", verdict="answered"),
            Node(Question(3, "What for?"), NO_EVIDENCE),
        ),
    )
    assert told(memory) == [
        Element({"state": "partly"}, "Who?\nAnn, or Bob.\nK2.4-5 Ann did.\nK1 Bob did."),
        Element({"state": "looked for in vain"}, "When?"),
        Element({"state": "looked for in vain"}, "What for?"),
    ]


def test_evidence_in_a_chunk_that_is_shown_as_well_is_only_named() -> None:
    cited = (Citation("b", "Ann did.", "d", "4"), Citation("a", "Bob did.", "d", "1"))
    [one] = told(SearchHistory((node("Who?", "Both.", *cited),)), "b")
    assert one.lines() == ["Who?", "Both.", "K2.4", "K1.1 Bob did."]


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (f"Ann did it; Bob saw it. {'So she said at once; ' * 20}", "Ann did it; Bob saw it."),
        (f"{'Ann did it; ' * 30}and left.", f"{'Ann did it; ' * 24}Ann did it; \u2026"),
        ("Ann did it; Bob saw it", "Ann did it; Bob saw it"),
    ],
)
def test_a_long_answer_of_before_ends_with_a_sentence_or_says_that_it_was_cut(
    answer: str, shown: str
) -> None:
    [one] = told(SearchHistory((node("Who?", answer, Citation("b", "So.", "d")),)), "b")
    assert one.lines()[1] == shown


# ---------------------------------------------------------------------------------- order, and cuts
@given(st.text(max_size=80), st.integers(0, 80))
def test_a_cut_text_is_a_beginning_within_its_bound(text: str, most: int) -> None:
    short = cut(text, most)
    assert text.startswith(short)
    assert len(short) <= most
    assert short == text or len(short) >= most // 2


@pytest.mark.parametrize(
    ("text", "most", "short"),
    [
        ("One thing is said. Another follows here.", 25, "One thing is said."),
        ('He said "so it is." Then he left us all.', 25, 'He said "so it is."'),
        ("It costs 1.5 million and some more", 10, "It costs"),
        ("第一句話在這裡。第二句話也在這裡。", 10, "第一句話在這裡。"),
        ("沒有句號的一段很長的文字", 5, "沒有句號的"),
        ("whole words only", 8, "whole"),
        ("He saw it; she did not. So it is.", 22, "He saw it; she did"),
        ("Πού είναι το παιδί; Εδώ είναι.", 25, "Πού είναι το παιδί;"),
    ],
)
def test_a_text_is_cut_after_a_sentence_or_a_word(text: str, most: int, short: str) -> None:
    assert cut(text, most) == short

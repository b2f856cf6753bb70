"""What fits into a prompt, and short handles in place of ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift import context
from drift.context import Handles
from drift.tokens import cut
from drift.values.graph import Community, Entity, Evidence, Relationship
from drift.values.tree import ANSWERED, Answer, Citation, FollowupState, Node, Question


@given(st.lists(st.one_of(st.integers(), st.text()), max_size=30))
def test_every_handle_leads_back_to_its_key(keys: list) -> None:
    handles: Handles[int | str] = Handles.of("C", keys)
    for key, short in zip(handles.keys, handles.all_short(), strict=True):
        assert handles.short(key) == short
        assert handles.resolve(short) == key


@pytest.mark.parametrize(
    "written", ["K2", "k2", " K2 ", "[K2]", "[ K2 ]", "K02", "chunk-b", " chunk-b", "[chunk-b]"]
)
def test_a_handle_or_the_real_id_is_understood(written: str) -> None:
    assert Handles.of("K", ["chunk-a", "chunk-b"]).resolve(written) == "chunk-b"


@pytest.mark.parametrize(
    "written", ["", "K", "K0", "K3", "K-1", "K²", "K999999999999999999999", "C1", "chunk-c", "[]"]
)
def test_what_names_no_key_resolves_to_none(written: str) -> None:
    assert Handles.of("K", ["chunk-a", "chunk-b"]).resolve(written) is None


def test_a_community_number_is_found_by_its_real_id_in_its_own_type() -> None:
    handles: Handles[int | str] = Handles.of("C", [17, "x"])
    assert handles.resolve("17") == 17
    assert handles.resolve("C1") == 17


def test_a_real_id_in_brackets_is_found() -> None:
    assert Handles.of("K", ["[1]"]).resolve("[1]") == "[1]"


@pytest.mark.parametrize("count", [1, 5, 50])
def test_community_summaries_are_bounded_together(count: int) -> None:
    communities = [Community(n, 0, "s" * 5000) for n in range(count)]
    rows = context.community_rows(communities, Handles.of("C", range(count)))
    lengths = [len(row["summary"]) for row in rows]
    assert max(lengths) <= context.MAX_SUMMARY_CHARACTERS
    assert sum(lengths) <= context.MAX_SUMMARIES_CHARACTERS


def test_the_neighbourhood_is_bounded() -> None:
    evidence = Evidence(
        entities=tuple(Entity(str(n), f"E{n}", "word " * 900) for n in range(100)),
        relationships=tuple(Relationship("a", f"b{n}", "word " * 900) for n in range(100)),
    )
    rows = context.neighbourhood([evidence])
    assert len(rows["entities"]) == len(rows["relationships"]) == context.MAX_NEIGHBORHOOD_ITEMS
    for row in (*rows["entities"], *rows["relationships"]):
        assert 0 < len(row["description"]) <= context.MAX_DESCRIPTION_CHARACTERS
        assert set(row["description"].split()) == {"word"}


def test_what_has_no_description_is_left_out_and_leaves_its_place_to_others() -> None:
    blank = tuple(Entity(str(n), f"E{n}", " \n") for n in range(50))
    silent = tuple(Relationship("a", f"b{n}") for n in range(50))
    evidence = Evidence(
        entities=(*blank, Entity("x", "X", "known")),
        relationships=(*silent, Relationship("x", "y", "knows")),
    )
    assert context.neighbourhood([evidence]) == {
        "entities": [{"title": "X", "description": "known"}],
        "relationships": [{"source": "x", "target": "y", "description": "knows"}],
    }


def test_two_entities_have_one_relationship_whichever_way_it_points() -> None:
    evidence = Evidence(
        relationships=(
            Relationship("a", "b", "first"),
            Relationship("b", "a", "back"),
            Relationship("a", "b", "again"),
            Relationship("a", "c", "other"),
        )
    )
    rows = context.neighbourhood([evidence])["relationships"]
    assert [row["description"] for row in rows] == ["first", "other"]


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
        ("Das ist so. Übermorgen kommt noch etwas", 12, "Das ist so."),
        ("第一句話在這裡。第二句話也在這裡。", 10, "第一句話在這裡。"),
        ("沒有句號的一段很長的文字", 5, "沒有句號的"),
        ("ends here", 4, "ends"),
        ("whole words only", 8, "whole"),
        ("whole", 5, "whole"),
    ],
)
def test_a_text_is_cut_after_a_sentence_or_a_word(text: str, most: int, short: str) -> None:
    assert cut(text, most) == short


def test_the_tree_holds_answered_nodes_only_the_most_confident_first() -> None:
    def node(number: int, confidence: float) -> Node:
        cited = (Citation(f"c{number}", "span", "doc"),)
        return Node(
            Question(number, f"q{number}"), ANSWERED, Answer(f"a{number}", cited, confidence, False)
        )

    nodes = [node(0, 0.2), Node(Question(1, "q1"), FollowupState("failed", "x")), node(2, 0.987)]
    assert context.tree("first", nodes, Handles.of("K", ["c0", "c2"])) == {
        "initial_answer": "first",
        "followups": [
            {
                "question": "q2",
                "answer": "a2",
                "confidence": 0.99,
                "citations": [{"chunk_id": "K2", "span": "span"}],
            },
            {
                "question": "q0",
                "answer": "a0",
                "confidence": 0.2,
                "citations": [{"chunk_id": "K1", "span": "span"}],
            },
        ],
    }

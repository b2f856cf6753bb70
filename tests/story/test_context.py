"""What fits into a prompt, and short handles in place of ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift import context
from drift.context import Handles, fit
from drift.values.graph import Chunk, Community, Entity, Evidence, Relationship
from drift.values.tree import ANSWERED, Answer, Citation, FollowupState, Node, Question
from tests.fakes import chunk, community


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


@given(
    st.lists(st.text(max_size=40).map(lambda t: chunk("x", t or "-")), max_size=8),
    st.integers(1, 8),
    st.integers(1, 100),
)
def test_what_fits_is_a_prefix_within_both_bounds_and_never_empty(
    chunks: list[Chunk], most: int, room: int
) -> None:
    taken = fit(chunks, most, room)
    assert len(taken) <= most
    assert sum(len(c.text) for c in taken) <= room
    assert bool(taken) is bool(chunks)
    for got, given_ in zip(taken, chunks, strict=False):
        assert given_.text.startswith(got.text)
    if len(taken) < min(most, len(chunks)):
        used = sum(len(c.text) for c in taken)
        assert used + len(chunks[len(taken)].text) > room


def test_chunks_that_fill_the_room_exactly_fit() -> None:
    assert len(fit([chunk("a", "12345"), chunk("b", "67890")], 5, 10)) == 2
    assert len(fit([chunk("a", "12345"), chunk("b", "678901")], 5, 10)) == 1


def test_a_first_chunk_that_is_too_long_is_cut_and_keeps_its_id() -> None:
    assert fit([chunk("a", "x" * 20, "doc")], 3, 7) == (Chunk("a", "x" * 7, "doc"),)


def test_samples_are_bounded_also_when_the_first_is_huge() -> None:
    huge = community(1, chunk("a", "x" * 100_000), chunk("b"))
    rows = context.sample_rows([huge], [], Handles.of("C", [1]))
    assert sum(len(row["text"]) for row in rows) <= context.MAX_PROMPT_CHARACTERS


def test_each_sample_is_shown_once_under_its_first_community_and_loose_chunks_come_last() -> None:
    a, b, loose = chunk("a", "A"), chunk("b", "B"), chunk("l", "L")
    rows = context.sample_rows(
        [community(7, a), community("x", a, b)], [loose, b], Handles.of("C", [7, "x"])
    )
    assert rows == [
        {"id": "K1", "community": "C1", "document": "doc", "text": "A"},
        {"id": "K2", "community": "C2", "document": "doc", "text": "B"},
        {"id": "K3", "community": None, "document": "doc", "text": "L"},
    ]


@pytest.mark.parametrize("count", [1, 5, 50])
def test_community_summaries_are_bounded_together(count: int) -> None:
    communities = [Community(n, 0, "s" * 5000) for n in range(count)]
    rows = context.community_rows(communities, Handles.of("C", range(count)))
    lengths = [len(row["summary"]) for row in rows]
    assert max(lengths) <= context.MAX_SUMMARY_CHARACTERS
    assert sum(lengths) <= context.MAX_PROMPT_CHARACTERS


def test_the_neighbourhood_is_bounded() -> None:
    evidence = Evidence(
        entities=tuple(Entity(str(n), f"E{n}", "d" * 9000) for n in range(100)),
        relationships=tuple(Relationship("a", "b", "d" * 9000) for _ in range(100)),
    )
    rows = context.neighbourhood(evidence, Handles.of("K", ["n"]), [chunk("n", "N")])
    assert len(rows["entities"]) == len(rows["relationships"]) == 20
    assert (
        len(rows["entities"][0]["description"])
        == len(rows["relationships"][0]["description"])
        == 500
    )
    assert rows["chunks"] == [{"id": "K1", "document": "doc", "text": "N"}]


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

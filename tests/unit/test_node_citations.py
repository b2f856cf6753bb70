"""Citations of nodes: written in one way, never of a node that is not there, never in halves."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.nodes.node_citations import cited, cleaned

PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            ["[Node 1]", "[node 2, Node 9]", "[Node 9]", "[Nodes 1-3]", "【Node 2】", "[Node X]"]
        ),
        st.sampled_from(["[", "]", "[No", "de", " 1", "Node", "[Node 3", ", ", " and ", "\n", " "]),
        st.text(max_size=6),
    ),
    max_size=12,
).map("".join)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Marley was dead [node 2].", "Marley was dead [Node 2]."),
        ("Marley was dead[Node 2]", "Marley was dead[Node 2]"),
        ("Dead 【Node 2】.", "Dead [Node 2]."),
        ("Dead [Node 1, Node 2].", "Dead [Node 1] [Node 2]."),
        ("Dead [Node 1; Node 9].", "Dead [Node 1]."),
        ("Dead [Nodes 1-3].", "Dead [Node 1] [Node 2] [Node 3]."),
        ("Dead [Node 1: Chapter 2].", "Dead [Node 1]."),
        ("Dead [Node 9].", "Dead."),
        ("[Node 9] Dead.", "Dead."),
        ("Dead [Node].", "Dead."),
        ("Dead [Node " + "9" * 5000 + "].", "Dead."),
        ("Dead [Node 1-9999].", "Dead [Node 1]."),
        ("Dead [Node 1", "Dead"),
        ("Dead [No", "Dead"),
        ("A list[3] of [1, 2] and [Node.js](https://nodejs.org).", None),
        ("[Nodes of interest] are [nodding].", None),
        ("[Node 1\n] is no citation.", None),
        ("[Node [Node 9] 3]", "3]"),
        ("[[No[Node 9]de 3]", "de 3]"),
    ],
)
def test_a_citation_stays_where_its_node_is_there(written: str, kept: str | None) -> None:
    assert cleaned(written, 3) == (written if kept is None else kept)


@given(PIECES, st.integers(0, 4))
def test_what_is_delivered_of_a_beginning_is_the_beginning_of_what_is_delivered(
    text: str, shown: int
) -> None:
    whole = cleaned(text, shown)
    assert cited(whole) <= set(range(1, shown + 1))
    for end in range(len(text)):
        assert whole.startswith(cleaned(text[:end], shown))


@given(PIECES)
def test_no_half_of_a_citation_comes_out(text: str) -> None:
    whole = cleaned(f"{text} so [Node 2] and [Node 7]", 3)
    assert whole.endswith("so [Node 2] and")
    begun = cleaned(f"x{text}] so [Node 1", 3)
    assert begun.endswith(" so")
    assert "[Node 1" not in begun[-8:]


def test_cleaning_twice_is_cleaning_once() -> None:
    once = cleaned("a [Node 1, 2] b [Node 8] c【nodes 3】", 3)
    assert cleaned(once, 3) == once == "a [Node 1] [Node 2] b c[Node 3]"


@pytest.mark.parametrize("part", ["[", "[Node 1", "[Node 1,", "[Node   "])
def test_a_long_text_without_end_costs_little(part: str) -> None:
    start = time.process_time()
    cleaned(part * 20_000, 3)
    assert time.process_time() - start < 2

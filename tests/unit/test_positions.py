"""The beginning or the end of a document, as a model wishes for it and a reader gets it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.contracts.final_replies import QuickReply
from drift.contracts.replies import PrimerReply
from drift.core.errors import GraphUnavailableError
from drift.model.calls import Prompt
from drift.model.graph import Candidates, Chunk, Evidence, FollowupQuery, Position
from drift.search.ranking import MAX_PINNED, pin
from tests.fakes import StubGraph, chunk
from tests.unit.searching import FIRST, FOUND, TRACED, primer, run_of
from tests.unit.test_quick import ABOUT, OTHER, asked, looking, quick

LAST = chunk("k-last", "All went home.", "A")

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@pytest.mark.parametrize(
    ("said", "read"),
    [("end", "end"), (" After", "after"), ("middle", ""), (None, ""), (["end"], "")],
)
def test_a_position_is_read_or_ignored(said: object, read: str) -> None:
    [followup] = PrimerReply.model_validate(
        {"followups": [{"question": "How does it end?", "position": said}]}
    ).followups
    assert followup.position == read
    assert QuickReply.model_validate(quick(position=said)).position == read


@given(ANYTHING, ANYTHING)
def test_no_position_and_no_document_makes_a_reply_unusable(position: Any, document: Any) -> None:
    followup = {"question": "Who?", "position": position, "document": document}
    assert PrimerReply.model_validate({"followups": [followup]}).followups[0].question == "Who?"


async def test_a_follow_up_of_the_primer_is_searched_with_its_position() -> None:
    reply = primer(FIRST, "Wie endet die Erz\u00e4hlung?")
    reply["followups"][1] |= {"position": "end", "document": "Tale.txt"}
    run = run_of(primer_reply=reply)
    await run(TRACED)
    positions = {query.question: query.position for query in run.ports.graph.followups}
    assert positions[FIRST] is None
    assert positions["Wie endet die Erz\u00e4hlung?"] == Position("end", "Tale.txt")


def pinned_last(query: FollowupQuery) -> Evidence:
    """Return what a graph finds where only a position leads to the last chunk."""
    return Evidence((ABOUT, LAST) if query.position else (ABOUT, OTHER))


def at_the_end(prompt: Prompt) -> dict[str, Any]:
    if LAST.text in prompt.user:
        return quick(position="end", evidence=["K2.1"], answer="All went home [1].")
    return quick(position="end", verdict="not_found", evidence=[], answer="")


async def test_one_look_looks_again_at_the_position_that_its_reply_names() -> None:
    run = run_of(StubGraph(FOUND, pinned_last), quick_reply=at_the_end)
    response = await run(asked("quick"))
    assert response.final_answer == "All went home."
    assert [query.position for query in run.ports.graph.followups] == [None, Position("end")]


async def test_a_position_that_was_shown_before_is_not_read_again() -> None:
    run = looking(quick(position="end"))
    assert (await run(asked("quick"))).final_answer == "Ada made alpha."
    assert len(run.ports.chat.prompts) == 1


async def test_the_first_look_stands_where_the_second_fails() -> None:
    def down(query: FollowupQuery) -> Evidence:
        if query.position:
            raise GraphUnavailableError("down")
        return Evidence((ABOUT, OTHER))

    run = run_of(StubGraph(FOUND, down), quick_reply=quick(position="end"))
    assert (await run(asked("quick"))).final_answer == "Ada made alpha."


RANKED = tuple(Chunk(f"k{n}", "", "d", 1 - n / 10) for n in range(8))


@given(st.integers(0, 8), st.lists(st.sampled_from(["k0", "k3", "x", "y", "z"])))
def test_pinned_chunks_stand_behind_the_best_and_nothing_is_lost(size: int, ids: list[str]) -> None:
    best_first = RANKED[:size]
    pinned = pin(best_first, [Chunk(id_, "", "d") for id_ in dict.fromkeys(ids)])
    got = [c.id for c in pinned]
    assert len(got) == len(set(got))
    assert got[:1] == [c.id for c in best_first[:1]] or not best_first
    assert {c.id for c in best_first} <= set(got)

    new = set(got) - {c.id for c in best_first}
    assert len(new) <= MAX_PINNED
    assert new <= set(got[: MAX_PINNED + 1])
    assert [c.score for c in pinned] == sorted((c.score for c in pinned), reverse=True)


def test_without_a_pin_the_order_stays() -> None:
    assert pin(RANKED, Candidates().pinned) == RANKED

"""What each prompt holds of what was found, within its bound of tokens."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drift import bounded
from drift.context import Handles
from drift.grouping import Found
from drift.plan import Limits
from drift.tokens import cut_to, most_tokens
from drift.values.calls import Prompt
from drift.values.graph import Chunk, Community, Entity, Evidence, PrimerEvidence, Relationship
from drift.values.tree import ANSWERED, Answer, Citation, Node, Question
from tests.fakes import chunk, community
from tests.story.searching import block

BOUND = 2_000
WORDS = st.one_of(
    st.text(max_size=200),
    st.sampled_from(["word ", "Wörter. ", "слово ", "字。", "`", "x", "🚢", "\n"]).map(
        lambda text: text * 600
    ),
)


def cost(prompt: Prompt) -> int:
    return most_tokens(prompt.system) + most_tokens(prompt.user)


def read(evidence: Evidence, within: Limits, *settled: Node) -> tuple[Prompt, tuple[Chunk, ...]]:
    """Return the prompt of one follow-up and what it shows."""
    communities: Handles[int | str] = Handles.of("C", (c.id for c in evidence.communities))
    group = (Found(Question(0, "f"), evidence, evidence.chunks),)
    reading = bounded.executor("q", group, communities, settled, within)
    return reading.prompt, reading.shown


def limits(most_tokens: int, chunks: int = 10) -> Limits:
    return Limits(max_chunks_for_prompt=chunks, max_prompt_tokens=most_tokens)


@settings(max_examples=25, deadline=None)
@given(WORDS, WORDS, WORDS, WORDS, st.integers(1, 4))
def test_no_prompt_is_over_its_bound(
    asked: str, text: str, summary: str, said: str, together: int
) -> None:
    chunks = tuple(Chunk(f"c{n}", text, "doc") for n in range(12))
    communities = [Community(n, 1, summary, samples=chunks[n : n + 3]) for n in range(8)]
    evidence = Evidence(
        chunks,
        entities=tuple(Entity(str(n), f"E{n}", summary) for n in range(30)),
        relationships=tuple(Relationship("E1", f"E{n}", said) for n in range(30)),
        communities=tuple(communities),
    )
    nodes = [
        Node(
            Question(n, asked),
            ANSWERED,
            Answer(said, (Citation(f"c{n}", text, "doc"),), 0.5, should_continue=False),
        )
        for n in range(12)
    ]
    handles: Handles[int | str] = Handles.of("C", (c.id for c in communities))
    group = tuple(Found(Question(n, asked), evidence, chunks[n : n + 5]) for n in range(together))
    executor = bounded.executor(asked, group, handles, nodes[:4], limits(BOUND))
    assert cost(executor.prompt) <= BOUND
    assert executor.shown
    assert block(executor.prompt, "Retrieved chunks")

    found = PrimerEvidence(tuple(communities), chunks)
    primer = bounded.primer(asked, found, handles, BOUND)
    assert cost(primer) <= BOUND
    assert block(primer, "Sample chunks")

    cited = Handles.of("K", (f"c{n}" for n in range(12)))
    assert cost(bounded.aggregator(asked, said, nodes, cited, BOUND)) <= BOUND


def test_all_that_fits_is_shown() -> None:
    evidence = Evidence(
        tuple(chunk(f"c{n}") for n in range(4)),
        entities=(Entity("e", "E", "an entity"),),
        relationships=(Relationship("E", "F", "knows"),),
        communities=(community(7),),
    )
    prompt, shown = read(evidence, limits(BOUND, 3))
    assert shown == evidence.chunks[:3]
    assert [row["id"] for row in block(prompt, "Retrieved chunks")] == ["K1", "K2", "K3"]
    assert block(prompt, "Valid chunk ids") == ["K1", "K2", "K3"]
    assert [row["id"] for row in block(prompt, "Communities")] == ["C1"]
    assert block(prompt, "Graph neighbourhood") == {
        "entities": [{"title": "E", "description": "an entity"}],
        "relationships": [{"source": "E", "target": "F", "description": "knows"}],
    }


def test_a_chunk_says_its_headings_and_its_place_where_they_are_known() -> None:
    known = Chunk("a", "text", "Carol", heading="Stave One > Fog", place=12, places=42)
    prompt, _ = read(Evidence((known, chunk("b"))), limits(BOUND))
    told, untold = block(prompt, "Retrieved chunks")
    assert told == {
        "id": "K1",
        "document": "Carol",
        "heading": "Stave One > Fog",
        "place": "12 of 42",
        "text": "text",
    }
    assert set(untold) == {"id", "document", "text"}
    community_of_both = Community(7, 0, "S", samples=(known,))
    handles: Handles[int | str] = Handles.of("C", [7])
    primer = bounded.primer("q", PrimerEvidence((community_of_both,)), handles, BOUND)
    assert block(primer, "Sample chunks")[0]["place"] == "12 of 42"


def test_chunks_of_one_document_stand_in_its_order_and_documents_by_their_best_chunk() -> None:
    def part(document: str, place: int, places: int = 9) -> Chunk:
        return Chunk(f"{document}{place}", "text", document, place=place, places=places)

    best_first = (part("b", 7), part("a", 3), part("b", 2), part("a", 1), part("b", 5, 6))
    evidence = Evidence((*best_first, chunk("x"), chunk("y")))
    prompt, shown = read(evidence, limits(BOUND))
    assert shown == evidence.chunks
    rows = block(prompt, "Retrieved chunks")
    assert [(row["document"], row.get("place")) for row in rows] == [
        ("b", "2 of 9"),
        ("b", "7 of 9"),
        ("a", "1 of 9"),
        ("a", "3 of 9"),
        ("b", "5 of 6"),
        ("doc", None),
        ("doc", None),
    ]
    assert [row["id"] for row in rows] == [f"K{n}" for n in range(1, 8)]


def test_entities_are_left_out_first_then_relationships_then_communities_then_chunks() -> None:
    prose = "Some words are said here. " * 8
    evidence = Evidence(
        tuple(Chunk(f"c{n}", prose, "doc") for n in range(3)),
        entities=tuple(Entity(str(n), f"E{n}", prose) for n in range(3)),
        relationships=tuple(Relationship("E", f"F{n}", prose) for n in range(3)),
        communities=tuple(Community(n, 0, prose) for n in range(3)),
    )
    kinds: list[tuple[int, int, int, int]] = []
    for most in range(500, 2_000, 20):
        prompt, shown = read(evidence, limits(most))
        beside = block(prompt, "Graph neighbourhood")
        kinds.append(
            (
                len(shown),
                prompt.user.count('"level"'),
                len(beside["relationships"]),
                len(beside["entities"]),
            )
        )
    in_order = [(1, 0, 0, 0), (3, 0, 0, 0), (3, 3, 0, 0), (3, 3, 3, 0), (3, 3, 3, 3)]
    assert [kind for kind in dict.fromkeys(kinds) if kind in in_order] == in_order


def test_the_only_chunk_that_fits_is_cut_after_a_sentence_and_keeps_its_id() -> None:
    long = Chunk("a", "This is a sentence of the text. " * 2_000, "doc")
    prompt, [shown] = read(Evidence((long,)), limits(BOUND))
    assert shown.id == "a"
    assert shown.text.endswith("text.")
    assert len(shown.text) > 3_000
    assert block(prompt, "Retrieved chunks")[0]["text"] == shown.text


def test_samples_are_taken_in_turns_from_the_communities() -> None:
    communities = tuple(
        community(n, *(chunk(f"{n}-{m}", "word " * 400) for m in range(3))) for n in range(5)
    )
    handles: Handles[int | str] = Handles.of("C", range(5))
    rows = block(bounded.primer("q", PrimerEvidence(communities), handles, BOUND), "Sample chunks")
    assert [row["community"] for row in rows] == ["C1", "C2", "C3", "C4"]


def test_each_sample_is_shown_once_under_its_first_community_and_loose_chunks_come_last() -> None:
    a, b, loose = chunk("a", "A"), chunk("b", "B"), chunk("l", "L")
    found = PrimerEvidence((community(7, a), community("x", a, b)), (loose, b))
    prompt = bounded.primer("q", found, Handles.of("C", [7, "x"]), BOUND)
    assert block(prompt, "Sample chunks") == [
        {"id": "K1", "community": "C1", "document": "doc", "text": "A"},
        {"id": "K2", "community": "C2", "document": "doc", "text": "B"},
        {"id": "K3", "community": None, "document": "doc", "text": "L"},
    ]


@pytest.mark.parametrize("count", [5, 50])
def test_many_communities_have_shorter_summaries_before_one_is_left_out(count: int) -> None:
    communities = tuple(Community(n, 0, "A word of it. " * 300) for n in range(count))
    handles: Handles[int | str] = Handles.of("C", range(count))
    prompt = bounded.primer("q", PrimerEvidence(communities), handles, 4_000)
    assert len(block(prompt, "Community details")) == count


def test_the_least_confident_answers_are_left_out_with_their_ids() -> None:
    nodes = [
        Node(
            Question(n, f"q{n}"),
            ANSWERED,
            Answer("Words. " * 150, (Citation(f"c{n}", "span", "d"),), n / 10, False),
        )
        for n in range(8)
    ]
    prompt = bounded.aggregator(
        "q", "i", nodes, Handles.of("K", (f"c{n}" for n in range(8))), BOUND
    )
    rows = block(prompt, "Q/A tree")["followups"]
    assert [row["question"] for row in rows] == [f"q{7 - n}" for n in range(len(rows))]
    assert 1 < len(rows) < 8
    cited = [row["citations"][0]["chunk_id"] for row in rows]
    assert sorted(block(prompt, "Valid chunk ids")) == sorted(cited)


@given(WORDS, st.integers(1, 500))
def test_a_text_cut_to_tokens_is_a_beginning_within_them(text: str, most: int) -> None:
    short = cut_to(text, most)
    assert text.startswith(short)
    assert most_tokens(short) <= most or len(short) <= 2


def test_a_text_that_fits_is_not_cut() -> None:
    text = "Neither word is lost. "
    assert cut_to(text, most_tokens(text)) == text


@given(st.text(max_size=300), st.text(max_size=300))
def test_a_longer_text_never_costs_less(text: str, more: str) -> None:
    assert most_tokens(text) <= most_tokens(text + more)
    assert most_tokens(text) <= 4 + 5 * len(text)
    assert json.dumps(text)

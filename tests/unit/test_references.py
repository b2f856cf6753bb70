"""What an answer's references say: where, how near, how sure, and what limits the answer."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.answer.conclusion import NOT_FOUND, Conclusion, from_answers
from drift.answer.references import (
    Known,
    build_references,
    label_of,
    lines_of,
    numbered,
    numbers_of,
    with_numbers,
    without_references,
)
from drift.answer.signals import (
    HALF_LIFE_DAYS,
    NO_REFERENCE,
    NOTHING_THERE,
    age,
    citations,
    confidence,
    freshness,
    limits_of,
    similarity,
)
from drift.contracts.answer import SignalsOut
from drift.contracts.final_replies import AggregateReply, SentenceReply
from drift.evidence.answer_statements import Proven, proven
from drift.model.found_nodes import ScoreThreshold
from drift.model.graph import Chunk
from drift.model.passages import Passage
from drift.model.tree import ANSWERED, Citation, Fact, LocalAnswer, Node, Question

DAY_MS = 24 * 60 * 60 * 1000
NOW = 1_800_000_000_000
TEXT = "import asyncio\n\n\nasync def read():\n    await driver.run()\n    return 1\n"
SPAN = "async def read():\n    await driver.run()"
CHUNK = Chunk("k1", TEXT, "Client", heading="Client > Reading", document_id="src/db/client.py")
CITED = Citation("k1", SPAN, "Client", at=TEXT.index(SPAN))
THRESHOLD = ScoreThreshold(0.6, 500, 256, "m", 0.1)


# ------------------------------------------------------------------------------------------ signals
@pytest.mark.parametrize(
    ("cosine", "share"), [(0, 0), (0.35, 0.45), (0.6, 0.9), (1, 1), (1.0000001, 1)]
)
def test_a_cosine_is_read_beside_the_projects_own_pairs(cosine: float, share: float) -> None:
    assert similarity(cosine, THRESHOLD) == share


def test_without_a_threshold_the_cosine_is_shown_as_it_is() -> None:
    for none in (None, ScoreThreshold(None, 7, 256)):
        assert [similarity(c, none) for c in (-0.3, 0.42, 1.0)] == [0, 0.42, 1]
    assert similarity(None, THRESHOLD) is None
    without_floor = replace(THRESHOLD, floor=None)
    assert similarity(0.3, without_floor) == 0.45


@given(
    cosines=st.lists(st.floats(-1, 1), min_size=2, max_size=2).map(sorted),
    score=st.floats(-1, 1),
    floor=st.one_of(st.none(), st.floats(-1, 1)),
)
def test_a_nearer_passage_never_matches_less(
    cosines: list[float], score: float, floor: float | None
) -> None:
    threshold = ScoreThreshold(score, 500, 256, floor=floor)
    low, high = (similarity(cosine, threshold) for cosine in cosines)
    assert low is not None
    assert high is not None
    assert 0 <= low <= high <= 1


def test_a_document_of_a_year_is_just_fresh_enough_and_one_ahead_of_time_unknown() -> None:
    ages = {0: 1.0, 365: 0.71, HALF_LIFE_DAYS: 0.5, 3 * 365: 0.35, -0.5: 1.0}
    assert {days: freshness(int(NOW - days * DAY_MS), NOW) for days in ages} == ages
    assert freshness(None, NOW) is None
    assert freshness(NOW + 2 * DAY_MS, NOW) is None


def test_each_other_document_halves_what_is_missing() -> None:
    assert [citations(n) for n in (None, 0, 1, 2, 5)] == [None, 0.0, 0.5, 0.75, 0.97]


def test_the_confidence_is_the_mean_of_what_is_known() -> None:
    assert confidence(SignalsOut(similarity=0.95, freshness=0.7, citations=0.5, model=0.9)) == 0.83
    assert confidence(SignalsOut(similarity=0.95, model=0.9)) == 0.93
    assert confidence(SignalsOut(model=0.6)) == 0.6
    assert confidence(SignalsOut()) == 0.0


# ------------------------------------------------------------------------------------------- labels
@pytest.mark.parametrize(
    ("known", "label"),
    [
        ({"first_line": 42}, "src/db/client.py:45-46"),
        ({"first_line": 42, "document_id": ""}, "Client:45-46"),
        ({"first_line": 42, "page": 7}, "src/db/client.py:45-46"),
        ({"page": 7}, "Client, page 7"),
        ({}, "Client, Reading"),
        ({"heading": "Elsewhere > Reading"}, "Client, Elsewhere > Reading"),
        ({"heading": "Client", "place": 12, "places": 42}, "Client, 12 of 42"),
        ({"heading": ""}, "Client"),
    ],
)
def test_a_label_is_as_exact_as_what_is_known(known: dict[str, object], label: str) -> None:
    assert label_of(CITED, replace(CHUNK, **known)) == label


def test_a_span_on_one_line_has_one_number_and_a_chunk_that_is_gone_the_name() -> None:
    one = Citation("k1", "return 1", "Client", at=TEXT.index("return"))
    assert label_of(one, replace(CHUNK, first_line=42)) == "src/db/client.py:47"
    assert label_of(one, None) == "Client"


def test_a_span_that_does_not_stand_where_it_is_said_to_has_no_lines() -> None:
    astray = replace(CITED, at=3)
    assert lines_of(astray, replace(CHUNK, first_line=42)) is None


@given(st.text(), st.text(), st.integers(0, 10**9) | st.none())
def test_a_label_is_one_line_whatever_a_graph_calls_things(
    name: str, heading: str, line: int | None
) -> None:
    chunk = Chunk("k", "s", name, heading=heading, first_line=line, document_id=name)
    label = label_of(Citation("k", "s", name), chunk)
    assert len(label.splitlines()) <= 1
    assert label == label.strip()


# ---------------------------------------------------------------------------------- numbers in text
FACTS = [Fact(n, Citation(c, "x", f"doc of {c}"), 0.9) for n, c in enumerate("abc", 1)]


def said(final: str, facts: Sequence[Fact] = FACTS) -> Proven:
    """Return what is delivered of an answer in prose."""
    reply = AggregateReply.model_validate({"verdict": "not_found", "final_answer": final})
    return proven(reply.sentences, facts)


@pytest.mark.parametrize(
    ("final", "shown"),
    [
        ("It is async [1][3]. It pools [2].", "It is async[1,2]. It pools[3]."),
        ("Why? [2] Because [1]!", "Why[1]? Because[2]!"),
        ("He said \u201cno.\u201d [1]", "He said \u201cno.\u201d[1]"),
        ("**It is so.** [1]", "**It is so.**[1]"),
        ("Two:\n\n- one [1]\n- two [2].", "Two:\n\n- one[1]\n- two[2]."),
        (
            "| a | b |\n|---|---|\n| one | two [1] |\n| x | y [3] |",
            "| a | b |\n|---|---|\n| one | two[1] |\n| x | y[2] |",
        ),
        ("No fact here. One there [2].", "One there[1]."),
        ("\u0907\u0924\u0928\u093e\u0964 [1]", "\u0907\u0924\u0928\u093e[1]\u0964"),
        ("\u0644\u0645\u0627\u0630\u0627\u061f [1]", "\u0644\u0645\u0627\u0630\u0627[1]\u061f"),
        ("It is at https://example.com/page [1].", "It is at https://example.com/page [1]."),
        ("It is at WWW.example.com [1].", "It is at WWW.example.com [1]."),
        ("| a | https://example.com/page [1] |", "| a | https://example.com/page [1] |"),
        ("https://example.com/page says so [1].", "https://example.com/page says so[1]."),
    ],
)
def test_numbers_stand_directly_behind_their_sentence(final: str, shown: str) -> None:
    made = said(final)
    found = numbered(made.statements)
    marked = [(one.ends, numbers_of(one, found)) for one in made.statements]
    assert with_numbers(made.text, marked) == shown


@pytest.mark.parametrize("fence", ["```", "~~~~", "  ```"])
def test_numbers_stand_below_code_that_ends_a_statement(fence: str) -> None:
    code = f"It runs:\n\n{fence}\nrun()\n{fence}"
    assert with_numbers(code, [(len(code), [1])]) == f"{code}\n\n[1]"


def test_numbers_are_found_a_place_in_time_that_grows_with_the_text() -> None:
    text = "." * 200_000 + "x" + " " * 200_000 + "y"
    began = time.process_time()
    assert with_numbers(text, [(len(text), [1])]) == f"{text}[1]"
    assert time.process_time() - began < 5


PIECES = ["It is so", "Yes.", "**Bold**", "- item", "| a | b |", "x.y!", "\u201cno.\u201d", "c[1]"]
ROWS = st.lists(st.tuples(st.sampled_from(PIECES), st.lists(st.integers(1, 3), max_size=2)))


@given(ROWS)
def test_without_its_numbers_the_text_is_the_answer_letter_for_letter(
    rows: list[tuple[str, list[int]]],
) -> None:
    made = proven([SentenceReply(text=text, facts=tuple(facts)) for text, facts in rows], FACTS)
    found = numbered(made.statements)
    marked = [(one.ends, [10000 + n for n in numbers_of(one, found)]) for one in made.statements]
    text = with_numbers(made.text, marked)
    assert re.sub(r"\[(?:1\d{4},?)+\]", "", text) == made.text
    assert len(re.findall(r"\[(?:1\d{4},?)+\]", text)) == len(made.statements)
    assert all(0 <= one.ends <= len(made.text) for one in made.statements)


def test_answers_that_stand_for_the_final_one_are_numbered_too() -> None:
    def node(number: int, text: str, chunk: str) -> Node:
        cited = (Citation(chunk, "x", f"doc of {chunk}"),)
        answer = LocalAnswer(text, cited, 0.5)
        return Node(Question(number, "q"), ANSWERED, answer)

    made = from_answers([node(0, "One.", "a"), node(1, "Two.", "b")], FACTS)
    found = numbered(made.statements)
    marked = [(one.ends, numbers_of(one, found)) for one in made.statements]
    assert with_numbers(made.text, marked) == "One[1].\n\nTwo[2]."


# --------------------------------------------------------------------------------------- the whole
RETRIEVED = {
    "k1": replace(CHUNK, first_line=42),
    "k2": Chunk("k2", "Turn it off.", "manual.pdf", page=7, document_id="d2"),
}
KNOWN = Known(
    {
        "k1": Passage("k1", 0.8, NOW - 375 * DAY_MS, ("other",)),
        "k2": Passage("k2", 0.3, None, None),
    },
    THRESHOLD,
    NOW,
)


def concluded(*facts: Fact, final: str = "It reads [1]. It is off [1][2].") -> Conclusion:
    cited = facts or (
        Fact(1, CITED, 0.9),
        Fact(2, Citation("k2", "Turn it off.", "manual.pdf"), 0.9),
    )
    made = said(final, cited)
    return Conclusion(made.text, made.statements, 0, "answered", 0.9)


def test_an_answer_has_its_references_in_the_form_of_seed_004() -> None:
    out = build_references(concluded(), RETRIEVED, KNOWN)

    assert out.answer == (
        "It reads[1]. It is off[1,2].\n\nReferences:\n"
        "[1] src/db/client.py:45-46 (95% match)\n"
        "[2] manual.pdf, page 7 (36% match)"
    )
    assert out.limits == []
    first, second = (item.model_dump() for item in out.items)
    # the graph knows a witness, and the second document stands behind the same sentence
    assert first == {
        "number": 1,
        "label": "src/db/client.py:45-46",
        "chunk_id": "k1",
        "document_name": "Client",
        "span": SPAN,
        "first_line": 45,
        "last_line": 46,
        "match": 0.95,
        "confidence": 0.87,
        "signals": {"similarity": 0.95, "freshness": 0.7, "citations": 0.75, "model": 0.9},
    }
    assert (second["page"], second["match"]) == (7, 0.36)
    assert "first_line" not in second
    assert second["signals"] == {"similarity": 0.36, "citations": 0.5, "model": 0.9}
    assert out.confidence == 0.87  # of either sentence the surest


def test_a_passage_of_which_nothing_is_known_has_the_models_word() -> None:
    out = build_references(
        concluded(Fact(1, CITED, 0.8), final="It reads [1]."), {}, Known(now=NOW)
    )
    (item,) = out.items
    assert item.model_dump(exclude={"span"}) == {
        "number": 1,
        "label": "Client",
        "chunk_id": "k1",
        "document_name": "Client",
        "confidence": 0.8,
        "signals": {"model": 0.8},
    }
    assert out.answer.endswith("\n[1] Client")


def test_one_citation_named_twice_is_one_reference_as_sure_as_its_surest_fact() -> None:
    twice = concluded(Fact(1, CITED, 0.4), Fact(2, CITED, 0.9), final="A [1]. B [2]. C [1][2].")
    out = build_references(twice, RETRIEVED, KNOWN)
    assert [item.signals.model for item in out.items] == [0.9]
    assert out.answer.startswith("A[1]. B[1]. C[1].\n\n")


def test_under_seventy_per_cent_the_answer_says_what_limits_it() -> None:
    far = Known({"k1": Passage("k1", 0.2, NOW - 1100 * DAY_MS, ())}, THRESHOLD, NOW)
    out = build_references(concluded(Fact(1, CITED, 0.6), final="It reads [1]."), RETRIEVED, far)
    assert out.confidence < 0.7
    assert out.limits == [
        "The passage resembles the question little (18% match).",
        "The document is 3 years old.",
        "One document alone says this.",
        "The model itself was not sure (60%).",
    ]
    assert out.answer.endswith("\n\nLimits:\n" + "\n".join(f"- {line}" for line in out.limits))


def test_limits_name_what_is_low_and_nothing_else() -> None:
    low, high = (
        SignalsOut(similarity=0.4, freshness=0.3, citations=0.0, model=0.5),
        SignalsOut(similarity=0.4, freshness=0.9, citations=0.75, model=0.9),
    )
    assert limits_of([low, low], 2, 400) == [
        "The passages resemble the question little (40% match).",
        "The newest of the documents is 13 months old.",
        "Each passage stands alone: no other document bears it out.",
        "The model itself was not sure (50%).",
    ]
    assert limits_of([low, high], 2, 10) == [
        "The passages resemble the question little (40% match)."
    ]
    assert limits_of([SignalsOut(similarity=0.8, citations=0.5, model=0.6)], 1, None) == [
        "At most one other document bears out what it says.",
        "The model itself was not sure (60%).",
    ]
    assert limits_of([SignalsOut(similarity=0.8)], 1, None) == [
        "The passages together are weak evidence."
    ]


@pytest.mark.parametrize(("days", "words"), [(31, "1 month"), (729, "23 months"), (731, "2 years")])
def test_an_age_is_said_in_words(days: float, words: str) -> None:
    assert age(days) == words


def test_a_verdict_limits_the_confidence_and_is_said() -> None:
    partly = build_references(replace(concluded(), verdict="partly"), RETRIEVED, KNOWN)
    assert partly.confidence == 0.5
    assert partly.limits[0] == "The documents answer the question only in part."


def test_an_answer_that_was_not_found_has_no_items_and_says_so() -> None:
    out = build_references(Conclusion(), {}, Known())
    assert (out.items, out.confidence, out.limits) == ([], 0.0, [NO_REFERENCE])
    assert out.answer == f"{NOT_FOUND}\n\nLimits:\n- {NO_REFERENCE}"
    assert without_references("").answer == f"Limits:\n- {NOTHING_THERE}"


def test_what_could_not_be_read_is_a_limit_whatever_the_confidence() -> None:
    out = build_references(concluded(), RETRIEVED, replace(KNOWN, unread=("The graph was gone.",)))
    assert out.confidence > 0.7
    assert out.limits == ["The graph was gone."]
    assert out.answer.endswith("Limits:\n- The graph was gone.")


@pytest.mark.parametrize(
    ("heading", "label"),
    [
        ("lease.pdf", "lease.pdf"),
        ("lease.pdf > Rent", "lease.pdf, Rent"),
        ("Lease.pdf > lease.pdf", "lease.pdf"),
        ("Rent", "lease.pdf, Rent"),
    ],
)
def test_a_name_that_is_its_own_heading_is_said_once(heading: str, label: str) -> None:
    named = Chunk("c", "Said.", "lease.pdf", heading=heading)
    assert label_of(Citation("c", "Said.", "lease.pdf"), named) == label


def test_a_copy_bears_nothing_out_and_counts_once() -> None:
    told = " ".join(f"The keeper of quay {word} is Falk." for word in ["north", "south", "east"])
    texts = {"a": told, "b": f"{told} So it is.", "c": "Falk keeps the northern quay.", "d": told}
    cited = [Fact(n, Citation(c, "x", f"doc of {c}"), 0.9) for n, c in enumerate(texts, 1)]
    retrieved = {id_: Chunk(id_, text, f"doc of {id_}") for id_, text in texts.items()}
    built = build_references(concluded(*cited, final="It is so [1][2][3][4]."), retrieved, Known())
    signals = [one.signals.citations for one in built.items]
    assert signals == [citations(1)] * 4

"""What counts as shown evidence: gold passages, documents, and the report over questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drift.core.errors import IngestError
from drift.local.evals.comparison import half_and_half
from drift.local.evals.document_questions import DocumentQuestion, read_document_questions
from drift.local.evals.evidence_figures import (
    CEILINGS,
    METHODS,
    QuestionResult,
    RankedChunk,
    best_order,
    ceilings,
    figures,
    report,
    within_chars,
)
from drift.local.evals.gold_passages import GoldPassage, RawDocuments, words_of

SAID = "The lighthouse of Ulm burned down in 1889 after a storm."
FILLER = " ".join(f"filler{number}" for number in range(400))
QUESTION = DocumentQuestion(
    "q1", "What happened to the lighthouse?", "single-fact", (SAID,), frozenset({"a.md"})
)


def raw_documents() -> RawDocuments:
    return RawDocuments({"a.md": f"{FILLER} {SAID} {FILLER}", "b.md": FILLER})


def located(question: DocumentQuestion) -> list[GoldPassage]:
    found = raw_documents().locate(SAID, question.text, ["a.md"])
    return [found] if found else []


def chunk(document: str, text: str) -> RankedChunk:
    return RankedChunk(document, words_of(text), len(text))


def test_a_statement_is_located_where_its_rare_words_stand() -> None:
    gold = raw_documents().locate(SAID, QUESTION.text, ["a.md"])
    assert gold is not None
    assert gold.is_in(words_of(SAID))
    assert not gold.is_in(words_of("The lighthouse of Ulm is tall."))


def test_a_statement_is_not_located_where_it_is_not_said_or_has_the_questions_words_alone() -> None:
    raw = raw_documents()
    assert raw.locate("Quokkas graze on Rottnest at dusk.", QUESTION.text, ["a.md"]) is None
    assert raw.locate(SAID, QUESTION.text, ["b.md", "absent.md"]) is None
    assert raw.locate("the lighthouse", QUESTION.text, ["a.md"]) is None


def test_a_passage_counts_only_in_a_chunk_of_its_document() -> None:
    shown = figures([chunk("b.md", SAID), chunk("a.md", "Ulm")], QUESTION, located(QUESTION))
    assert (shown["top10"], shown["passages10"]) == (1.0, 0.0)


def test_documents_are_counted_among_distinct_ones_and_among_ten_chunks() -> None:
    ranking = [chunk(f"x{number // 3}.md", "x") for number in range(12)] + [chunk("a.md", "y")]
    shown = figures(ranking, QUESTION, [])
    assert (shown["docs5"], shown["top10"]) == (1.0, 0.0)
    assert "passages10" not in shown


def test_ten_thousand_characters_hold_at_least_one_chunk() -> None:
    long, short = chunk("a.md", "x" * 20_000), chunk("b.md", "y")
    assert within_chars([long, short], 10_000) == [long]
    assert within_chars([short, long], 10_000) == [short]


def test_the_best_order_shows_each_passage_and_document_once_and_keeps_the_rest() -> None:
    two = DocumentQuestion("q", QUESTION.text, "summary", (SAID,), frozenset({"a.md", "b.md"}))
    other, of_b, of_a = chunk("x.md", SAID), chunk("b.md", "Linz"), chunk("a.md", "Ulm")
    says = chunk("a.md", SAID)
    order = best_order([other, of_b, of_a, says], two, located(two))
    assert order == [says, of_b, other, of_a]


def test_a_wider_pool_has_no_lower_ceiling() -> None:
    far = [chunk(f"x{number}.md", f"x{number}") for number in range(100)]
    rankings = {"ours": far[:9], "vector": far, "bm25": [*far[:50], chunk("a.md", SAID)]}
    found = ceilings(rankings, QUESTION, located(QUESTION))
    assert list(found) == list(CEILINGS)
    assert [found[name]["passages10"] for name in CEILINGS] == [0.0, 0.0, 1.0]
    assert [found[name]["top10"] for name in CEILINGS] == [0.0, 0.0, 1.0]


def test_the_mix_weighs_both_legs_alike() -> None:
    assert half_and_half({"a": 0.9, "b": 0.1, "c": 0.5}, {"b": 3.0, "c": 2.0}) == ["c", "a", "b"]
    assert half_and_half({}, {}) == []


def test_the_report_compares_ours_with_every_other_method() -> None:
    none = dict.fromkeys(figures([chunk("b.md", "x")], QUESTION, []), 0.0)
    all_of_it = dict.fromkeys(none, 1.0)
    results = [
        QuestionResult("single-fact", {m: all_of_it if m == "ours" else none for m in METHODS}),
        QuestionResult("summary", {m: none | {"passages10": 0.5} for m in METHODS}),
    ]
    document = report(results)
    assert document["methods"]["ours"]["top10"] == 50.0
    assert document["methods"]["rrf"]["passages10"] == 50.0
    assert document["types"]["single-fact"]["ours"]["docs5"] == 100.0
    assert document["ours_minus_rrf"]["top10"] == 50.0
    assert document["ours_minus"]["mix"]["top10_ci95"] == [0.0, 100.0]
    assert document["questions_of_type"] == {"single-fact": 1, "summary": 1}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "holds no question"),
        ('{"id": "q", "question": "x", "type": "t", "documents": []}', "line 1: .*documents"),
    ],
)
def test_a_file_of_other_lines_is_refused_with_the_reason(
    tmp_path: Path, content: str, reason: str
) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(IngestError, match=reason):
        read_document_questions(file)


def test_an_answer_is_one_statement_and_statements_are_many(tmp_path: Path) -> None:
    known = {"question": "x", "type": "t", "documents": ["a.md"]}
    lines = [{"id": "1", "answer": "one", **known}, {"id": "2", "statements": ["a", "b"], **known}]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    one, two = read_document_questions(file)
    assert (one.statements, two.statements) == (("one",), ("a", "b"))

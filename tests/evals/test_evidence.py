"""What counts as shown evidence: gold passages, documents, and the report over questions."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from drift.core.errors import IngestError
from drift.local.evals.comparison import half_and_half
from drift.local.evals.evidence import Rankings
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
from drift.local.evals.gold_passages import RawDocuments, words_of
from drift.local.evals.questions import DocumentQuestion, read_document_questions
from drift.model.graph import Candidate, Candidates, Chunk
from drift.search.ranking import MAX_CHUNKS, ranked

SAID = "The lighthouse of Ulm burned down in 1889 after a storm."
FILLER = " ".join(f"filler{number}" for number in range(400))
RAW = RawDocuments({"a.md": f"{FILLER} {SAID} {FILLER}", "b.md": FILLER})


def about(*documents: str) -> DocumentQuestion:
    given = {"id": "q1", "question": "What happened to the lighthouse?", "type": "single-fact"}
    return DocumentQuestion.model_validate({**given, "answer": SAID, "documents": set(documents)})


QUESTION = about("a.md")
GOLD = [RAW.locate(SAID, QUESTION.text, ["a.md"])]


def chunk(document: str, text: str) -> RankedChunk:
    return RankedChunk(document, words_of(text), len(text))


def test_a_statement_is_located_where_its_rare_words_stand() -> None:
    [gold] = GOLD
    assert gold.is_in(words_of(SAID))
    assert not gold.is_in(words_of("The lighthouse of Ulm is tall."))


@pytest.mark.parametrize(
    ("statement", "documents"),
    [
        ("Quokkas graze on Rottnest at dusk.", ["a.md"]),
        (SAID, ["b.md", "absent.md"]),
        ("the lighthouse", ["a.md"]),
    ],
    ids=["said nowhere", "said in another document", "words of the question"],
)
def test_what_no_gold_document_says_is_not_located(statement: str, documents: list[str]) -> None:
    assert RAW.locate(statement, QUESTION.text, documents) is None


def test_a_passage_counts_only_in_a_chunk_of_its_document() -> None:
    shown = figures([chunk("b.md", SAID), chunk("a.md", "Ulm")], QUESTION, GOLD)
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
    other, of_b, of_a = chunk("x.md", SAID), chunk("b.md", "Linz"), chunk("a.md", "Ulm")
    says = chunk("a.md", SAID)
    order = best_order([other, of_b, of_a, says], about("a.md", "b.md"), GOLD)
    assert order == [says, of_b, other, of_a]


def test_a_wider_pool_has_no_lower_ceiling() -> None:
    far = [chunk(f"x{number}.md", f"x{number}") for number in range(100)]
    rankings = {"ours": far[:9], "vector": far, "bm25": [*far[:50], chunk("a.md", SAID)]}
    found = ceilings(rankings, QUESTION, GOLD)
    assert list(found) == list(CEILINGS)
    assert [found[name]["passages10"] for name in CEILINGS] == [0.0, 0.0, 1.0]
    assert [found[name]["top10"] for name in CEILINGS] == [0.0, 0.0, 1.0]


def test_the_mix_weighs_both_legs_alike() -> None:
    assert half_and_half({"a": 0.9, "b": 0.1, "c": 0.5}, {"b": 3.0, "c": 2.0}) == ["c", "a", "b"]
    assert half_and_half({}, {}) == []


async def test_ours_is_what_a_search_reads_and_then_its_other_candidates() -> None:
    noise = [Chunk(f"n{n}", f"Essay {n} of mothers.", f"Essay {n}") for n in range(MAX_CHUNKS)]
    mill = Chunk("mill", "It was built in 1820.", "The Old Mill")
    pool = [Candidate(one, 0.9 - place / 100) for place, one in enumerate([*noise, mill])]
    found = Candidates(tuple(pool))

    async def worded(*_: object) -> dict[str, float]:
        return {}

    async def followup(*_: object) -> Candidates:
        return found

    search: Any = SimpleNamespace(
        baselines=SimpleNamespace(worded=worded), soft=SimpleNamespace(followup=followup)
    )
    chunks = {one.id: chunk(one.document_name, one.text) for one in (*noise, mill)}
    nothing: Any = None
    rankings = Rankings("p", search, chunks, np.ones((len(chunks), 1), np.float32), nothing)
    question = "When was The Old Mill built?"
    ours = (await rankings.rank(question, (1.0,)))["ours"]
    assert ours[:MAX_CHUNKS] == [one.id for one in ranked(found, question).chunks]
    assert ours[0] == "mill"
    assert sorted(ours) == sorted(chunks)


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
    assert (one.said, two.said) == (("one",), ("a", "b"))

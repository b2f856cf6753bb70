"""Citations that hold: ids checked, spans verbatim, answers enriched."""

import logging
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift import citations
from drift.citations import check, closest_sentence, document_names, enrich, sentences, verbatim
from drift.contracts.answer import CitationOut
from drift.contracts.replies import CitationReply
from drift.values.graph import Chunk
from drift.values.tree import Citation, CitationCounts
from tests.fakes import chunk

TEXT = (
    "Iterators are required to have an __iter__() method that returns the iterator object itself.\n"
    "The “container” object, too, needs\n   one method. Generators are   a simple way to write "
    "them! See also [PEP 255]."
)
ANY_TEXT = st.text(st.characters(), max_size=300)


@pytest.mark.parametrize(
    ("span", "found"),
    [
        ("needs\n   one method", "needs\n   one method"),
        ("needs one method.", "needs\n   one method."),
        ('THE "container" OBJECT, TOO', "The “container” object, too"),
        ("  generators are a simple way  ", "Generators are   a simple way"),
        (
            "Iterators must have an __iter__() method that returns the iterator object itself",
            (
                "Iterators are required to have an __iter__() method that returns the iterator "
                "object itself."
            ),
        ),
        ("The moon is made of cheese and honey.", ""),
        ("", ""),
        (" \n ", ""),
    ],
    ids=[
        "exact",
        "white space",
        "case and quotes",
        "stripped",
        "closest sentence",
        "unrelated",
        "empty",
        "blank",
    ],
)
def test_a_span_becomes_the_texts_own_words_or_nothing(span: str, found: str) -> None:
    assert verbatim(span, TEXT) == found
    assert found in TEXT


@given(span=ANY_TEXT, text=ANY_TEXT)
def test_whatever_comes_back_is_a_part_of_the_text(span: str, text: str) -> None:
    assert verbatim(span, text) in text
    assert closest_sentence(span, text) in text
    assert all(s in text and s == s.strip() and 0 < len(s) <= 600 for s in sentences(text))


@given(text=st.text(st.characters(), min_size=1, max_size=200), data=st.data())
def test_a_part_of_the_text_is_found_in_any_case_and_spacing(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    part = text[start : data.draw(st.integers(start + 1, len(text)))]
    if part.strip():
        assert verbatim(part, text) == part
        assert verbatim(" ".join(part.split()).casefold(), text)


@given(st.text(st.sampled_from("ab .\n!?"), max_size=2000))
def test_sentences_lose_nothing_but_white_space(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def test_the_end_of_a_long_text_without_full_stops_can_be_cited() -> None:
    text = "word " * 500 + "the needle stands at the very end of this chunk"
    assert "needle stands at the very end" in closest_sentence(
        "the needle stands at the very end of this chunk", text
    )


def test_sentences_of_scripts_without_spaces_are_told_apart() -> None:
    assert list(sentences("第一句话。第二句话\uff01第三")) == [
        "第一句话。",
        "第二句话\uff01",
        "第三",
    ]


@pytest.mark.parametrize("text", ["ab " * 700, "a" * 2000, "a b. " * 400, TEXT * 10, "\n\t" * 1000])
def test_a_hostile_chunk_costs_no_more_than_any_other(text: str) -> None:
    start = time.perf_counter()
    for _ in range(5):
        closest_sentence("ba " * 700, text)
        verbatim("ba " * 700, text)
    assert time.perf_counter() - start < 5, "comparing must take time in proportion to the text"


def reply(chunk_id: str, span: str = "") -> CitationReply:
    return CitationReply(chunk_id=chunk_id, span=span)


def checked(
    replies: list[CitationReply], retrieved: list[Chunk], ids: list[str | None] | None = None
) -> tuple:
    return check(
        replies,
        "It says a thing about a",
        ids or [None] * len(replies),
        {c.id: c for c in retrieved},
    )


def events(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.event for record in caplog.records]


def test_an_exact_citation_is_kept_with_its_document_name(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "drift")
    kept, counts = checked([reply("a", "text of a")], [chunk("a", document="Manual")])
    assert kept == (Citation("a", "text of a", "Manual"),)
    assert counts == CitationCounts(total=1, kept=1)
    assert events(caplog) == ["citation_validation_summary"]


def test_every_reason_to_drop_is_logged_by_name_and_summed_up_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "drift")
    replies = [
        reply("", "x"),
        reply("nowhere", "y"),
        reply("a", "The moon is made of cheese."),
        reply("a", "text of a"),
    ]
    caplog.clear()
    kept, counts = checked(replies, [chunk("a")])
    assert [c.chunk_id for c in kept] == ["a"]
    assert counts.dropped == {"null_chunk_id": 1, "unmatched_chunk_id": 1, "span_mismatch": 1}
    assert (counts.total, counts.kept, counts.repaired) == (4, 1, 0)
    assert events(caplog) == [
        "citation_validation_null_chunk_id",
        "citation_validation_unmatched_chunk_id",
        "citation_validation_span_mismatch",
        "citation_validation_summary",
    ]
    unmatched, summary = caplog.records[1], caplog.records[-1]
    assert (unmatched.citation_index, unmatched.chunk_id, unmatched.span_characters) == (
        1,
        "nowhere",
        1,
    )
    assert (summary.total, summary.valid, summary.filtered) == (4, 1, 3)


@pytest.mark.parametrize("chunk_id", [None, "", "  "])
def test_a_missing_id_is_seen_by_the_reply_model_and_by_the_check(
    chunk_id: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    parsed = CitationReply.model_validate({"chunk_id": chunk_id, "span": "x"})
    kept, _ = checked([parsed], [chunk("a")])
    assert not kept
    model_event = (
        "citation_model_null_chunk_id" if chunk_id is None else "citation_model_empty_chunk_id"
    )
    assert events(caplog)[:2] == [model_event, "citation_validation_null_chunk_id"]


def test_a_repaired_span_is_counted_and_verbatim() -> None:
    kept, counts = checked([reply("a", "TEXT   of a")], [chunk("a")])
    assert kept[0].span == "text of a"
    assert counts.repaired == 1


def test_a_citation_without_a_span_gets_the_sentence_closest_to_the_answer() -> None:
    kept, counts = checked([reply("a")], [chunk("a")])
    assert kept[0].span == "It says a thing about a."
    assert (counts.kept, counts.repaired) == (1, 1)


def test_a_handle_counts_through_the_id_it_means() -> None:
    kept, _ = checked([reply("K1", "text of a")], [chunk("a")], ["a"])
    assert kept[0].chunk_id == "a"


def test_the_same_citation_twice_is_kept_once() -> None:
    kept, counts = checked([reply("a", "text of a"), reply("a", "text of a")], [chunk("a")])
    assert len(kept) == 1
    assert counts.kept == 2


def test_counts_add_up() -> None:
    one = CitationCounts(2, 1, 1, {"span_mismatch": 1})
    assert one + one == CitationCounts(4, 2, 2, {"span_mismatch": 2})


def test_an_id_of_the_retrieved_set_becomes_an_object_and_any_other_stays_a_string(
    caplog: pytest.LogCaptureFixture,
) -> None:
    retrieved = {"a": chunk("a", document="Manual")}
    found = enrich(
        "It says a thing", [("K1", "a"), ("K9", None), ("a", None), ("K9", None)], [], retrieved
    )
    assert found == [
        CitationOut(chunk_id="a", span="It says a thing about a.", document_name="Manual"),
        "K9",
    ]
    assert set(events(caplog)) == {"citation_enrichment_unmatched_chunk_id"}
    assert caplog.records[0].chunk_id == "K9"


def test_a_fact_shows_the_checked_span_closest_to_it() -> None:
    spans = [
        Citation("a", "This is the text of a.", "doc"),
        Citation("a", "a thing about a", "doc"),
    ]
    [found] = enrich("Something about a thing", [("a", "a")], spans, {"a": chunk("a")})
    assert isinstance(found, CitationOut)
    assert found.span == "a thing about a"


@given(fact=ANY_TEXT, text=st.text(st.characters(), min_size=1, max_size=300))
def test_an_enriched_span_is_always_a_part_of_its_chunk(fact: str, text: str) -> None:
    [found] = enrich(fact, [("a", "a")], [], {"a": Chunk("a", text, "doc")})
    assert isinstance(found, CitationOut)
    assert found.span in text


def test_document_names_come_once_in_order_and_strings_name_none() -> None:
    cited = [Citation("1", "s", "b"), "plain", Citation("2", "s", "a"), Citation("3", "s", "b")]
    assert document_names(cited) == ["b", "a"]


def test_the_threshold_of_a_repair_separates_rewording_from_another_statement() -> None:
    original = TEXT.split("\n", maxsplit=1)[0]
    for near in (
        "iterators are required to have an __iter__ method returning the iterator object itself",
        "Iterators must have an __iter__() method that returns the iterator object itself!",
    ):
        assert verbatim(near, TEXT) == original
    for far in (
        "Iterators have a method",
        "Dictionaries are hash tables that map keys to values of any type.",
    ):
        assert verbatim(far, TEXT) == ""
    assert citations.CLOSE_ENOUGH == 0.75

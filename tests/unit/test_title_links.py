"""Documents that a question names, and those that their texts lead to."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.core.hyperlinks import MOST_OF_A_CHUNK, document_at, links_in, target_of
from drift.core.names import document_key, linking_keys
from drift.model.graph import Chunk
from drift.search.title_links import led_by_titles, linked

MILL = Chunk("mill", "The Old Mill is a film. It was directed by Ada Quist.", "The Old Mill", 0.3)
ADA = Chunk("ada", "Ada Quist is a director. Her mother is Runa Vale.", "Ada Quist", 0.2)
NOISE = tuple(Chunk(f"n{n}", f"Films have mothers {n}.", f"Essay {n}", 0.9) for n in range(9))
QUESTION = "Who is the mother of the director of The Old Mill?"


def led(question: str, *chunks: Chunk) -> list[str]:
    best_first = sorted(chunks, key=lambda chunk: -chunk.score)
    return [chunk.id for chunk in led_by_titles(question, best_first)]


def test_a_named_document_leads_and_then_the_one_that_it_names() -> None:
    chunks = led_by_titles(QUESTION, (*NOISE, MILL, ADA))
    assert [chunk.id for chunk in chunks][:3] == ["mill", "ada", "n0"]
    assert [chunk.score for chunk in chunks][:3] == [0.9, 0.9, 0.9]
    assert len(chunks) == len(NOISE) + 2


@pytest.mark.parametrize("question", ["what is THE OLD MILL about", "tell me about the old mill's"])
def test_case_and_possessives_do_not_hide_a_name(question: str) -> None:
    assert led(question, *NOISE, MILL, ADA)[0] == "mill"


def test_a_chunk_that_is_not_named_leads_on_only_where_its_sentence_meets_the_question() -> None:
    best = Chunk("best", "A mill was sold to Ada Quist. Weather was fine.", "Deed", 1.0)
    assert led("To whom was a mill sold?", best, *NOISE, ADA)[0] == "ada"
    assert led("How fine was the weather?", best, *NOISE, ADA)[0] == "best"


def test_a_title_that_stands_in_many_documents_or_names_two_leads_nowhere() -> None:
    common = Chunk("common", "Steam.", "Steam", 0.1)
    about = [Chunk(f"s{n}", f"Steam sells games {n}.", f"Page {n}", 0.9) for n in range(9)]
    assert led("How does Steam sell?", *about, common)[-1] == "common"

    twins = (Chunk("a", "One.", "Ada Quist", 0.1), Chunk("b", "Two.", "Ada Quist", 0.1))
    named_twice = [twins[0], Chunk("b", "Two.", "Ada Quist", 0.1, document_id="other")]
    assert led("Who is Ada Quist?", *NOISE, *named_twice)[:2] == ["n0", "n1"]


def test_a_list_of_names_in_a_named_document_does_not_push_its_answer_away() -> None:
    rome = [
        Chunk("rome", "Rome is old. Trains reach Naples, Milan and Florence.", "Rome", 1.0),
        Chunk("answer", "The council elects its speaker by lot.", "Rome", 0.9),
    ]
    cities = [Chunk(one, f"{one} lies there.", one, 0.1) for one in ("Naples", "Milan", "Florence")]
    question = "How does the council of Rome elect its speaker?"
    assert led(question, *rome, *cities)[:2] == ["rome", "answer"]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How do I contact the landlord about noise?", "answer"),
        ("What does Contact say?", "contact"),
        ("what does contact say?", "contact"),
        ("Where is dyn.load used?", "load"),
    ],
)
def test_a_title_of_one_word_is_meant_where_it_is_written_as_one(question: str, first: str) -> None:
    chunks = [
        Chunk("answer", "Noise is told to the landlord.", "House rules", 1.0),
        Chunk("contact", "Write to us.", "Contact.md", 0.3),
        Chunk("load", "It takes a path.", "dyn.load", 0.2),
    ]
    assert led(question, *chunks)[0] == first


@pytest.mark.parametrize(
    ("title", "key"),
    [
        ("Mercury (planet)", "mercury"),
        ("refunds.md", "refunds"),
        ("dyn.load", "dyn.load"),
        ("client.py", "client.py"),
        ("The", ""),
        ("It", ""),
        ("C", ""),
        ("About", ""),
        ("", ""),
        ("(((", ""),
        ("a" * 100, "a" * 100),
        ("a" * 100_000, ""),
    ],
)
def test_a_document_is_found_by_its_bare_title(title: str, key: str) -> None:
    assert document_key(title) == key


def test_runs_that_begin_in_a_capital_may_be_titles() -> None:
    keys = linking_keys("It was directed by Ada Quist's brother.", 100)
    assert "ada quist" in keys
    assert "directed" not in keys
    assert len(linking_keys("Ada Quist " * 10_000, 150)) <= 150


@given(st.lists(st.text(max_size=30), max_size=12), st.text(max_size=60))
def test_no_chunk_is_lost_or_doubled(titles: list[str], question: str) -> None:
    chunks = [
        Chunk(str(n), f"{question} {title}", title, 1 / (1 + n)) for n, title in enumerate(titles)
    ]
    told = led_by_titles(question, chunks)
    assert sorted(chunk.id for chunk in told) == sorted(chunk.id for chunk in chunks)


SELLERS = Chunk(
    "sellers",
    "Weather was fine. A mill was sold by [its heirs](../people/ada.md#x). See [all](../all.md).",
    "Deeds",
    1.0,
    document_id="mills/deeds.md",
)
HEIRS = Chunk("heirs", "Runa sold it in May.", "Family", 0.1, document_id="people/ada.md")
LIST = Chunk("list", "Deeds, people.", "All pages", 0.1, document_id="all.md")


@pytest.mark.parametrize("links", [(), (("its heirs", "/people/ada.md"), ("all", "../all.md"))])
def test_a_link_leads_as_a_title_does(links: tuple[tuple[str, str], ...]) -> None:
    text = "Weather was fine. A mill was sold by its heirs. See all." if links else SELLERS.text
    best = replace(SELLERS, text=text, links=links)
    assert led("By whom was a mill sold?", best, *NOISE, HEIRS, LIST)[0] == "heirs"
    assert led("How fine was the weather?", best, *NOISE, HEIRS, LIST)[0] == "sellers"


def test_words_of_a_link_that_stand_anywhere_lead_nowhere() -> None:
    text = "A mill was sold there in 2011 by [](all.md), [1](all.md) and [he](all.md)."
    best = replace(SELLERS, text=text, document_id="deeds.md")
    assert led("By whom was a mill sold?", best, *NOISE, LIST)[0] == "sellers"


def test_what_many_pages_link_to_leads_nowhere() -> None:
    pages = [replace(SELLERS, id=f"p{n}", document_id=f"mills/{n}.md") for n in range(8)]
    assert led("By whom was a mill sold?", *pages, HEIRS)[-1] == "heirs"


def test_the_links_of_markdown_are_those_that_readers_see() -> None:
    text = "![no](a.png) [a](b_(c).md); ([d](<e.md>), [f](g.md 'title')) [h]() [i] (j) [k](l\nm)"
    assert list(links_in(text)) == [("a", "b_(c).md"), ("d", "e.md"), ("f", "g.md"), ("k", "l")]
    assert list(links_in("[a](<my file.md>) [b](<c.md)")) == [("a", "my file.md")]


@pytest.mark.parametrize(
    ("target", "document", "id_"),
    [
        ("b.md", "a.md", "b.md"),
        ("../b%20c.md#top", "x/a.md", "b c.md"),
        ("/b.md?plain=1", "x/a.md", "b.md"),
        ("d/", "x/a.html", "x/d/index.html"),
        ("../../../b.md", "a.md", "b.md"),
        ("https://h.example/b", "a.md", "https://h.example/b"),
        ("b", "https://h.example/a", "https://h.example/b"),
        ("\n b.md\n ", "a.md", "b.md"),
        ("#top", "a.md", ""),
        ("mailto:a@b.example", "a.md", ""),
        ("javascript:void(0)", "a.md", ""),
        ("x" * 501, "a.md", ""),
        ("http://[", "a.md", ""),
        ("%ff%00", "a.md", "\ufffd\0"),
    ],
)
def test_where_a_link_leads(target: str, document: str, id_: str) -> None:
    assert document_at(target_of(target), document) == id_


def test_links_to_itself_to_nothing_and_by_the_thousand_cost_linear_time() -> None:
    own = "[own](deeds.md) [self](#self) [own](/mills/deeds.md)"
    assert not list(linked(replace(SELLERS, text=own)))
    began = time.perf_counter()
    for part in ("[a](b.md) ", "[", "[a](", "](", "![a](b)", "[a](b(", "[a](" + ")" * 4000):
        many = replace(SELLERS, text=part * (400_000 // len(part)), links=(("a", part),) * 20_000)
        assert len(list(linked(many))) <= MOST_OF_A_CHUNK
        assert led("By whom was a mill sold?", many, *NOISE)[0] == "sellers"
    assert time.perf_counter() - began < 10


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_link_leads_somewhere_or_nowhere(told: str, document: str) -> None:
    target = target_of(told)
    for one in (target, f"http://{target}", f"../{target}"):
        assert isinstance(document_at(one, document), str)

from __future__ import annotations

import random

import pytest

from drift.local.cli.work.sample import sample_sources
from drift.local.ingest.chunking import cut
from drift.local.ingest.communities import find_communities
from drift.local.ingest.entities import (
    HUB_CHUNKS,
    MAX_DESCRIPTION_CHARS,
    MAX_ENTITIES_A_CHUNK,
    FoundEntity,
    read_chunks,
)
from drift.local.ingest.graph_records import ChunkRecord, KnowledgeBatch
from drift.local.ingest.knowledge import derive, fingerprint
from drift.local.ingest.prose import sentences, singular
from drift.local.ingest.relations import Relation, relate
from drift.local.ingest.summaries import MAX_SUMMARY_CHARS, summarise
from drift.local.ingest.terms import candidates, code_term


def _chunks(*texts: str, heading: str = "Notes") -> list[ChunkRecord]:
    return [ChunkRecord(f"c{n}", f"d{n}", 0, heading, text) for n, text in enumerate(texts)]


def _entities(*texts: str, heading: str = "Notes") -> dict[str, FoundEntity]:
    return {entity.key: entity for entity in read_chunks(_chunks(*texts, heading=heading))[1]}


@pytest.fixture(scope="module")
def sample_chunks() -> list[ChunkRecord]:
    return [
        ChunkRecord(f"{d.id}#{n}", d.id, n, piece.heading, d.text[piece.start : piece.end])
        for d in sample_sources().documents
        for n, piece in enumerate(cut(d.text, d.format))
    ]


@pytest.fixture(scope="module")
def knowledge(sample_chunks: list[ChunkRecord]) -> KnowledgeBatch:
    return derive("p", sample_chunks, "stamp")


@pytest.mark.parametrize(
    "name",
    [
        "__exit__",
        "__exit__()",
        "object.__exit__(self, exc_type)",
        "__exit__(self)",
        "contextmanager.__exit__",
    ],
)
def test_all_ways_to_write_a_special_method_are_one_entity(name: str) -> None:
    assert code_term(name).key == "__exit__"


@pytest.mark.parametrize(
    ("sentence", "keys"),
    [
        ('The "with" statement calls "__enter__()".', {"with statement", "__enter__"}),
        ("Call ``open_valve`` or `Valve.open`.", {"open_valve", "Valve.open"}),
        ("A *context manager* and *Iterators*.", {"context manager", "iterator"}),
        (
            "Ask the Control Room of Deep Mine in July.",
            {"control room", "deep mine", "control room of deep mine"},
        ),
        (
            "The 2012 Pacific Season pleased Zoë Østby.",
            {"2012 pacific season", "pacific season", "zoë østby"},
        ),
        ("The pump runs. Water flows.", set()),
        ("However, Mercer waits.", {"Mercer"}),
        ("Set max_speed on PumpController, e.g. twice.", {"max_speed", "PumpController"}),
        ('It is "in" or "x".', set()),
    ],
)
def test_what_looks_like_a_name_is_a_candidate(sentence: str, keys: set[str]) -> None:
    assert {term.key for term in candidates(sentence)} == keys


def test_a_term_that_does_not_recur_is_no_entity_but_a_heading_is() -> None:
    found = _entities(
        "Use `lonely_name` and `shared_name`.",
        "Use `shared_name` again.",
        heading="Pump > Start-up",
    )
    assert set(found) == {"shared_name", "pump", "start-up"}


def test_plural_and_singular_capital_and_small_are_one_entity() -> None:
    found = _entities(
        "A *context manager* enters.", "Use context managers here.", "Context Managers leave."
    )
    assert set(found["context manager"].chunks) == {0, 1, 2}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("classes", "class"),
        ("queries", "query"),
        ("pass", "pass"),
        ("status", "status"),
        ("slots", "slot"),
    ],
)
def test_a_plural_is_read_by_its_ending(word: str, expected: str) -> None:
    assert singular(word) == expected


def test_names_in_code_blocks_are_not_read() -> None:
    code = "Some words:\n\n    inner_name = other_name\n    inner_name()\n"
    assert "inner_name" not in _entities(code, code)


def test_an_entity_in_too_many_chunks_is_dropped() -> None:
    texts = [f"The `hub_name` serves `part_{n % 10}`." for n in range(5 * HUB_CHUNKS)]
    found = _entities(*texts)
    assert "hub_name" not in found
    assert "part_3" in found


def test_a_chunk_has_at_most_twelve_entities() -> None:
    text = " ".join(f"`name_{n}`" for n in range(50))
    readings, _ = read_chunks(_chunks(text, text))
    assert all(len(reading.weights) == MAX_ENTITIES_A_CHUNK for reading in readings)


def test_the_description_is_the_sentence_that_defines() -> None:
    defined = "A *flow meter* is a device that measures how much water passes."
    found = _entities(
        f"Look at the flow meter every day before you start. {defined}",
        "The flow meter broke once again.",
    )
    assert found["flow meter"].description == defined


def test_a_relation_is_stronger_the_more_chunks_are_shared() -> None:
    texts = ["`aa_a` with `bb_b`."] * 3 + [
        "`aa_a` with `cc_c`.",
        "`cc_c` alone here.",
        "`cc_c` alone there.",
    ]
    readings, entities = read_chunks(_chunks(*texts))
    weights = {(r.source, r.target): r.weight for r in relate(readings, entities)}
    assert 1 >= weights["aa_a", "bb_b"] > weights["aa_a", "cc_c"] > 0


def test_a_relation_tells_the_sentence_with_both_or_where_they_meet() -> None:
    both = "The `inlet_valve` feeds the `main_pump` with water."
    text = f"{both} The `drain_cock` is shut."
    readings, entities = read_chunks(_chunks(text, text))
    told = {(r.source, r.target): r.description for r in relate(readings, entities)}
    assert told["inlet_valve", "main_pump"] == both
    assert told["drain_cock", "main_pump"] == "drain_cock and main_pump are both in: Notes."


def test_communities_do_not_depend_on_the_order_of_relations(
    sample_chunks: list[ChunkRecord],
) -> None:
    readings, entities = read_chunks(sample_chunks)
    pairs: list[Relation] = list(relate(readings, entities))
    expected = find_communities(readings, entities, pairs)
    random.Random(1).shuffle(pairs)  # noqa: S311 - an order, not a secret
    assert find_communities(readings, entities, pairs) == expected


def test_chunks_without_entities_join_their_document_and_the_rest_one_community() -> None:
    linked = ["Uses `aa_a` and `bb_b`.", "Uses `aa_a` and `bb_b` too.", "Nothing to see."]
    chunks = [ChunkRecord(f"c{n}", "d", n, "", text) for n, text in enumerate(linked)]
    chunks.append(ChunkRecord("c9", "other", 0, "", "Nothing here either."))
    readings, entities = read_chunks(chunks)
    groups = find_communities(readings, entities, relate(readings, entities))
    assert [group.chunks for group in groups] == [[0, 1, 2], [3]]


@pytest.mark.parametrize("texts", [(), ("Only words.",), ("```\ncode\n```",), ("a", "b", "c")])
def test_text_without_any_entity_still_makes_reachable_chunks(texts: tuple[str, ...]) -> None:
    chunks = [ChunkRecord(f"c{n}", f"d{n}", 0, "", text) for n, text in enumerate(texts)]
    batch = derive("p", chunks, "stamp")
    assert [c for community in batch.communities for c in community.chunk_ids] == [
        c.id for c in chunks
    ]
    assert all(c.title and c.summary for c in batch.communities)


def test_a_summary_names_what_is_central_and_quotes_sentences_of_its_chunks(
    sample_chunks: list[ChunkRecord],
) -> None:
    readings, entities = read_chunks(sample_chunks)
    groups = find_communities(readings, entities, relate(readings, entities))
    for group, summary in zip(groups, summarise(groups, readings, entities), strict=True):
        assert len(summary.text) <= MAX_SUMMARY_CHARS
        assert summary.text.startswith(summary.title)
        own = {s.text for place in group.chunks for s in readings[place].sentences}
        assert (
            group.children
            or not own
            or set(summary.sentences) <= own | set(summary.text.splitlines())
        )


def test_a_summary_opens_with_names_and_then_says_what_they_are() -> None:
    said = "The Old Mill supplies the Ulm Bakery with grain on every single day."
    text = f"However, all of it was done before anybody came back again. {said} In 1928 it rained."
    batch = derive("p", _chunks(text, text), "stamp")
    title, sentence, *_ = batch.communities[0].summary.splitlines()
    assert set(title.split(", ")) == {"Old Mill", "Ulm Bakery"}
    assert sentence == said


def test_the_sample_has_the_entities_and_communities_a_reader_of_python_expects(
    knowledge: KnowledgeBatch,
) -> None:
    by_title = {entity.title.lower().removesuffix("()"): entity for entity in knowledge.entities}
    for title in (
        "context manager",
        "with statement",
        "__exit__",
        "descriptor",
        "metaclass",
        "match statement",
    ):
        assert title in by_title
        assert 0 < len(by_title[title].description) <= MAX_DESCRIPTION_CHARS
    manager, exits = by_title["context manager"].id, by_title["__exit__"].id
    statement = by_title["with statement"].id
    assert any({r.source_id, r.target_id} == {manager, statement} for r in knowledge.relations)
    assert any({manager, exits} <= set(c.entity_ids) for c in knowledge.communities)


def test_the_sample_has_leaves_of_a_size_to_read(knowledge: KnowledgeBatch) -> None:
    sizes = sorted(len(c.entity_ids) for c in knowledge.communities if c.level == 0)
    assert 5 <= sizes[len(sizes) // 2] <= sizes[-1] <= 30
    assert 5 <= sum(c.parent is None for c in knowledge.communities) <= 20


def test_a_community_has_the_number_that_its_members_had_before(
    sample_chunks: list[ChunkRecord], knowledge: KnowledgeBatch
) -> None:
    """A question may name a community after the knowledge was made anew.

    It must never mean others by it.
    """
    after = derive("p", [c for c in sample_chunks if c.document_id != "with"], "stamp")
    members = [
        {c.community: (c.level, c.entity_ids, c.chunk_ids) for c in batch.communities}
        for batch in (knowledge, after)
    ]
    assert len(members[0]) == len(knowledge.communities)
    common = members[0].keys() & members[1].keys()
    assert common
    assert len(common) < len(members[0])
    assert all(members[0][number] == members[1][number] for number in common)
    parents = {c.parent for c in after.communities} - {None}
    assert parents < members[1].keys()


def test_the_fingerprint_follows_every_document_and_the_model() -> None:
    stamps = {fingerprint({"a": "1", "b": "2"}, "m"), fingerprint({"b": "2", "a": "1"}, "m")}
    assert len(stamps) == 1
    for other in (
        fingerprint({"a": "1"}, "m"),
        fingerprint({"a": "1", "b": "3"}, "m"),
        fingerprint({"a": "1", "b": "2"}, "n"),
    ):
        stamps.add(other)
    assert len(stamps) == 4


def test_sentences_leave_out_code_and_keep_abbreviations_together() -> None:
    text = (
        "Title\n=====\n\nIt works, e.g. With water or oil in it. The second one is here as well, "
        "too.\n\n::\n\n   code = 1\n"
    )
    whole = [s.text for s in sentences(text) if s.whole]
    assert whole == [
        "It works, e.g. With water or oil in it.",
        "The second one is here as well, too.",
    ]

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.graph.writing.records import (
    ChunkRecord,
    DocumentRecord,
    DocumentVersion,
    KnowledgeBatch,
)
from drift.indexing.chunking import cut
from drift.llm.local_embedding import embed
from drift.local.cli.sample import sample_sources
from drift.local.ingest.knowledge import Assignment, assign, derive, fingerprint
from drift.local.ingest.prose import sentences
from drift.local.ingest.stamps import stamps_of
from drift.local.ingest.summaries import MAX_SUMMARY_CHARS
from drift.local.ingest.topics import (
    LARGEST,
    MOST_KEPT,
    Kept,
    Points,
    directions_from,
    divide,
    find_topics,
    follow_changes,
    mean_of,
    points_of,
)
from tests.ingest.fakes import as_members, kept_topics


def _blobs(*sizes: int, spread: float = 0.1) -> Points:
    """Return so many clouds of points, each around a direction of its own."""
    chance = np.random.default_rng(1)
    centres = chance.normal(size=(len(sizes), 32))
    rows = [
        centre + spread * chance.normal(size=(n, 32))
        for centre, n in zip(centres, sizes, strict=True)
    ]
    return np.concatenate(rows).astype(np.float32)


def _sizes(labels: np.ndarray) -> list[int]:
    return np.bincount(labels).tolist()


@pytest.fixture(scope="module")
def sample() -> tuple[list[ChunkRecord], Points]:
    chunks = [
        ChunkRecord(f"{d.id}#{n}", d.id, n, p.heading, d.text[p.start : p.end], title=d.title)
        for d in sample_sources().documents
        for n, p in enumerate(cut(d.text, d.format))
    ]
    return chunks, np.array(embed([f"{c.heading}\n{c.text}" for c in chunks]), dtype=np.float32)


@pytest.fixture(scope="module")
def knowledge(sample: tuple[list[ChunkRecord], Points]) -> KnowledgeBatch:
    return derive(*as_members(*sample), "stamp")


def test_what_lies_together_is_one_topic_and_groups_hold_whole_topics() -> None:
    vectors = _blobs(*[30] * 40)
    topics, groups = find_topics(points_of(vectors, [str(n) for n in range(1200)]))
    true = np.repeat(np.arange(40), 30)
    pure = sum(np.bincount(true[topics == t]).max() for t in range(topics.max() + 1))
    assert pure > 0.75 * len(true)
    assert max(_sizes(topics)) <= LARGEST
    assert 2 <= groups.max() + 1 < topics.max() + 1


@given(st.lists(st.integers(1, 200), min_size=1, max_size=8), st.sampled_from([0.0, 0.1, 2.0]))
def test_every_chunk_has_a_topic_of_a_bounded_size_whatever_the_vectors(
    sizes: list[int], spread: float
) -> None:
    vectors = _blobs(*sizes, spread=spread)
    levels = find_topics(points_of(vectors, ["d"] * len(vectors)))
    assert len(levels[0]) == len(vectors)
    assert min(_sizes(levels[0])) > 0
    assert max(_sizes(levels[0])) <= MOST_KEPT
    for below, above in pairwise(levels):
        assert len(above) == below.max() + 1


@pytest.mark.parametrize(("value", "number"), [(0.0, 5000), (1.0, 5000), (0.0, 1)])
def test_vectors_that_are_all_alike_are_cut_in_their_order(value: float, number: int) -> None:
    vectors = np.full((number, 8), value, dtype=np.float32)
    began = time.process_time()
    topics = find_topics(points_of(vectors, ["d"] * number))[0]
    assert max(_sizes(topics)) <= LARGEST
    assert time.process_time() - began < 10


def _kept(vectors: Points, sizes: list[int]) -> list[Kept]:
    """Return one topic a cloud; the first half of them are of one group."""
    parts = np.split(vectors[: sum(sizes)], np.cumsum(sizes)[:-1])
    return [Kept(p.mean(axis=0), len(p), len(p), 2 * n // len(parts)) for n, p in enumerate(parts)]


def test_a_new_chunk_joins_the_nearest_topic_and_the_others_stay_as_they_were() -> None:
    vectors = _blobs(*[30] * 40)
    kept = _kept(vectors, [30] * 40)
    new = directions_from(vectors[35:37], mean_of(kept))
    joined, now = follow_changes(kept, new)
    assert joined.tolist() == [1, 1]
    assert now == list(range(40))


def test_a_topic_that_is_too_small_joins_one_of_its_group_and_an_empty_one_is_gone() -> None:
    vectors = _blobs(*[30] * 4)
    kept = _kept(vectors, [30] * 4)
    kept[0], kept[3] = replace(kept[0], size=2), replace(kept[3], size=0)
    joined, now = follow_changes(kept, np.zeros((0, 32), dtype=np.float32))
    assert (joined.tolist(), now) == ([], [1, 1, 2, -1])


@pytest.mark.parametrize(("size", "parts"), [(MOST_KEPT, None), (200, 5)])
def test_a_topic_that_has_grown_is_divided(size: int, parts: int | None) -> None:
    labels = divide(_blobs(*[size // 5] * 5))
    assert (labels if labels is None else labels.max() + 1) == parts


def test_the_sample_has_topics_whose_summaries_say_what_is_in_them(
    sample: tuple[list[ChunkRecord], Points], knowledge: KnowledgeBatch
) -> None:
    texts = {chunk.id: chunk.text for chunk in sample[0]}
    shown = [c for c in knowledge.communities if c.says]
    assert len(shown) > 0.8 * len(knowledge.communities) > 8
    assert {c.level for c in knowledge.communities} == {0, 1}
    for community in shown:
        assert len(community.summary) <= MAX_SUMMARY_CHARS
        about, documents, *said = community.summary.split("\n")
        assert about.startswith("About: ")
        assert documents.startswith("Documents: ")
        own = " ".join(" ".join(texts[id_] for id_ in community.chunk_ids).split())
        assert community.level or all(sentence in own for sentence in said)
    about_with = [c for c in shown if "context manager" in c.summary.split("\n")[0].lower()]
    assert any("__enter__" in texts[id_] for c in about_with for id_ in c.chunk_ids)


def test_the_knowledge_of_the_same_chunks_is_the_same_and_stays_when_it_is_followed(
    sample: tuple[list[ChunkRecord], Points], knowledge: KnowledgeBatch
) -> None:
    members, read = as_members(*sample)
    assert derive(members, read, "stamp") == knowledge
    kept = kept_topics(knowledge)
    nothing = np.zeros((0, 256), dtype=np.float32)
    assignment = assign(members, nothing, kept)
    topics = [kept.topic_of[member.chunk_id] for member in members]
    assert assignment == Assignment(topics, frozenset())
    assert stamps_of(derive(members, {}, "stamp", kept, assignment)) == stamps_of(knowledge)
    assert assign(members, nothing, replace(kept, clustered=len(members) // 2)) is None


def test_only_a_topic_of_which_a_chunk_changed_and_what_is_above_it_are_told_anew(
    sample: tuple[list[ChunkRecord], Points], knowledge: KnowledgeBatch
) -> None:
    leaf = next(c for c in knowledge.communities if not c.level)
    gone = leaf.chunk_ids[-1]
    members = [m for m in as_members(*sample)[0] if m.chunk_id != gone]
    kept = kept_topics(knowledge)
    assignment = assign(members, np.zeros((0, 256), dtype=np.float32), kept)
    assert assignment is not None
    assert assignment.affected == {leaf.community}
    read = {k: v for k, v in as_members(*sample)[1].items() if k in leaf.chunk_ids}
    stamps = stamps_of(derive(members, read, "stamp", kept, assignment))
    as_before = stamps.kept(stamps_of(knowledge)).communities
    assert {c.community for c in knowledge.communities} - set(as_before) == {
        leaf.community,
        leaf.parent,
    }


@pytest.mark.parametrize(
    "texts",
    [
        ["One document of one sentence stands here."],
        ["The same page is stored many times over and over."] * 50,
        ["| 1 | 2 | 3 |\n" * 40] * 60,
        ["泵将水从河里送到山上的磨坊。每天早晨阀门打开。冬天它会关闭。"] * 9,
        ["!!!", ""],
    ],
)
def test_odd_texts_have_topics_and_only_sentences_make_one_speak(texts: list[str]) -> None:
    chunks = [ChunkRecord(str(n), "d", n, "d", text, title="d") for n, text in enumerate(texts)]
    vectors = np.array(embed(texts), dtype=np.float32)
    made = derive(*as_members(chunks, vectors), "stamp").communities
    assert {id_ for c in made for id_ in c.chunk_ids} == {c.id for c in chunks}
    has_sentences = any(s.whole for text in texts for s in sentences(text))
    assert any(c.says for c in made) == has_sentences


def test_the_fingerprint_follows_every_document_and_the_model() -> None:
    a, b = (DocumentRecord(n, n, "s", DocumentVersion(n)) for n in "ab")
    base = fingerprint([a, b], "m/8")
    assert base == fingerprint([b, a], "m/8")
    assert len({base, fingerprint([a], "m/8"), fingerprint([a, b], "n/8")}) == 3

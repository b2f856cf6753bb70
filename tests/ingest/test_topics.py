from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.llm.local_embedding import embed
from drift.local.cli.work.sample import sample_sources
from drift.local.ingest.chunking import cut
from drift.local.ingest.graph_records import ChunkRecord, KeptTopics, KnowledgeBatch
from drift.local.ingest.knowledge import derive, fingerprint
from drift.local.ingest.prose import sentences
from drift.local.ingest.summaries import MAX_SUMMARY_CHARS
from drift.local.ingest.topics import (
    LARGEST,
    MOST_KEPT,
    Points,
    find_topics,
    follow_changes,
    points_of,
)


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
    return derive(*sample, "stamp")


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


def test_a_change_of_one_document_leaves_the_other_topics_as_they_were() -> None:
    vectors = _blobs(*[30] * 40)
    points = points_of(vectors, [str(n) for n in range(1200)])
    before = find_topics(points)
    gone = before[0].copy()
    gone[:12] = -1
    after = follow_changes(points, (gone, *before[1:]))
    assert np.array_equal(after[0], before[0]), "what is the same goes back to where it was"
    assert np.array_equal(after[1], before[1])


def test_a_topic_that_has_grown_is_divided_within_its_group() -> None:
    vectors = _blobs(*[30] * 40, 100)
    points = points_of(vectors, [str(n) for n in range(1300)])
    first = find_topics(points[:1200])
    kept = np.append(first[0], np.full(100, first[0][0]))
    after = follow_changes(points, (kept, *first[1:]))
    assert max(_sizes(after[0])) <= MOST_KEPT
    assert len(after[1]) > len(first[1])
    assert set(after[1][after[0][1200:]]) == {first[1][first[0][0]]}


def test_the_sample_has_topics_whose_summaries_say_what_is_in_them(
    sample: tuple[list[ChunkRecord], Points], knowledge: KnowledgeBatch
) -> None:
    texts = {chunk.id: chunk.text for chunk in sample[0]}
    shown = [c for c in knowledge.communities if c.centroid]
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
    chunks, vectors = sample
    assert derive(chunks, vectors, "stamp") == knowledge
    topic_of = {id_: c.community for c in knowledge.communities for id_ in c.chunk_ids}
    parents = {c.community: c.parent for c in knowledge.communities if c.parent is not None}
    held = [replace(chunk, topic=topic_of[chunk.id]) for chunk in chunks]
    kept = KeptTopics(parents, knowledge.clustered or 0)
    followed = derive(held, vectors, "stamp", kept)
    assert {c.community for c in followed.communities} == {
        c.community for c in knowledge.communities
    }
    assert derive(held, vectors, "stamp", replace(kept, clustered=len(chunks) // 2)) == knowledge


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
    made = derive(chunks, np.array(embed(texts), dtype=np.float32), "stamp").communities
    assert {id_ for c in made for id_ in c.chunk_ids} == {c.id for c in chunks}
    has_sentences = any(s.whole for text in texts for s in sentences(text))
    assert any(c.centroid for c in made) == has_sentences


def test_the_fingerprint_follows_every_document_and_the_model() -> None:
    base = fingerprint({"a": "1", "b": "2"}, "m/8")
    assert base == fingerprint({"b": "2", "a": "1"}, "m/8")
    assert (
        len({base, fingerprint({"a": "1"}, "m/8"), fingerprint({"a": "1", "b": "2"}, "n/8")}) == 3
    )

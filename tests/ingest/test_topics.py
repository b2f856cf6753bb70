from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise

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
from drift.local.ingest.digests import MOST_OF_A_NAME, digest, document_name
from drift.local.ingest.knowledge import Assignment, assign, derive, fingerprint
from drift.local.ingest.naming import MOST_OF_A_TITLE
from drift.local.ingest.prose import sentences, words
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


@pytest.mark.parametrize(("value", "number"), [(0.0, 5000), (1.0, 5000), (0.0, 30), (1.0, 30)])
def test_vectors_that_are_all_alike_are_cut_where_they_are_too_many(
    value: float, number: int
) -> None:
    vectors = np.full((number, 8), value, dtype=np.float32)
    began = time.process_time()
    topics = find_topics(points_of(vectors, ["d"] * number))[0]
    assert max(_sizes(topics)) <= LARGEST
    assert len(_sizes(topics)) == -(-number // LARGEST)
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


def test_a_small_topic_joins_one_like_it_stays_where_there_is_none_and_an_empty_one_is_gone() -> (
    None
):
    vectors = _blobs(30, 30, 30, 30)
    vectors[:30] = vectors[30:60] + 0.5 * vectors[:30]
    kept = _kept(vectors, [30] * 4)
    kept[0], kept[2] = replace(kept[0], size=2), replace(kept[2], size=2)
    kept[3] = replace(kept[3], size=0)
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
    assignment = assign(members, {}, kept)
    topics = [kept.topic_of[member.chunk_id] for member in members]
    assert assignment == Assignment(topics, frozenset())
    assert stamps_of(derive(members, {}, "stamp", kept, assignment)) == stamps_of(knowledge)
    assert assign(members, {}, replace(kept, clustered=len(members) // 2)) is None


def test_only_a_topic_of_which_a_chunk_changed_and_what_is_above_it_are_told_anew(
    sample: tuple[list[ChunkRecord], Points], knowledge: KnowledgeBatch
) -> None:
    leaf = next(c for c in knowledge.communities if not c.level)
    gone = leaf.chunk_ids[-1]
    members = [m for m in as_members(*sample)[0] if m.chunk_id != gone]
    kept = kept_topics(knowledge)
    assignment = assign(members, {}, kept)
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


def test_topics_of_earlier_rules_are_found_anew(
    sample: tuple[list[ChunkRecord], Points], knowledge: KnowledgeBatch
) -> None:
    kept = kept_topics(knowledge)
    earlier = {
        name: replace(one, digest=one.digest.replace('"rules":"', '"rules":"before '))
        for name, one in kept.communities.items()
    }
    members = as_members(*sample)[0]
    assert assign(members, {}, kept) is not None
    assert assign(members, {}, replace(kept, communities=earlier)) is None


# -------------------------------------------------------------------- what stands in several places
_COOKIES = (
    "We value your privacy. This site stores cookies on your browser, and so do our partners."
)
_FORM = "##### Send me a reminder\nE-mail address (required)\nFirst name\nLast name\nSubmit"
_FORM_IN_CHINESE = "请输入您的电子邮件地址\n订阅我们的每周新闻\n提交"
_ARTICLES = {
    "mill": ["The mill on the river grinds rye and wheat. Its wheel was rebuilt in 1881 of oak."],
    "bees": ["Bees swarm in May, when the old queen leaves the hive. A swarm hangs in a tree."],
    "bread": ["Rye bread rises slowly. The dough rests for a night before it goes into the oven."],
    "chess": ["The queen's gambit offers a pawn. Black may take it, and White builds a centre."],
}


def _made(texts: Mapping[str, Sequence[str]]) -> tuple[list[ChunkRecord], Points]:
    """Return chunks of documents, each called after its id, and their vectors."""
    chunks = [
        ChunkRecord(f"{name}#{n}", name, n, name, text, title=name)
        for name, own in texts.items()
        for n, text in enumerate(own)
    ]
    return chunks, np.array(embed([one.text for one in chunks]), dtype=np.float32)


def _in_topics(knowledge: KnowledgeBatch) -> set[str]:
    return {id_ for one in knowledge.communities for id_ in one.chunk_ids}


def test_menus_forms_and_notices_of_several_documents_are_in_no_topic() -> None:
    said = "More of this, about {}, stands here.", "And who likes {} may read on about it."
    same = _COOKIES, _FORM, _FORM_IN_CHINESE
    texts = {
        name: [*own, *(one.format(name) for one in said), *same] for name, own in _ARTICLES.items()
    }
    made = derive(*as_members(*_made(texts)), "stamp")
    assert _in_topics(made) == {f"{name}#{n}" for name in texts for n in range(3)}


@pytest.mark.parametrize(
    "texts",
    [
        dict.fromkeys(("a.md", "b.md", "c.md"), _ARTICLES["mill"]),
        {f"Handbook {year}": [*chain(*_ARTICLES.values()), f"Year {year}."] for year in "567"},
        {
            name: [*own, "A press release of one paper that another one quotes word for word."]
            for name, own in list(_ARTICLES.items())[:2]
        },
        {"only": [_FORM, _COOKIES]},
    ],
    ids=["copies", "versions", "a quotation", "one document"],
)
def test_what_documents_are_about_is_in_a_topic_although_it_stands_twice(
    texts: dict[str, list[str]],
) -> None:
    chunks, vectors = _made(texts)
    made = derive(*as_members(chunks, vectors), "stamp")
    assert _in_topics(made) == {one.id for one in chunks}


def test_a_new_page_has_the_menu_of_the_others_in_no_topic_either() -> None:
    texts = {name: [*own, _FORM] for name, own in _ARTICLES.items()}
    chunks, vectors = _made(texts)
    before = [one for one in chunks if one.document_id != "chess"]
    kept = kept_topics(derive(*as_members(before, vectors[: len(before)]), "stamp"))
    members, read = as_members(chunks, vectors)
    new = {id_: one for id_, one in read.items() if id_ not in kept.topic_of}
    assignment = assign(members, new, kept)
    assert assignment is not None
    topics = dict(zip((one.chunk_id for one in members), assignment.topics, strict=True))
    assert {id_ for id_, topic in topics.items() if topic is None} == {
        f"{name}#1" for name in texts
    }
    assert topics["chess#0"] in kept.communities


@pytest.mark.parametrize(
    ("is_new", "was_off"), [(False, False), (True, False), (False, True)], ids=["held", "new", "on"]
)
def test_what_had_no_topic_stays_without_when_its_copies_go(is_new: bool, was_off: bool) -> None:
    chunks, vectors = _made({name: [*own, _FORM] for name, own in _ARTICLES.items()})
    kept = kept_topics(derive(*as_members(chunks, vectors), "stamp"))
    there = [n for n, one in enumerate(chunks) if one.text != _FORM or one.document_id == "mill"]
    members, read = as_members([chunks[n] for n in there], vectors[there])
    topics = {
        id_: topic
        for id_, topic in kept.topic_of.items()
        if not (was_off and id_.startswith("mill#"))
    }
    assignment = assign(
        [replace(one, is_new=is_new) for one in members],
        {id_: one for id_, one in read.items() if id_ not in topics},
        replace(kept, topic_of=topics),
    )
    assert assignment is not None
    placed = dict(zip((one.chunk_id for one in members), assignment.topics, strict=True))
    assert (placed["mill#1"] is not None) is (is_new or was_off)


# ------------------------------------------------------------------------------------------- names
def _title_of_one(chunks: list[ChunkRecord]) -> str:
    vectors = np.full((len(chunks), 8), 1.0, dtype=np.float32)
    made = derive(*as_members(chunks, vectors), "stamp")
    return max(made.communities, key=lambda one: len(one.chunk_ids)).title


def test_a_topic_is_called_as_a_person_would_call_it() -> None:
    said = (
        "We're glad that it doesn't leak; they'll see it at https://pumps.example/valves/a.html. "
    )
    document = [
        ChunkRecord(str(n), "a/1.md", n, "Pumps > Seals", said * 2 + "A seal lasts.", title="Pumps")
        for n in range(3)
    ]
    assert _title_of_one(document) == "Pumps: Seals"
    several = [
        ChunkRecord(
            str(n),
            f"{n}.md",
            0,
            f"Note {n}x",
            f"{said} Rotary valves need oil {n}.",
            title=f"Note {n}x",
        )
        for n in range(6)
    ]
    assert _title_of_one(several) == "Note 0x; Note 1x"


def test_topics_beside_each_other_have_short_names_of_their_own(
    knowledge: KnowledgeBatch,
) -> None:
    for level in (0, 1):
        titles = [one.title for one in knowledge.communities if one.level == level]
        assert len({*titles}) == len(titles)
        assert not [title for title in titles if len(title) > MOST_OF_A_TITLE]


def test_code_is_called_after_its_folder_and_files() -> None:
    chunks = [
        ChunkRecord(name, f"net/{name}.py", 0, "read", f"def read_{name}()", title=f"{name}.py")
        for name in ("wire", "frames", "queue")
    ]
    assert _title_of_one(chunks) == "net"


def test_a_topic_of_which_no_word_tells_is_called_after_its_documents() -> None:
    chunks = [
        ChunkRecord(str(n), f"{n}.csv", 0, "", "| 1 | 2 |", title=f"Sales {n}") for n in range(3)
    ]
    assert _title_of_one(chunks) == "Sales 0; Sales 1"


def test_an_address_has_a_name_and_no_folders() -> None:
    address = f"https://pumps.example/{'valves/' * 20}seal.html"
    chunk = ChunkRecord("1", address, 0, "", "A seal lasts.", title="seal.html")
    assert not digest([chunk]).folders
    assert document_name(chunk).endswith("/seal.html")
    assert len(document_name(chunk)) == MOST_OF_A_NAME


def test_products_are_words_and_files_and_addresses_are_none() -> None:
    assert words("Node.js and Booking.com") == ["node", "js", "", "booking", "com"]
    assert words("index.js src/Node.js pumps.com lib/App.jsx Guide.md") == ["src", "lib"]


def test_the_fingerprint_follows_every_document_and_the_model() -> None:
    a, b = (DocumentRecord(n, n, "s", DocumentVersion(n)) for n in "ab")
    base = fingerprint([a, b], "m/8")
    assert base == fingerprint([b, a], "m/8")
    assert len({base, fingerprint([a], "m/8"), fingerprint([a, b], "n/8")}) == 3

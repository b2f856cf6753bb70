"""Titles, question words and the fusion of evidence."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.evidence.near_duplicates import near_duplicates
from drift.model.graph import Candidate, Candidates, Chunk, Mention, Relationship
from drift.search.ranking import fuse, graph_worth, ranked


def candidate(
    id_: str, cosine: float | None, text: float = 0.0, graph: float = 0.0, *, in_scope: bool = False
) -> Candidate:
    return Candidate(
        Chunk(id_, "", ""), None if cosine is None else (1 + cosine) / 2, text, graph, in_scope
    )


def of_document(id_: str, cosine: float, name: str) -> Candidate:
    return Candidate(Chunk(id_, "", name), (1 + cosine) / 2)


def order(*candidates: Candidate) -> list[str]:
    return [c.id for c in fuse(candidates, 10)]


def test_evidence_is_the_thirty_best_candidates_with_their_neighbourhood() -> None:
    candidates = tuple(candidate(f"{place:02}", place / 100) for place in range(40))
    relations = (Relationship("Mill", "Owl"),)

    evidence = ranked(Candidates(candidates, relations), "")

    assert [chunk.id for chunk in evidence.chunks] == [f"{place:02}" for place in range(39, 9, -1)]
    assert evidence.relationships == relations


@pytest.mark.parametrize(
    ("words", "pinned", "first"),
    [
        ([], "", "abcde"),
        (["g"], "", "abcdg"),
        (["hg"], "", "abcdg"),  # the better one
        (["gb"], "", "abcde"),  # it is among the first five already
        (["z"], "", "abcde"),  # it is not among the first twenty
        (["g", "f", "h"], "", "abcgf"),
        (["g", "gf", "h"], "", "abcgh"),
        (["g", "f"], "mno", "amnog"),
    ],
)
def test_a_rare_word_has_a_place_of_its_own_among_the_first_five(
    words: list[str], pinned: str, first: str
) -> None:
    names = "abcdefghijklpqrstuvwxyz"
    candidates = tuple(candidate(name, 0.9 - place / 30) for place, name in enumerate(names))
    wished = tuple(Chunk(name, "", "") for name in pinned)
    rare = tuple(map(frozenset, words))
    found = ranked(Candidates(candidates, pinned=wished, rare=rare), "").chunks

    assert "".join(chunk.id for chunk in found[:5]) == first
    assert len({chunk.id for chunk in found}) == len(found)
    scores = [chunk.score for chunk in found]
    assert scores == sorted(scores, reverse=True)


def test_without_words_or_graph_the_cosine_decides_and_ids_break_ties() -> None:
    assert order(candidate("b", 0.5), candidate("a", 0.5), candidate("c", 0.9)) == ["c", "a", "b"]


def test_a_chunk_that_the_question_leads_to_overtakes_a_slightly_nearer_one() -> None:
    far = candidate("far", 0.0)
    assert order(candidate("near", 0.8), candidate("walked", 0.7, graph=0.3), far)[0] == "walked"
    assert order(candidate("near", 0.8), candidate("worded", 0.7, text=9.0), far)[0] == "worded"


def test_a_chunk_gains_by_its_neighbour_in_the_document() -> None:
    def at(id_: str, place: int | None, text: float) -> Candidate:
        name = "Other" if id_ == "lone" else "Doc"
        return Candidate(Chunk(id_, "", name, place=place, places=9), None, text)

    best, lone = at("best", 6, 10.0), at("lone", 1, 4.1)
    assert order(lone, at("beside", 7, 4.0), best) == ["best", "beside", "lone"]
    assert order(lone, at("apart", 8, 4.0), best) == ["best", "lone", "apart"]
    assert order(lone, at("unplaced", None, 4.0), best) == ["best", "lone", "unplaced"]


def test_scope_is_a_small_bonus_not_a_filter() -> None:
    inside, far = candidate("in", 0.5, in_scope=True), candidate("far", 0.0)
    for ahead, first in ((0.5, "in"), (1.5, "out")):
        outside = candidate("out", 0.5 + ahead * 0.02)
        assert order(outside, inside, far)[0] == first


def test_a_chunk_without_a_vector_is_ranked_by_the_rest() -> None:
    bare = candidate("bare", None, text=5.0)
    near, far = candidate("near", 0.9, text=1.0), candidate("far", 0.1)
    assert order(bare, far, near) == ["near", "bare", "far"]


@pytest.mark.parametrize(("mass", "worth"), [(0.0, 0.0), (0.03, 0.0), (0.1, 1.0), (0.9, 1.0)])
def test_a_graph_counts_where_names_lead_to_few_chunks(mass: float, worth: float) -> None:
    assert graph_worth([candidate("a", 0.5, graph=mass), candidate("b", 0.5)]) == worth


def test_a_walk_over_names_that_stand_everywhere_does_not_overtake_a_nearer_chunk() -> None:
    walked, far = candidate("walked", 0.5, graph=0.02), candidate("far", 0.0)
    assert order(candidate("near", 0.8), walked, far) == ["near", "walked", "far"]
    assert order(candidate("near", 0.8), replace(walked, graph=0.2), far)[0] == "walked"


def test_another_document_goes_before_a_slightly_better_chunk_of_the_same_one() -> None:
    first, second = of_document("first", 0.9, "a"), of_document("second", 0.85, "a")
    other, far = of_document("other", 0.83, "b"), of_document("far", 0.0, "c")
    assert order(first, second, other, far) == ["first", "other", "second", "far"]
    assert order(first, second, of_document("other", 0.5, "b"), far)[1] == "second"


def test_near_copies_do_not_stand_side_by_side() -> None:
    text = "The old mill on the Danube was built by Ada"
    first, copy, other, last = (
        replace(of_document(id_, cosine, id_), chunk=Chunk(id_, words, id_))
        for id_, cosine, words in (
            ("first", 0.9, text),
            ("copy", 0.89, f"{text}."),
            ("other", 0.5, "Ulm"),
            ("last", 0.0, "Linz"),
        )
    )
    assert order(copy, last, first, other) == ["first", "other", "copy", "last"]


scores = st.floats(0, 1000, allow_nan=False)


@given(
    st.lists(
        st.builds(
            Candidate,
            st.just(Chunk("a", "", "")),
            st.none() | st.floats(0, 1),
            scores,
            scores,
            st.booleans(),
        )
    )
)
def test_fused_scores_are_finite_falling_and_bounded(candidates: list[Candidate]) -> None:
    fused = [c.score for c in fuse(candidates, 20)]
    assert all(math.isfinite(s) and 0 <= s <= 1.5 for s in fused)
    assert fused == sorted(fused, reverse=True)


WALKED = 0.2
"""The mass of a chunk to which a rare name leads, so that the graph counts in full."""


def mentioning(id_: str, cosine: float, *mentions: Mention) -> Candidate:
    return Candidate(Chunk(id_, "", ""), (1 + cosine) / 2, graph=WALKED, mentions=mentions)


@pytest.mark.parametrize(
    ("rarities", "gaining", "other"),
    [
        ((3.0, 3.0), Mention(1, 3.0, 1.0), Mention(2, 3.0, 0.0)),
        ((1.0, 5.0), Mention(2, 5.0, 1.0), Mention(1, 1.0, 1.0)),
    ],
    ids=["about it, and not only mentioning it", "rare, and not common"],
)
def test_a_chunk_gains_by_what_the_best_ones_mention(
    rarities: tuple[float, float], gaining: Mention, other: Mention
) -> None:
    shared = [Mention(number, rarity, 0.0) for number, rarity in enumerate(rarities, start=1)]
    best = [mentioning(id_, 1.0, *shared) for id_ in ("s1", "s2", "s3")]
    behind = [mentioning("other", 0.11, other), mentioning("far", 0.0)]
    ranked_ids = order(*best, mentioning("gaining", 0.1, gaining), *behind)
    assert ranked_ids.index("gaining") < ranked_ids.index("other")


@pytest.mark.parametrize(("rarity", "first"), [(1.8, "near"), (5.0, "linked")])
def test_a_weak_link_weighs_little_though_no_other_is_stronger(rarity: float, first: str) -> None:
    shared = Mention(1, rarity, 0.0)
    best = [mentioning("best", 1.0, shared), mentioning("b2", 1.0), mentioning("b3", 1.0)]
    behind = [mentioning("near", 0.5), mentioning("linked", 0.1, shared), mentioning("far", 0.0)]
    assert order(*best, *behind)[3] == first


def test_a_list_of_names_does_not_gain_by_their_number() -> None:
    names = [Mention(number, 2.0, 0.0) for number in range(60)]
    pages = [mentioning(f"p{at}", at / 30, *names[at : at + 2]) for at in range(24, 0, -1)]
    listing = mentioning("list", 0.75, *names)
    unnamed = [replace(one, graph=0.0) for one in pages[8:]]
    found = order(listing, *pages[:8], *unnamed)
    assert found.index("list") == 8


def test_what_the_best_chunks_lead_to_does_not_overtake_them() -> None:
    rare = Mention(1, 5.0, 1.0)
    best = mentioning("best", 1.0, rare)
    copies = [mentioning(f"a{place}", -0.5, rare) for place in range(30)]
    assert order(best, *copies, mentioning("far", -1.0))[0] == "best"


STORY = "the old mill on the Danube was built by Ada in the year of the flood and burned twice"


@pytest.mark.parametrize(
    ("second", "is_duplicate"),
    [
        (STORY, True),
        (STORY.upper() + "!", True),
        (f"{STORY} and again", True),
        (STORY.replace("Ada", "Eva").replace("flood", "fire"), False),
        (" ".join(reversed(STORY.split())), False),
        (f"{STORY} {' '.join(f'word{i}' for i in range(30))}", False),
    ],
)
def test_a_text_that_shares_half_of_its_runs_is_a_near_duplicate(
    second: str, is_duplicate: bool
) -> None:
    assert list(near_duplicates([STORY, second])) == [False, is_duplicate]


def test_a_duplicate_of_a_duplicate_is_compared_with_what_was_kept() -> None:
    words = [f"word{i}" for i in range(40)]
    shifted = [" ".join(words[start : start + 20]) for start in (0, 5, 10)]
    assert list(near_duplicates(shifted)) == [False, True, False]


def test_a_long_text_is_judged_by_its_beginning_and_its_end() -> None:
    texts = [" ".join(f"{name}{i}" for i in range(2_000)) for name in ("a", "b")]
    begins_alike = texts[0][: len(texts[0]) // 2] + texts[1]
    assert list(near_duplicates([texts[0], texts[0], begins_alike])) == [False, True, False]


@given(st.lists(st.text(alphabet="abcdefghijk ", min_size=20), min_size=1))
def test_a_text_given_again_is_a_near_duplicate(texts: list[str]) -> None:
    flags = list(near_duplicates([*texts, *texts]))[len(texts) :]
    assert flags == [bool(text.strip()) for text in texts]


LEASE = "This lease is made between the owner and the tenant. The rent is {} a month. It ends soon."


@pytest.mark.parametrize(
    ("one", "other", "is_duplicate"),
    [
        (LEASE.format("4,850 euros"), LEASE.format("4,850 euros"), True),
        (LEASE.format("4,850 euros"), LEASE.format("3,920 euros"), False),
        (LEASE.format("1.5 euros"), LEASE.format("15 euros"), False),
        (LEASE.format("5 euros"), LEASE.format("-5 euros"), False),
        (LEASE.format("four sheep"), LEASE.format("six sheep"), False),
        ("港の営業時間は九時から五時までです。", "港の営業時間は九時から五時までです。", True),
        ("港の賃料は月額4850円です。", "港の賃料は月額3920円です。", False),
        ("港の営業時間は九時から五時までです。", "ダムは北の谷に建設されました。", False),
        ("Rent: 4,850", "Rent: 4,850", True),
        ("Rent: 4,850", "rent: 4850", True),
        ("เรือไม่ต้องจ่ายเงิน", "เรือไม่ต้องจ่ายเงิน", True),
        ("เรือไม่ต้องจ่ายเงิน", "ท่าเปิดทุกวัน", False),
        ("パリの港は古いです。", "バリの港は遠いです。", False),
        ("— ☂ —", "— ☂ —", True),
        (LEASE.format("4,850 euros"), LEASE.format("4,850 dollars"), False),
        ("Rent: 4,850", "Rent: 3,920", False),
    ],
)
def test_equal_words_with_other_numbers_are_no_duplicates(
    one: str, other: str, *, is_duplicate: bool
) -> None:
    assert list(near_duplicates([one, other])) == [False, is_duplicate]


def test_two_documents_of_one_title_are_two() -> None:
    first, second, behind = (
        Candidate(Chunk(id_, id_, "Lease", place=place, places=2, document_id=document), cosine)
        for id_, document, place, cosine in (
            ("a", "a", 1, 1),
            ("b", "b", 1, 0.8),
            ("b2", "b", 2, 0),
        )
    )
    scores = {c.id: c.score for c in fuse([first, second, behind], 3)}
    # Half of their cosines; the last has a tenth of the one before it in its own document.
    assert scores == {"a": 0.5, "b": 0.4, "b2": 0.036}


def test_a_short_chunk_brings_the_one_behind_it_with_its_score() -> None:
    behind = Chunk("next", "Said at length.", "a")
    found = [
        candidate("best", 0.9),
        replace(of_document("heading", 0.5, "a"), following=behind),
        replace(of_document("late", 0.4, "b"), following=Chunk("best", "", "b")),
    ]
    chunks = ranked(Candidates(tuple(found)), "").chunks
    assert [chunk.id for chunk in chunks] == ["best", "heading", "next", "late"]
    assert chunks[2].score == chunks[1].score


def test_what_stands_behind_the_first_thirty_is_kept_whole_and_once() -> None:
    found = [of_document(f"c{n:02}", 1 - n / 100, f"d{n}") for n in range(40)]
    for at in (1, 3):
        found[at] = replace(found[at], following=found[35 + at].chunk)
    evidence = ranked(Candidates(tuple(found)), "")
    ids = [chunk.id for chunk in (*evidence.chunks, *evidence.further)]
    assert len(evidence.chunks) == 30
    assert sorted(ids) == [f"c{n:02}" for n in range(40)]
    assert ids[:6] == ["c00", "c01", "c36", "c02", "c03", "c38"]

"""The few relations that a prompt shows: what leads from a known name to a new one."""

import pytest

from drift.model.graph import Evidence, Relationship
from drift.prompting.graph_lines import MAX_CHARACTERS, MAX_LINES, graph_lines
from tests.fakes import chunk

ASKED = ["Who owned the Old Mill?", "Ann"]
SHOWN = chunk("shown", "The Old Mill stood by the river. Cid sold\nthe Old Mill.")


def lines(*relations: Relationship, known: list[str] = ASKED) -> list[str]:
    chunks = (SHOWN, chunk("k1"), chunk("k2"))
    return graph_lines([Evidence(chunks, relations)], [SHOWN], known)


def said(target: str, sentence: str, at: str = "k1", source: str = "OLD MILL") -> Relationship:
    """Return a relation with its evidence."""
    return Relationship(source, target, sentence, chunk_id=at, document="Deeds")


def test_a_relation_with_evidence_is_its_sentence_with_the_document() -> None:
    found = lines(said("Bob", "In 1802 Bob bought it."))
    assert found == ["OLD MILL - Bob: In 1802 Bob bought it. (Deeds)"]


@pytest.mark.parametrize(
    "relation",
    [
        said("Bob", "Bob bought it.", at="shown"),
        said("Cid", "Cid sold the old mill."),
        said("Ann", "Ann bought it."),
        said("Bob", "Bob met Cid.", source="Cid"),
        said(" ", "Nobody bought it."),
        Relationship("Old Mill", "Bob", "Bob bought the mill in 1802.", 1, ("shown",)),
    ],
)
def test_what_is_shown_or_leads_from_no_known_name_to_a_new_one_is_no_line(
    relation: Relationship,
) -> None:
    assert lines(relation) == []


@pytest.mark.parametrize(
    ("description", "is_line"),
    [
        ("Bob bought the Old Mill from his uncle.", True),
        ("is the owner of", True),
        ("鮑勃買下了老磨坊並住在那裡", True),
        ("Old Mill and Bob are both in: The Contours", False),
        ("Old Mill, Bob", False),
        ("OWNED_BY", False),
        ("owns", False),
        (" \n", False),
    ],
)
def test_a_relation_from_elsewhere_counts_only_where_its_description_says_something(
    description: str, *, is_line: bool
) -> None:
    assert bool(lines(Relationship("Old Mill", "Bob", description, 1, ("k1",)))) == is_line


def test_what_several_relations_say_in_the_same_words_is_a_template() -> None:
    same = [
        Relationship("Old Mill", name, f"Old Mill stands near {name}", 1, ("k1",))
        for name in ("Bob", "Cid", "Dan")
    ]
    assert len(lines(*same[:2])) == 2
    assert lines(*same) == []


def test_the_nearest_evidence_comes_first_and_relations_without_it_last() -> None:
    found = lines(
        Relationship("Old Mill", "Dan", "Dan repaired the wheel.", 9, ("k1",)),
        said("Bob", "Bob bought it.", at="far"),
        said("Eve", "Eve rented it.", at="k2"),
        said("Fay", "Fay burnt it.", at="k1"),
    )
    assert [line.partition(":")[0].partition(" - ")[2] for line in found] == [
        "Fay",
        "Eve",
        "Dan",
        "Bob",
    ]


def test_lines_are_few_and_short_and_two_names_have_one() -> None:
    many = [said(f"Bob{n}", f"{n} " + "word " * 900, at="k1") for n in range(20)]
    found = lines(said("Bob0", "First.", at="k1"), *many)
    assert len(found) == MAX_LINES
    assert found[0] == "OLD MILL - Bob0: First. (Deeds)"
    assert all(len(line) < MAX_CHARACTERS + 40 for line in found)

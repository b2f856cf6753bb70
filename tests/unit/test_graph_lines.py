"""The few relations that a prompt shows: what leads from a known name to a new one."""

import pytest

from drift.model.graph import Evidence, Relationship
from drift.prompting.graph_lines import graph_lines
from tests.fakes import chunk

ASKED = ["Who owned the Old Mill?", "Ann"]
SHOWN = chunk("shown", "The Old Mill stood by the river. Cid sold\nthe Old Mill.")


def lines(*relations: Relationship, known: list[str] = ASKED) -> list[str]:
    chunks = (SHOWN, chunk("k1"), chunk("k2"))
    return graph_lines([Evidence(chunks, relations)], [SHOWN], known)


def said(target: str, sentence: str, at: str = "k1", source: str = "OLD MILL") -> Relationship:
    """Return a relation with its evidence."""
    return Relationship(source, target, sentence, (at,))


def test_a_relation_is_its_names_and_its_sentence() -> None:
    found = lines(said("Bob", "In 1802 Bob bought it."))
    assert found == ["OLD MILL - Bob: In 1802 Bob bought it."]


@pytest.mark.parametrize(
    "relation",
    [
        said("Bob", "Bob bought it.", at="shown"),
        said("Cid", "Cid sold the old mill."),
        said("Ann", "Ann bought it."),
        said("Bob", "Bob met Cid.", source="Cid"),
        said(" ", "Nobody bought it."),
        said("12 March 1802", "It was sold on 12 March 1802."),
        Relationship("Old Mill", "Bob", "Bob bought the mill in 1802.", ("shown",)),
    ],
)
def test_what_is_shown_or_leads_from_no_known_name_to_a_new_one_is_no_line(
    relation: Relationship,
) -> None:
    assert lines(relation) == []


def test_what_the_best_chunks_say_comes_first_and_what_none_says_last() -> None:
    found = lines(
        Relationship("Old Mill", "Dan", "Dan repaired the wheel."),
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
    found = lines(said("Bob0", "First owner.", at="k1"), *many)
    assert len(found) == 6
    assert found[0] == "OLD MILL - Bob0: First owner."
    assert all(len(line) < 280 for line in found)

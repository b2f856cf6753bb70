"""Names as people write them: a part of a title leads to its entity where it means one alone."""

from __future__ import annotations

from dataclasses import replace

from tests.contract.graph_backends import Backend, ask_followup, axis, chunk, entity, fill, ids
from tests.contract.test_graph_walk import NEAR


async def assert_leads(backend: Backend, project: str, leads: dict[str, str | None]) -> None:
    """Assert that each question leads to the only chunk that mentions this title, or to none."""
    for question, title in leads.items():
        evidence = await ask_followup(backend.store(), project, question, axis(0))
        found = set(ids(evidence.chunks)) - set(ids(NEAR))
        assert found == ({title} if title else set()), question


async def fill_titles(backend: Backend, project: str, *titles: str) -> None:
    """Have a chunk for each title that has no word of it, far from every question's vector."""
    hidden = [chunk(title, "text", axis(7 + place)) for place, title in enumerate(titles)]
    entities = [entity(f"e{number}", title, title) for number, title in enumerate(titles)]
    await fill(backend, project, [*NEAR, *hidden], entities)


async def test_a_part_of_a_title_leads_to_its_entity(backend: Backend, project: str) -> None:
    titles = ("ACME CORPORATION", "Ada O'Brien", "PARANORMAL MILITARY SQUAD", "Baker", "Tom Baker")
    await fill_titles(backend, project, *titles, "Alex Mercer", "Dr. Alex Mercer")
    await fill_titles(backend, f"{project}-b", "Ada Mercer")
    leads = {
        "what did Acme ship?": "ACME CORPORATION",
        "who met O'Brien there?": "Ada O'Brien",
        "who leads the Military Squad?": "PARANORMAL MILITARY SQUAD",
        "where is Baker?": "Baker",  # a whole title wins over a part of another
        "where is Mercer?": "Alex Mercer",  # that others repeat is clear
        "who met General Mercer?": "Alex Mercer",
    }
    await assert_leads(backend, project, leads)


async def test_an_unclear_a_common_and_a_small_part_lead_nowhere(
    backend: Backend, project: str
) -> None:
    titles = ("Alex Mercer", "Ada Mercer", "Ship of Fools", "Describe Ulm")
    long = "The old mill on the way from Ulm to Linz"
    await fill_titles(backend, project, *titles, long)
    questions = ("where was Mercer born?", "what did the ship carry?", "Describe it.")
    await assert_leads(backend, project, dict.fromkeys((*questions, "where is Linz?")))


async def test_a_chunk_is_found_by_the_words_of_its_documents_name(
    backend: Backend, project: str
) -> None:
    far = [
        replace(chunk("k1", "You may copy.", (), "licences/Artistic.txt"), heading="Artistic.txt"),
        replace(chunk("k2", "You may sell.", (), "installGuide.md"), heading="Selling"),
    ]
    near = [chunk("k3", "gamma", axis(2), "d3")]
    titles = {"licences/Artistic.txt": "Artistic.txt", "installGuide.md": "Selling"}
    await fill(backend, project, [*far, *near], titles=titles)
    for question, found in (
        ("What is allowed under the Artistic License?", "k1"),
        ("What does the install guide say?", "k2"),
    ):
        evidence = await ask_followup(backend.store(), project, question, axis(5))
        assert found in ids(evidence.chunks)

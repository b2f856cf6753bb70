"""What people look for is found in any spelling, and a rare word is read beside common ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from drift.core.deadline import Deadline
from drift.llm.local_embedder import LocalEmbedder
from drift.model.graph import Chunk
from tests.contract.graph_backends import Backend, ask_followup, axis, chunk, fill, ids
from tests.contract.near_names import forty_names, notes

COMMON = "The shopt option {0} is an option of shopt that the shell has; shopt -s sets the option."


async def asked(backend: Backend, project: str, question: str) -> tuple[Chunk, ...]:
    """The evidence of a question, by the vector of its own words."""
    vector = (await LocalEmbedder().embed([question], Deadline.after(60))).vectors[0]
    return (await ask_followup(backend.store(), project, question, vector)).chunks


async def fill_notes(backend: Backend, project: str) -> None:
    """Have each note as a document of one chunk."""
    told = list(notes())
    texts = [text for _, text in told]
    vectors = (await LocalEmbedder().embed(texts, Deadline.after(60))).vectors
    chunks = [
        chunk(f"k{number}", text, vector, title)
        for number, ((title, text), vector) in enumerate(zip(told, vectors, strict=True))
    ]
    await fill(backend, project, chunks)


async def test_a_name_is_found_first_among_names_that_differ_by_little(
    backend: Backend, project: str
) -> None:
    await fill_notes(backend, project)
    texts = [text for _, text in notes()]
    for form in ("{0}", "What do the notes say about {0}?"):
        places = {}
        for name in forty_names():
            held = [text for text in texts if f" {name} " in text]
            found = [one.text for one in await asked(backend, project, form.format(name))]
            assert len(held) == 1
            places[name] = found.index(held[0])
        # other projects share the index, and with it how rare a word counts
        assert sum(place > 0 for place in places.values()) <= 2, places

    for question, name in (
        ("dyn unload", "dyn.unload"),
        ("DYN.UNLOAD", "dyn.unload"),
        ("dynunload", "dyn.unload"),
        ("report draft pdf", "report.draft.pdf"),
        ("inv-2024-0093", "INV_2024_0093"),
        ("order line items", "OrderLineItems"),
        ("orderlineitems", "OrderLineItems"),
        ("bw1280", "BW-1280"),
        ("bw_1280", "BW-1280"),
        ("1.3.2", "v1.3.2"),
        ("default max redirects", "DEFAULT_MAX_REDIRECTS"),
        ("db07", "db07.internal.example"),
    ):
        found = [one.text for one in await asked(backend, project, question)][:5]
        assert any(f" {name} " in text for text in found), question


async def test_a_word_that_few_chunks_hold_is_read_beside_common_ones(
    backend: Backend, project: str
) -> None:
    names = [f"option{number}" for number in range(14)]
    common = [chunk(f"c{at}", COMMON.format(name), axis(0), name) for at, name in enumerate(names)]
    far = [
        chunk("rare", "If globstar is set, a pattern matches files in all folders.", axis(1), "d1"),
        replace(chunk("with", "It enters a context.", axis(2), "d2"), heading="The with statement"),
        replace(chunk("quoted", "Of or and if.", axis(3), "d3"), heading="Words"),
    ]
    statements = [
        chunk(f"s{at}", f"A statement {name} is a statement.", axis(4), f"s{at}")
        for at, name in enumerate(names)
    ]
    await fill(backend, project, [*common, *far, *statements])
    for question, nearest, wanted in (
        ("What does the shopt option globstar do?", 0, "rare"),
        ("What does a with statement do?", 4, "with"),
        ('What is a statement "or"?', 4, "quoted"),
    ):
        found = await ask_followup(backend.store(), project, question, axis(nearest))
        assert wanted in ids(found.chunks)[:5], question


@pytest.mark.parametrize("name", ["dyn.load", "quay_berth", "INV_2024_0093"])
async def test_a_graph_without_the_further_words_is_asked_for_what_it_holds(
    backend: Backend, project: str, name: str
) -> None:
    # each holds one part of a name: how rare the parts are in the index does not decide
    parts = ("load", "berth", "quay")
    near = [chunk(f"k{at}", f"draft {parts[at % 3]} {at}", axis(0), f"d{at}") for at in range(9)]
    await fill(backend, project, [*near, chunk("held", f"call {name} here", axis(0), "d10")])
    text = "MATCH (c:__Chunk__ {project_id: $p}) REMOVE c.name_words"
    await backend.connection.write(text, {"p": project})
    for question in (name, name.upper(), name.replace(".", " ").replace("_", " ")):
        found = await ask_followup(backend.store(), project, question, axis(0))
        assert "held" in ids(found.chunks)[:2], question

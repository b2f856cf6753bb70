"""What a chunk's document is called in graphs of pipelines that write no title."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from drift.core.deadline import Deadline
from drift.model.graph import FollowupQuery
from drift.search.ranking import MAX_CHUNKS
from tests.contract.graph_backends import (
    Neo4jBackend,
    ask_followup,
    axis,
    chunk,
    documents,
    fill,
    on_real_servers,
    vector,
)

pytestmark = on_real_servers

MILL = json.dumps({"pages": 3, "file_name": "Mühle.pdf"})
LONG = json.dumps({"file_name": "long.pdf", "words": "w" * 10_000})


STORED: list[tuple[dict[str, Any], str]] = [
    ({"title": " ", "file_name": "mill.pdf", "metadata": MILL}, "mill.pdf"),
    ({"metadata.file_name": "dotted.pdf", "metadata": MILL}, "dotted.pdf"),
    ({"metadata": LONG}, "d2"),
    ({"metadata": r'{"file_name": "\ud800 a.pdf"}'}, "a.pdf"),
    ({"metadata": 7, "file_name": [1]}, "d4"),
]


async def test_a_document_without_a_title_is_named_by_its_file(
    backend: Neo4jBackend, project: str
) -> None:
    many = [chunk(f"k{n}", "alpha", axis(n), f"d{n}") for n in range(len(STORED))]
    await fill(backend, project, many)
    rows = [{"id": f"d{n}", "stored": stored} for n, (stored, _) in enumerate(STORED)]
    await backend.connection.write(
        "UNWIND $rows AS row MATCH (d:__Document__ {project_id: $p, id: row.id}) "
        "REMOVE d.title SET d += row.stored",
        {"p": project, "rows": rows},
    )
    names = {f"k{n}": name for n, (_, name) in enumerate(STORED)}
    found = await ask_followup(backend.store(), project, "alpha?", axis(0))
    assert {one.id: one.document_name for one in found.chunks} == names


async def test_a_document_that_no_leg_finds_is_found_by_its_title_in_another(
    backend: Neo4jBackend, project: str
) -> None:
    """More chunks than are candidates are nearer; the question names one, whose text another."""
    noise = [chunk(f"n{n:02}", f"Films have mothers {n}.", axis(0), f"e{n}") for n in range(60)]
    far = [
        chunk("mill", "A work of 1910. It was directed by Ada Quist.", axis(1), "d1"),
        chunk("ada", "Born in Ulm. Runa Vale was very kind then.", axis(2), "d2"),
    ]
    titles = {"d1": "The Old Mill (film)", "d2": "Ada Quist"}
    await fill(backend, project, [*noise, *far], titles=titles)
    question = "Who is the mother of the director of the old mill?"
    found = await ask_followup(backend.store(), project, question, axis(0))
    assert [one.id for one in found.chunks[:2]] == ["mill", "ada"]
    assert [one.via[-1] for one in found.chunks[:2]] == ["title", "link"]

    # Only so many titles are of use as name one document.
    again = [chunk("twin", "Somebody else.", axis(3), "d3")]
    await backend.writer.write_documents(project, documents(again, {"d3": "Ada Quist"}))
    found = await ask_followup(backend.store(), project, question, axis(0))
    assert found.chunks[0].id == "mill"
    assert not {"ada", "twin"} & {one.id for one in found.chunks}


async def test_a_document_that_no_leg_finds_is_found_by_a_link_in_another(
    backend: Neo4jBackend, project: str
) -> None:
    """A link in Markdown, one that is stored beside the text, and one of a document that is off."""
    noise = [chunk(f"n{n:02}", f"Rents were paid {n}.", vector(0.3, 1), f"e{n}") for n in range(60)]
    best = [
        chunk("sold", "The mill was sold by [its heirs](../people/ada.md).", axis(0), "mills/a.md"),
        replace(
            chunk("made", "In 1910 a town sold its mill by its maker.", axis(0), "mills/b.html"),
            links=("/people/\u00e5.html\nits maker", "../gone.html\nits maker", "b.html\nmill"),
        ),
    ]
    far = [
        chunk("ada", "Runa took the deeds in May.", axis(2), "people/ada.md"),
        chunk("maker", "Ole took the money in June.", axis(3), "people/\u00e5.html"),
    ]
    await fill(backend, project, [*noise, *best, *far])
    question = "By whom was the mill sold?"

    async def first() -> list[str]:
        found = await ask_followup(backend.store(), project, question, axis(0))
        assert all("link" in one.via for one in found.chunks if one.id in {"ada", "maker"})
        return [one.id for one in found.chunks[:2]]

    assert sorted(await first()) == ["ada", "maker"]
    off = "MATCH (d:__Document__ {project_id: $p, id: 'people/ada.md'}) SET d.is_off = true"
    await backend.connection.write(off, {"p": project})
    assert (await first())[0] == "maker"
    for stored in ("7", "[7, 8]", "'/people/\u00e5.html'", "['\\n', '', '/x\\n\\n']"):
        text = f"MATCH (ch:__Chunk__ {{project_id: $p, id: 'made'}}) SET ch.links = {stored}"
        await backend.connection.write(text, {"p": project})
        assert "maker" not in await first()


async def test_links_and_titles_by_the_thousand_are_searched_in_bounds(
    backend: Neo4jBackend, project: str
) -> None:
    """Titles of a letter, of stop words, in every document, that are the question."""
    question = "What is the mill of the old town?"
    titles = ["A", "The", "of the", "mill", question, "B", "mill", "Old Town"]
    many = "".join(f"[mill {n}](d{n}.md) [The](d1.md) " for n in range(100))
    chunks = [
        replace(
            chunk(f"k{n}", f"The mill of the Old Town. A. {many}", axis(n % 5), f"d{n}"),
            links=tuple(f"d{to}\nThe mill" for to in range(1000)),
        )
        for n in range(100)
    ]
    named = {f"d{n}": titles[n % len(titles)] for n in range(100)}
    await fill(backend, project, chunks, titles=named)
    found = await ask_followup(backend.store(), project, question, axis(0))
    assert 0 < len(found.chunks) <= MAX_CHUNKS


async def test_the_nearest_chunks_of_a_named_document_are_candidates(
    backend: Neo4jBackend, project: str
) -> None:
    """Its title is that of another document too, and too many chunks are nearer or have its words.

    So no leg finds the chunk, and no title alone.
    """
    noise = [chunk(f"n{n:02}", f"Rents were paid {n}.", vector(1, 0.1), f"e{n}") for n in range(60)]
    rules = [chunk(f"r{n:02}", f"Rule {n}.", axis(1), "d1") for n in range(60)]
    answer = chunk("answer", f"Boats pay {'a fee ' * 60}.", vector(0.2, 1), "d1")
    twin_of_title = chunk("twin", "Nothing.", axis(2), "d2")
    titles = {"d1": "Harbour Rules", "d2": "Harbour Rules"}
    await fill(backend, project, [*noise, *rules, answer, twin_of_title], titles=titles)
    query = FollowupQuery(project, "What do the Harbour Rules ask of us?", axis(0), ())
    found = await backend.store().followup(query, Deadline.after(60))
    assert "answer" in {one.chunk.id for one in found.chunks}

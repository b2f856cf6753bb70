"""Bad documents, questions and graphs: evidence stays a plain hybrid's or better, prompts bounded.

Folders are ingested as a user would do it; graphs that no ingestion makes are written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest

from drift.core.deadline import Deadline
from drift.core.names import title_keys
from drift.graph.writing.records import ChunkRecord, EntityRecord
from drift.llm import local_embedding as embedding
from drift.llm.local_embedder import LocalEmbedder
from drift.local.evals.comparison import half_and_half
from drift.local.ingest.context import IngestContext
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.sources import read_source
from drift.model.graph import Candidates, FollowupQuery, Vector
from drift.model.limits import Limits
from drift.model.tree import Question
from drift.prompting import budget
from drift.prompting.batching import Found
from drift.prompting.elements import RequestHandles, SearchHistory
from drift.prompting.tokens import most_tokens
from drift.search.ranking import fuse, ranked
from tests.contract.graph_backends import Backend, chunk, entity, fill

SAID = "The lighthouse of Ulm was built by Ada Mercer in 1889, after the great flood."
ASKED = "Who built the lighthouse of Ulm?"
QUESTIONS = (ASKED, "lighthouse", "the of and which", "谁建造了乌尔姆的灯塔", "Кто построил маяк?")
"""A whole one, one word, stop words, and two in other scripts than the documents."""
SHOWN = Limits().max_chunks_for_prompt
LINKS = "\n".join(f"* [Page {number}](https://example.org/{number})" for number in range(200))
FILLER = " ".join(f"filler{number}" for number in range(60))
UNKNOWN = """Ulmi majakas ehitati pärast suurt üleujutust. Linnarahvas kogus kivid jõest, ja
meister Mercer juhtis tööd kolm aastat. Hiljem põles torn kaks korda maha."""


def vectors(texts: Iterable[str]) -> list[Vector]:
    return [tuple(map(float, row)) for row in embedding.embed(list(texts))]


FOLDERS: dict[str, Callable[[], dict[str, str]]] = {
    "one document": lambda: {"a.md": f"# Ulm\n\n{SAID}\n"},
    "links only": lambda: {"0.md": SAID} | {f"{number}.md": LINKS for number in range(1, 5)},
    "the same page fifty times": lambda: {
        f"{number}.md": f"# Ulm\n\n{SAID}\n\n{FILLER}\n" for number in range(50)
    },
    "an unknown language": lambda: {"a.md": UNKNOWN, "b.md": UNKNOWN.upper(), "c.md": SAID},
    "titles alike": lambda: titles_alike(300),
}


def titles_alike(number: int) -> dict[str, str]:
    """Pages with one title, of which the last says what is asked."""
    pages = {f"{n:05}.md": f"# Ulm\n\nUlm has house number {n}.\n" for n in range(number - 1)}
    return pages | {"said.md": f"# Ulm\n\n{SAID}\n"}


async def ask(backend: Backend, project: str, question: str, vector: Vector) -> Candidates:
    """Ask, and hold what comes to the promises that need no gold."""
    query = FollowupQuery(project, question, vector, ())
    found = await backend.store().followup(query, Deadline.after(120))
    evidence = ranked(found, "")
    group = (Found(Question(0, question), evidence, evidence.chunks),)
    handles = RequestHandles().including(c.id for c in evidence.chunks)
    prompt = budget.executor(question, group, handles, SearchHistory(), Limits()).prompt
    cost = most_tokens(prompt.system) + most_tokens(prompt.user)
    assert cost <= Limits().max_prompt_tokens

    if not any(candidate.graph or candidate.mentions for candidate in found.chunks):
        assert [c.id for c in evidence.chunks[:1]] == plain(found)[:1]
    return found


def plain(found: Candidates) -> list[str]:
    """Return what the half-and-half hybrid makes of the same candidates."""
    cosines = {c.chunk.id: c.similarity for c in found.chunks if c.similarity is not None}
    texts = {c.chunk.id: c.text for c in found.chunks if c.text}
    return half_and_half(cosines, texts)


def assert_not_worse(found: Candidates, gold: str = SAID) -> None:
    """Assert that a chunk with these words is shown where the plain hybrid shows one."""
    texts = {candidate.chunk.id: candidate.chunk.text for candidate in found.chunks}
    shown = [one.id for one in fuse(found.chunks, SHOWN)]
    if any(gold in texts[id_] for id_ in plain(found)[:SHOWN]):
        assert any(gold in texts[id_] for id_ in shown)


async def ask_folder(backend: Backend, project: str, folder: Path, pages: dict[str, str]) -> None:
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    await ingest(
        read_source(folder),
        project,
        IngestContext(backend.writer, LocalEmbedder(), embedding.DIMENSIONS),
    )
    for question, vector in zip(QUESTIONS, vectors(QUESTIONS), strict=True):
        found = await ask(backend, project, question, vector)
        assert found.chunks
        assert_not_worse(found)


@pytest.mark.parametrize("name", FOLDERS)
async def test_a_bad_folder_is_asked_like_any_other(
    backend: Backend, project: str, tmp_path: Path, name: str
) -> None:
    await ask_folder(backend, project, tmp_path, FOLDERS[name]())


def crowd(number: int) -> list[ChunkRecord]:
    texts = [SAID, *(f"House number {n} of Ulm has a lighthouse keeper." for n in range(number))]
    records = zip(texts, vectors(texts), strict=True)
    return [chunk(f"k{n:03}", text, vector) for n, (text, vector) in enumerate(records)]


def hubs(chunks: Sequence[ChunkRecord]) -> list[EntityRecord]:
    titles = ("Ulm", "Lighthouse", "Ada Mercer", "House", "Keeper")
    everywhere = [record.id for record in chunks]
    return [entity(f"e{n}", title, *everywhere) for n, title in enumerate(titles)]


async def test_a_graph_of_hubs_alone_leaves_the_plain_hybrid(
    backend: Backend, project: str
) -> None:
    chunks = crowd(80)
    await fill(backend, project, chunks, hubs(chunks))
    assert set(title_keys(ASKED)) & {"ulm", "lighthouse"}, "the question names hubs"
    for question, vector in zip(QUESTIONS, vectors(QUESTIONS), strict=True):
        assert_not_worse(await ask(backend, project, question, vector))

"""Questions that never stop while a project is ingested, and ingested again with changes.

None fails, none sees half.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from drift.core.deadline import Deadline
from drift.core.errors import DriftError, GraphTimeoutError
from drift.local.ingest.context import IngestContext
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.sources import Source, SourceDocument
from drift.model.calls import Embeddings
from drift.model.graph import Chunk, CommunityId
from drift.ports import GraphStore
from tests.contract.graph_backends import (
    DIMENSIONS,
    Neo4jBackend,
    ask_followup,
    ask_primer,
    axis,
    on_real_server,
    vector,
)
from tests.ingest.fakes import HashEmbedder

DOCUMENTS, SECTIONS = 24, 3
WORDS = (
    "Alder",
    "Birch",
    "Cedar",
    "Dogwood",
    "Elder",
    "Fir",
    "Gorse",
    "Hazel",
    "Ivy",
    "Juniper",
    "Larch",
    "Maple",
)


Told = tuple[CommunityId, str]
"""A community and its summary: it keeps its number while it changes."""


class WideEmbedder(HashEmbedder):
    """As many floats as the indexes want, each text in a direction of its own.

    A call takes some milliseconds.
    """

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        await asyncio.sleep(0.02)
        found = await super().embed(texts, deadline)
        return Embeddings(tuple(vector(*v) for v in found.vectors))


def source(version: str, changed: range) -> Source:
    """Documents about trees that stand together; those of the range say the version."""

    def text(n: int) -> str:
        said = version if n in changed else "first"
        sections = (
            f"## {WORDS[(n + s) % 12]} {n} {s}\n\n"
            + f"The {WORDS[(n * s) % 12]} Tree stands by the {WORDS[(n + 5 * s) % 12]} Tree in the "
            f"{said} year, "
            f"says part {s} of {n} in it. " * 6
            for s in range(SECTIONS)
        )
        return f"# Wood {n}\n\n" + "\n\n".join(sections)

    return Source(
        "woods",
        tuple(
            SourceDocument(f"{n:02}.md", f"Wood {n}", text(n), "markdown") for n in range(DOCUMENTS)
        ),
    )


@dataclass
class Asking:
    """Asks one question after the other until told to stop, and keeps what was seen."""

    store: GraphStore
    project: str
    failures: list[DriftError] = field(default_factory=list)
    communities: list[frozenset[Told]] = field(default_factory=list)
    texts: dict[str, set[str]] = field(default_factory=dict)
    asked: int = 0
    stopped: bool = False

    async def run(self) -> None:
        while not self.stopped:
            try:
                primer = await ask_primer(self.store, self.project, axis(0), 50)
                targets = tuple(c.id for c in primer[:3])
                found = await ask_followup(
                    self.store,
                    self.project,
                    "Which Alder Tree stands by the Birch Tree?",
                    axis(1),
                    targets,
                )
            except GraphTimeoutError:
                continue  # how fast a busy machine plans statements anew is not what is asked here
            except DriftError as error:
                self.failures.append(error)
                continue
            self.communities.append(frozenset((c.id, c.summary) for c in primer))
            self._keep(found.chunks)
            self.asked += 2

    def _keep(self, chunks: Sequence[Chunk]) -> None:
        for chunk in chunks:
            self.texts.setdefault(chunk.id, set()).add(f"{chunk.document_name}: {chunk.text}")


@on_real_server
async def test_no_question_fails_or_sees_half_while_documents_and_knowledge_change(
    backend: Neo4jBackend, project: str
) -> None:
    seen: list[frozenset[Told]] = [frozenset()]
    asking = [Asking(backend.store(scope), project) for scope in ("soft", "hard")]
    running = [asyncio.create_task(a.run()) for a in asking]
    await _more(asking)
    for read in (
        source("first", range(0)),
        source("second", range(0, DOCUMENTS, 4)),
        source("third", range(0, DOCUMENTS, 3)),
    ):
        await ingest(read, project, IngestContext(backend.writer, WideEmbedder(), DIMENSIONS))
        await _more(asking)
        store = backend.store()
        seen.append(
            frozenset((c.id, c.summary) for c in await ask_primer(store, project, axis(0), 50))
        )
    for one in asking:
        one.stopped = True
    await asyncio.gather(*running)

    assert len(set(seen)) == len(seen)
    rows = await backend.connection.read(
        "MATCH (c:__Chunk__ {project_id: $p}) RETURN c.id AS id", {"p": project}
    )
    assert len(rows.records) >= 2 * DOCUMENTS
    for one in asking:
        assert [(f.detail, str(f.__cause__)) for f in one.failures] == []
        assert set(seen[1:]) <= set(one.communities), "it was not asked often enough to tell"
        assert set(one.communities) <= set(seen), "communities of two generations at once"
        for id_, texts in one.texts.items():
            assert len(texts) == 1, f"{id_} was seen in two states: {sorted(texts)}"
            assert id_ != "None"
            assert "unknown: " not in next(iter(texts))


async def _more(asking: Sequence[Asking]) -> None:
    """Wait until each has asked once more from its beginning."""
    before = [one.asked + len(one.failures) for one in asking]
    while any(  # noqa: ASYNC110 - of several
        one.asked + len(one.failures) < had + 4 for one, had in zip(asking, before, strict=True)
    ):
        await asyncio.sleep(0.01)

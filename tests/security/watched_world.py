"""The function over servers in memory that are watched: projects full of marks, calls counted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from drift.contracts.reading import CommunityOut
from drift.graph.writing.records import (
    ChunkRecord,
    CommunityRecord,
    DocumentBatch,
    DocumentRecord,
    DocumentVersion,
    EntityRecord,
    KnowledgeBatch,
)
from drift.http.service import Service, WholeGraph
from drift.http.settings import load
from drift.model.found_nodes import CHUNK, FoundNode
from drift.model.health import Readiness
from drift.ports import Ports
from tests.contract.random_projects import VECTORS
from tests.fake_service import LOCAL
from tests.fakes import ListSink
from tests.fakes_graph import FakeGraph
from tests.fakes_nodes import FakeNodeFinder
from tests.fakes_reading import FakeReader, Held, chunk_read, document_out, entity_read
from tests.security.random_callers import EXISTING, Asker
from tests.security.test_isolation import Parrot

QUESTION = "What has the alder birch to do with cedar and zephyr?"
SHARED = {"documents": "d", "chunks": "k", "entities": "e"}
"""Ids that every project has."""


def mark(project: str) -> str:
    """Return the word that stands in all that an existing project holds, and nowhere else."""
    return f"mark{EXISTING.index(project):03}"


def own_id(project: str, kind: str) -> str:
    """Return an id of a kind that only this project has."""
    return f"{SHARED[kind]} of/{mark(project)}"


class Model(Parrot):
    """A model that is well."""

    async def health(self) -> Readiness:
        return Readiness.ok()


class Watched:
    """Stands before a server and keeps the name of everything that is asked of it."""

    def __init__(self, server: object, calls: list[str]) -> None:
        self._server = server
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        asked = getattr(self._server, name)

        def call(*args: object, **named: object) -> Any:
            self._calls.append(f"{type(self._server).__name__}.{name}")
            return asked(*args, **named)

        return call if callable(asked) else asked


@dataclass
class World:
    """The servers in memory, and the service over them; `calls` is what they were asked."""

    graph: FakeGraph = field(default_factory=FakeGraph)
    held: dict[str, Held] = field(default_factory=dict)
    nodes: dict[str, list[FoundNode]] = field(default_factory=dict)
    sink: ListSink = field(default_factory=ListSink)
    calls: list[str] = field(default_factory=list)
    service: Service = field(init=False)

    def __post_init__(self) -> None:
        graph, model, reader, finder, sink = (
            Watched(server, self.calls)
            for server in (
                self.graph,
                Model(),
                FakeReader(self.held),
                FakeNodeFinder(self.nodes),
                self.sink,
            )
        )
        self._servers: tuple[Any, Any, Any] = (
            Ports(graph, model, model),
            sink,
            WholeGraph(reader, finder),
        )
        self.service = self._serving({})

    def set_for(self, who: Asker) -> None:
        """Have the service as the settings of this caller's mode say."""
        self.service = self._serving(who.settings)

    def _serving(self, settings: Mapping[str, str]) -> Service:
        few = {
            "MAX_FOLLOWUPS": "1",
            "MAX_PASSES": "1",
            "MAX_INFLIGHT": "100",
            "VECTOR_INDEX_DIMENSIONS": str(len(VECTORS[0])),
        }
        return Service(load({**LOCAL, **few, **settings}), *self._servers)

    @property
    def touched(self) -> list[str]:
        """What servers were asked, but for the list of projects: it tells which needs no name."""
        return [call for call in self.calls if call != "FakeReader.projects"]

    def forget(self) -> None:
        """Forget what was asked and sent so far."""
        self.calls.clear()
        self.sink.messages.clear()
        self.sink.channels.clear()

    async def fill(self) -> None:
        """Write every project that exists: the same ids in all, and some of its own."""
        for project in EXISTING:
            await self.graph.write_documents(project, _documents(project))
            await self.graph.write_knowledge(project, _knowledge(project))
            self.held[project] = _held(project)
            chunks = self.held[project].chunks.values()
            title = f"title of {mark(project)}"
            self.nodes[project] = [FoundNode(c.id, CHUNK, title, c.text, 0.9) for c in chunks]


def _documents(project: str) -> DocumentBatch:
    word = mark(project)
    ids = [(SHARED["documents"], SHARED["chunks"])]
    ids.append((own_id(project, "documents"), own_id(project, "chunks")))
    text = f"The alder birch and the cedar of {word} met a zephyr."
    return DocumentBatch(
        tuple(
            DocumentRecord(d, f"Title of {word}", "source", DocumentVersion(f"hash of {d}"))
            for d, _ in ids
        ),
        tuple(
            ChunkRecord(chunk, document, place, "", f"{text} {place}", VECTORS[place])
            for document, chunk in ids
            for place, chunk in enumerate((chunk, f"{chunk} behind"))
        ),
    )


def _knowledge(project: str) -> KnowledgeBatch:
    word, chunk = mark(project), SHARED["chunks"]
    return KnowledgeBatch(
        tuple(
            EntityRecord(id_, f"cedar {word}", f"about {word}", (chunk,))
            for id_ in (SHARED["entities"], own_id(project, "entities"))
        ),
        (),
        tuple(
            CommunityRecord(
                n, 0, None, f"title {word}", f"summary of {word}", (), (chunk,), VECTORS[n]
            )
            for n in range(2)
        ),
        "fingerprint",
    )


def _held(project: str) -> Held:
    """Return the same as it is read."""
    batch, knowledge = _documents(project), _knowledge(project)
    documents = {d.id: document_out(d.id, d.title, 2) for d in batch.documents}
    return Held(
        documents,
        [
            CommunityOut(
                id=c.community, level=0, title=c.title, summary=c.summary, members=1, parents=()
            )
            for c in knowledge.communities
        ],
        {c.id: chunk_read(c.id, c.text, documents[c.document_id]) for c in batch.chunks},
        {e.id: entity_read(e.id, e.title) for e in knowledge.entities},
    )


def other_marks(project: str | None, body: bytes) -> list[str]:
    """Return the marks of other projects that a body holds."""
    text = body.decode()
    return [mark(one) for one in EXISTING if one != project and mark(one) in text]


def without_id(body: bytes) -> dict[str, Any]:
    """Return a problem without the id of its retrieval."""
    problem: dict[str, Any] = json.loads(body)
    assert problem.pop("retrieval_id")
    return problem

"""What is asked of the synthetic graph: the search's statements, those of nodes and of reading."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from drift.auth.caller import EVERYBODY
from drift.contracts.filter import Filter
from drift.contracts.request import ProjectRequest
from drift.core.deadline import Deadline
from drift.graph.connection import READ_TIMEOUT_S, Connection
from drift.graph.graph import Neo4jGraph
from drift.model.calls import ChatReply, Embeddings
from drift.model.found_nodes import CHUNK, COMMUNITY, NodesQuery
from drift.model.graph import FollowupQuery, PrimerQuery
from drift.model.health import Readiness
from drift.model.limits import Limits
from drift.model.reading import PageQuery
from drift.nodes.threshold import LEAST_TEXTS, pairs
from drift.ports import Ports
from drift.search.evidence import EvidenceSearch
from drift.search.progress import Progress
from tests.bench.synthetic import Query, SyntheticProject
from tests.bench.synthetic_records import CHUNKS_A_DOCUMENT

COMMUNITIES = 5
"""What the primer shows."""
CHUNKS, NODES = 30, 5
"""Compared with exact scoring: a follow-up's chunks, and the nodes of every kind."""
LISTED, TEXTS = PageQuery(50), PageQuery(20)
"""As many rows as the routes give where nothing is said."""
HUB = "e-1"
"""The entity that every second chunk mentions."""
READ = "read_"
"""How the names of what the read routes ask begin."""
PATIENCE_S = 120.0
"""A slow statement is a result, and one that is profiled is planned anew."""
KEPT_SHARES = (0.001, 0.01, 0.1, 0.5)
PART, PRIME = "part", 367
"""A property of documents from 0 to 999, and what spreads it over them."""
NO_WORDS = "?"
"""A question that only its vector answers: its candidates are the ranking by vector alone."""


class WatchedConnection(Connection):
    """A connection that counts statements and keeps the last result; `profiling` adds plans."""

    profiling = False
    trips = 0
    last: Any = None
    candidates: Sequence[Any] = ()

    async def read(
        self, text: str, parameters: Mapping[str, Any], timeout_s: float = READ_TIMEOUT_S
    ) -> Any:
        """Run a statement as `Connection.read` does, and remember it."""
        self.trips += 1
        statement = f"PROFILE {text}" if self.profiling else text
        self.last = await super().read(statement, parameters, max(timeout_s, PATIENCE_S))
        if "candidates" in self.last.keys:
            self.candidates = self.last.records[0]["candidates"]
        return self.last


Ask = Callable[[Query], Awaitable[Sequence[Any]]]


@dataclass(frozen=True, slots=True)
class Trial:
    """One statement: `ask` returns what a question finds, by name.

    `recall` is the part (0..1) of the exact ranking that it finds; None where nothing is ranked.
    """

    name: str
    ask: Ask
    recall: Callable[[Query], Awaitable[float]] | None = None


def deadline() -> Deadline:
    return Deadline.after(60.0)


def share(found: Sequence[str], exact: Sequence[str]) -> float:
    return len(set(found) & set(exact)) / len(exact) if exact else 1.0


# --------------------------------------------------------------------------------------- the search
def primer(graph: Neo4jGraph, project: SyntheticProject) -> Trial:
    """Return the primer."""

    async def ask(query: Query) -> Sequence[Any]:
        voters = tuple(project.nearest_chunks(query.vector, CHUNKS))
        asked = PrimerQuery(project.project_id, voters, query.vector, COMMUNITIES)
        return await graph.primer(asked, deadline())

    async def recall(query: Query) -> float:
        exact = exact_communities(project, query)
        return share([str(c.id) for c in await ask(query)], [str(id_) for _, id_ in exact])

    return Trial("primer", ask, recall)


def followup(
    name: str, graph: Neo4jGraph, connection: WatchedConnection, project: SyntheticProject
) -> Trial:
    """Return the follow-up inside the communities that the primer would choose."""

    async def candidates(query: Query, text: str) -> Sequence[Any]:
        scope = tuple(id_ for _, id_ in exact_communities(project, query))
        asked = FollowupQuery(project.project_id, text, query.vector, scope)
        return (await graph.followup(asked, deadline())).chunks

    async def ask(query: Query) -> Sequence[Any]:
        return await candidates(query, query.text)

    async def recall(query: Query) -> float:
        await candidates(query, NO_WORDS)
        by_vector = sorted(connection.candidates, key=lambda row: (-row["similarity"], row["id"]))
        found = [row["id"] for row in by_vector[:CHUNKS]]
        return share(found, project.nearest_chunks(query.vector, CHUNKS))

    return Trial(name, ask, recall)


def filtered(
    graph: Neo4jGraph, connection: WatchedConnection, project: SyntheticProject
) -> list[Trial]:
    """Return the follow-up within filters that leave a part of the documents, resolved first.

    Beside each, what it takes alone to tell those documents.
    """
    # Documents are told apart by their number, every 1,000th part of which is spread over all.
    trials, reader = [], graph.reader()
    for share_of_all in KEPT_SHARES:
        asked_for = Filter(type="lt", key=f"metadata.{PART}", value=round(share_of_all * 1000))

        async def allowed(_query: Query, asked_for: Filter = asked_for) -> Sequence[str]:
            left = await reader.allowed(project.project_id, asked_for, deadline())
            return [*left.documents]

        async def ask(query: Query, asked_for: Filter = asked_for) -> Sequence[Any]:
            left = await reader.allowed(project.project_id, asked_for, deadline())
            asked = FollowupQuery(project.project_id, query.text, query.vector, ())
            return (await graph.within(left).followup(asked, deadline())).chunks

        # What was defined last would be asked for each share.
        async def recall(query: Query, share_of_all: float = share_of_all, ask: Ask = ask) -> float:
            await ask(replace(query, text=NO_WORDS))
            rows = sorted(connection.candidates, key=lambda row: (-row["similarity"], row["id"]))
            number = np.arange(project.chunks) // CHUNKS_A_DOCUMENT
            kept = np.flatnonzero(number * PRIME % 1000 < round(share_of_all * 1000))
            near = project.vectors[kept] @ np.asarray(query.vector, np.float32)
            exact = [f"c{kept[place]}" for place in np.argsort(-near)[:CHUNKS]]
            return share([row["id"] for row in rows[:CHUNKS]], exact)

        name = f"filtered {100 * share_of_all:g} %"
        trials += [Trial(name, ask, recall), Trial(f"{name}, documents alone", allowed)]
    return trials


class Given:
    """Embedder and chat model of a bench: the vector of a question that is there, and no answer."""

    longest_prompt = None

    def __init__(self, query: Query) -> None:
        self.query = query

    async def embed(self, _texts: Sequence[str], _deadline: Deadline) -> Embeddings:
        return Embeddings((self.query.vector,))

    async def complete(self, *_: Any) -> ChatReply:
        raise NotImplementedError

    async def health(self) -> Readiness:
        return Readiness.ok()


def evidence(graph: Neo4jGraph, project: SyntheticProject) -> Trial:
    """Return the evidence alone, beyond the embedding: all of what /retrieve does for it."""

    async def ask(query: Query) -> Sequence[Any]:
        given = Given(query)
        search = EvidenceSearch(Ports(graph, given, given, graph.passages()), Limits())
        asked = ProjectRequest(
            query=query.text, project_id=project.project_id, top_k=10, answer=False
        )
        async with Progress(project.project_id, "bench") as progress:
            return (await search.answer(asked, progress, deadline())).evidence

    return Trial("evidence", ask)


def exact_communities(project: SyntheticProject, query: Query) -> list[tuple[int, int]]:
    """Return what the primer should choose, as (level, id).

    The highest levels come first, until half of the places are filled.
    """
    known: list[tuple[int, int]] = []
    level = len(project.widths)
    while level and len(known) < (COMMUNITIES + 1) // 2:
        level -= 1
        known += [(level, number) for number in project.nearest_communities(query.vector, level)]
    return [(level, project.community_id(level, number)) for level, number in known[:COMMUNITIES]]


# ---------------------------------------------------------------------------------------- the nodes
def nodes(graph: Neo4jGraph, project: SyntheticProject) -> list[Trial]:
    """Return the search of nodes with what is around each, and the sample of 2,000 pairs."""
    finder = graph.finder()

    async def nearest(query: Query) -> list[str]:
        asked = NodesQuery(project.project_id, query.vector, limit=NODES)
        found = await finder.nearest_nodes(asked, deadline())
        return [f"{node.node_type} {node.id}" for node in found.nodes]

    async def recall(query: Query) -> float:
        return share(await nearest(query), exact_nodes(project, query))

    async def sample(_query: Query) -> Sequence[Any]:
        asked = (project.project_id, project.dims, pairs(), LEAST_TEXTS)
        return (await finder.sample(*asked, deadline())).cosines

    return [Trial("nodes", nearest, recall), Trial("nodes_sample", sample)]


def exact_nodes(project: SyntheticProject, query: Query) -> list[str]:
    """Return the nearest chunks and communities; the entities of the graph have no vectors."""
    vector = np.asarray(query.vector, np.float32)
    chunks = project.vectors @ vector
    scored = [(float(chunks[n]), f"{CHUNK} c{n}") for n in np.argsort(-chunks)[:NODES]]
    for level, vectors in enumerate(project.community_vectors):
        for number, score in enumerate(vectors @ vector):
            name = f"{COMMUNITY} {project.community_id(level, number)}"
            scored.append((float(score), name))
    return [name for _, name in sorted(scored, reverse=True)[:NODES]]


# ------------------------------------------------------------------------------------------ reading
def reads(graph: Neo4jGraph, project: SyntheticProject) -> list[Trial]:
    """Return a trial for each read route, for a page far behind, and for the hub.

    Each is asked of rows chosen by chance.
    """
    reader, own = graph.reader(), EVERYBODY.project(project.project_id)
    chance = random.Random(1)  # noqa: S311 - which rows are read

    def place() -> int:
        return chance.randrange(project.chunks)

    def document() -> str:
        return f"d{place() // CHUNKS_A_DOCUMENT}"

    def entity() -> str:
        return f"e{chance.randrange(project.entities)}"

    ways: dict[str, Callable[[], Awaitable[Any]]] = {
        "projects": lambda: reader.projects(EVERYBODY, LISTED, deadline()),
        "project": lambda: reader.overview(own, deadline()),
        "documents": lambda: reader.documents(own, LISTED, deadline()),
        "documents_behind": lambda: reader.documents(
            own, PageQuery(LISTED.limit, (document(),)), deadline()
        ),
        "communities": lambda: reader.communities(own, None, TEXTS, deadline()),
        "document": lambda: reader.document(own, document(), LISTED, deadline()),
        "chunk": lambda: reader.chunk(own, f"c{place()}", deadline()),
        "entity": lambda: reader.entity(own, entity(), TEXTS.limit, deadline()),
        "entity_hub": lambda: reader.entity(own, HUB, TEXTS.limit, deadline()),
    }

    def trial(name: str, read: Callable[[], Awaitable[Any]]) -> Trial:
        async def ask(_query: Query) -> Sequence[Any]:
            found = await read()
            if found is None:
                raise LookupError("The synthetic project lacks what was read.")
            return getattr(found, "rows", (found,))

        return Trial(f"{READ}{name}", ask)

    return [trial(name, read) for name, read in ways.items()]

"""GraphStore on Neo4j: one round trip for the primer, one for each follow-up; features are probed once, never guessed."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from drift.adapters import cypher
from drift.adapters.neo4j_indexes import READ_TIMEOUT_S, IndexNames, Inventory, take_inventory
from drift.adapters.tenant_key import project_key
from drift.errors import GraphMisconfiguredError, GraphTimeoutError, GraphUnavailableError
from drift.model import (
    Chunk,
    Community,
    Entity,
    Evidence,
    FollowupQuery,
    GraphHealth,
    PrimerEvidence,
    PrimerQuery,
    Relationship,
    Vector,
)
from drift.ranking import LEAST_MASS, Candidate, Mention, fuse, search_terms, title_keys
from drift.tasks import Deadline

if TYPE_CHECKING:  # the connection imports the SDK
    from drift.adapters.neo4j_connection import Connection

EXACT_FLOATS = 1_500_000
"""Scoring this many floats exactly takes about 50 ms; a project with more of them is searched by its index."""

MOST_CHUNKS = 30
HEALTH_TIMEOUT_S = 5.0
COLD_TIMEOUT_S = 30.0
_REPROBE_S = 30.0

_BOUNDS: Mapping[str, int | float] = {
    "pool": 60,  # nearest chunks by vector
    "fetch": 500,  # rows asked of an index for them
    "text_pool": 40,
    "graph_pool": 40,
    "keep": 48,  # candidates that are sent
    "samples": 3,
    "spare_samples": 50,  # chunks of a big community looked at beyond its share of the nearest
    "spare_chunks": 10,  # chunks in the place of communities
    "most_named": 50,
    "most_seeds": 12,
    "damping": 0.85,
    "least_mass": LEAST_MASS,
    "most_walked": 300,
    "mentions_each": 40,
    "most_shared": 200,
    "fan": 100,  # relations of an entity that say what a chunk is about; one with more of them is a hub
    "rooted": 10,  # chunks whose neighbourhood is sent
    "most_entities": 20,
    "relations_each": 8,
    "most_relations": 30,
    "chunks_each": 6,
    "most_neighbors": 10,
}


@dataclass(frozen=True, slots=True)
class _Features:
    """What the server and its indexes can do, and the two statements that follow from it."""

    inventory: Inventory
    primer: str
    followup: str
    stale_at: float


class Neo4jGraph:
    """Reads of one tenant at a time; building it opens nothing, every method raises only errors of drift.errors."""

    def __init__(
        self,
        connection: Connection,
        names: IndexNames | None = None,
        followup_scope: Literal["soft", "hard"] = "soft",
        exact_limit: int | None = None,
    ) -> None:
        """Keep what is needed.

        Args:
            connection: the open or unopened connection; whoever made it closes it, or `close` does.
            names: the configured index names; None for the defaults.
            followup_scope: hard keeps a follow-up inside its target communities; soft prefers them a little.
            exact_limit: chunks of a project up to which all are scored; None derives it from the vector's length.
        """
        self._connection = connection
        self._names = names or IndexNames()
        self._hard = followup_scope == "hard"
        self._exact_limit = exact_limit
        self._features: _Features | None = None
        self._warm: set[str] = set()

    @classmethod
    def connect(  # noqa: PLR0913 - what a connection takes, and how to search
        cls,
        uri: str,
        username: str,
        password: str,
        database: str,
        *,
        names: IndexNames | None = None,
        followup_scope: Literal["soft", "hard"] = "soft",
    ) -> Self:
        """Return a graph with a connection of its own, not opened yet."""
        from drift.adapters.neo4j_connection import Connection  # noqa: PLC0415 - the SDK is loaded by whoever connects

        return cls(Connection(uri, username, password, database), names, followup_scope)

    async def primer(self, query: PrimerQuery, deadline: Deadline) -> PrimerEvidence:
        """Return the best communities, highest level first, with samples; the project's best chunks if it has none.

        Raises:
            GraphUnavailableError, GraphTimeoutError, GraphMisconfiguredError: as in drift.ports.
            DeadlineError: when the request's time is used up.
        """
        async with deadline.enforced():
            features = await self._probed(query.vector)
            own = {"top_k": query.top_k, "enough": (query.top_k + 1) // 2}
            row = await self._row(features.primer, self._parameters(query.project_id, query.vector) | own, deadline)
        return PrimerEvidence(tuple(_community(c) for c in row["communities"]), tuple(_chunk(c) for c in row["chunks"]))

    async def followup(self, query: FollowupQuery, deadline: Deadline) -> Evidence:
        """Return the best chunks by vector, full text and walk, and their neighbourhood; errors as for `primer`."""
        async with deadline.enforced():
            features = await self._probed(query.vector)
            own = {
                "communities": list(query.communities),
                "hard": self._hard and bool(query.communities),
                "lucene": lucene(query.project_id, query.question) if features.inventory.can_search_text else "",
                "title_keys": list(title_keys(query.question)),
            }
            row = await self._row(features.followup, self._parameters(query.project_id, query.vector) | own, deadline)
        return _evidence(row)

    async def health(self) -> GraphHealth:
        """Return the server's agent, the configured indexes as they are, and the names that are missing."""
        return (await take_inventory(self._connection, self._names, HEALTH_TIMEOUT_S)).health()

    async def warm_up(self, dimensions: int) -> None:
        """Run both statements once on a project that cannot exist: the first run of each costs the server a second."""
        vector, deadline = (1.0,) * dimensions, Deadline.after(2 * COLD_TIMEOUT_S)
        await self.primer(PrimerQuery("", "warm up", vector, 1), deadline)
        await self.followup(FollowupQuery("", "warm up", vector, ()), deadline)

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()

    async def _row(self, text: str, parameters: Mapping[str, Any], deadline: Deadline) -> dict[str, Any]:
        # A server that has not seen a text yet plans and compiles it for seconds; that is not a slow search.
        limit = READ_TIMEOUT_S if text in self._warm else COLD_TIMEOUT_S
        try:
            result = await self._connection.read(text, parameters, min(limit, deadline.require()))
        except GraphTimeoutError:
            raise
        except GraphUnavailableError:
            self._warm.clear()
            raise
        except GraphMisconfiguredError:
            # Say which index it is, when it is an index; and look again next time.
            self._features = None
            (await take_inventory(self._connection, self._names)).require_vector_indexes()
            raise
        self._warm.add(text)
        return result.records[0].data()

    def _parameters(self, project_id: str, vector: Vector) -> dict[str, Any]:
        exact_limit = max(500, EXACT_FLOATS // max(1, len(vector))) if self._exact_limit is None else self._exact_limit
        return {
            **_BOUNDS,
            "project_id": project_id,
            "vector": list(vector),
            "dimensions": len(vector),
            "exact_limit": exact_limit,
            "chunk_index": self._names.chunk,
            "fulltext_index": self._names.fulltext,
        }

    async def _probed(self, vector: Vector) -> _Features:
        features = self._features
        if features is None or time.monotonic() > features.stale_at:
            features = self._features = await self._probe()
        features.inventory.require_dimensions(len(vector))
        return features

    async def _probe(self) -> _Features:
        inventory = await take_inventory(self._connection, self._names)
        index = self._names.chunk if inventory.filters_by_project and await self._can_search() else None
        # What is missing may be created any moment; what is there stays.
        stale_at = float("inf") if inventory.is_complete else time.monotonic() + _REPROBE_S
        return _Features(inventory, cypher.primer(index), cypher.followup(index), stale_at)

    async def _can_search(self) -> bool:
        try:
            await self._connection.read(
                cypher.probe_search(self._names.chunk), {"vector": [], "project_id": "", "fetch": 1}
            )
        except GraphMisconfiguredError:
            return False
        return True


def lucene(project_id: str, question: str) -> str:
    """Return the full-text query: the tenant's key without weight, and the words of the question; '' without any word."""
    words = search_terms(question)
    return f"+project_key:{project_key(project_id)}^0 +text:({' '.join(words)})" if words else ""


def _chunk(row: Mapping[str, Any]) -> Chunk:
    return Chunk(str(row["id"]), row["text"] or "", str(row["document_name"]), row.get("score") or 0.0)


def _community(row: Mapping[str, Any]) -> Community:
    samples = tuple(_chunk(s) for s in row["samples"])
    return Community(row["id"], row["level"], row["summary"] or "", row["score"], samples)


def _evidence(row: Mapping[str, Any]) -> Evidence:
    mentions: defaultdict[int, list[Mention]] = defaultdict(list)
    for place, number, rarity, about in row["shared"]:
        mentions[place].append(Mention(number, rarity, about))
    candidates = (_candidate(c, mentions[place]) for place, c in enumerate(row["candidates"]))
    chunks = fuse(candidates, MOST_CHUNKS)
    return Evidence(
        chunks=chunks,
        neighbors=tuple(_chunk(n) for n in row["neighbors"]),
        entities=tuple(
            Entity(str(e["id"]), e["title"] or "", e["description"] or "", e["mentions"]) for e in row["entities"]
        ),
        relationships=tuple(_relationships(row["relationships"])),
    )


def _candidate(row: Mapping[str, Any], mentions: Iterable[Mention]) -> Candidate:
    return Candidate(_chunk(row), row["similarity"], row["bm25"], row["graph"], row["in_scope"], tuple(mentions))


def _relationships(rows: Iterable[Mapping[str, Any]]) -> Iterable[Relationship]:
    for row in rows:
        yield Relationship(row["source"] or "", row["target"] or "", row["description"] or "", row["weight"] or 0.0)

"""GraphStore on Neo4j: one round trip for the primer, one for each follow-up.

Features are probed once, never guessed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from neo4j import EagerResult

from drift.adapters.neo4j.connection import READ_TIMEOUT_S, Connection
from drift.adapters.neo4j.cypher import statements
from drift.adapters.neo4j.cypher.schema import DEFAULT, SCHEMAS, Schema, SchemaName
from drift.adapters.neo4j.indexes import PREPARE, IndexNames, Inventory, take_inventory
from drift.adapters.neo4j.odd_nodes import OddNodes
from drift.adapters.neo4j.project_key import project_key
from drift.adapters.neo4j.rows import candidates, odd_nodes, primer_evidence
from drift.errors import (
    GraphMisconfiguredError,
    GraphTimeoutError,
    GraphUnavailableError,
    GraphVectorsError,
    ModelMisconfiguredError,
)
from drift.ranking import MIN_MASS, search_terms, title_keys
from drift.tasks import Deadline
from drift.values.graph import Candidates, FollowupQuery, PrimerEvidence, PrimerQuery, Vector
from drift.values.health import GraphHealth

EXACT_FLOATS = 650_000
"""Reading and scoring this many floats takes about 25 ms; a project with more of them is searched
by its index."""

EXACT_FLOATS_BESIDE_SEARCH = 300_000
"""The same where the index filters by project: it then finds as much for a small tenant, and is as
fast from here on."""

FLOATS_A_ROW = 100
"""What a chunk costs beside its floats, in floats."""

COUNTED_CHUNKS = 2000
"""Chunks of a project that are counted; how rare an entity is, is told from that count."""

PRIMER_ROWS = 500
"""Rows asked of an index from which the communities' samples are taken."""
SEARCHED_ROWS = 100
"""Rows asked of an index that filters by project, and scored exactly; more than are kept, since an
index looks further the more it is asked for."""
PROCEDURE_ROWS = 500
"""Rows asked of an index that other tenants share."""

_MIN_NORM, _MOST = 1e-30, 3.4e38
"""Between these a vector has a direction in numbers of 32 bits."""

HEALTH_TIMEOUT_S = 5.0
COLD_TIMEOUT_S = 30.0
_REPROBE_S = 30.0

_BOUNDS: Mapping[str, int | float] = {
    "pool": 60,  # nearest chunks by vector
    "rescored": SEARCHED_ROWS,
    "text_pool": 40,
    "graph_pool": 40,
    "keep": 48,  # candidates that are sent
    "samples": 3,
    "most_rescored": 12,  # chunks a community whose score by the index is not trusted
    "spare_samples": 20,  # chunks of a big community without enough of the nearest
    "first_looked_at": 30,  # highest communities whose vectors are looked at first
    "spare_chunks": 10,  # chunks in the place of communities
    "most_named": 50,
    "most_seeds": 12,
    "damping": 0.85,
    "least_mass": MIN_MASS,
    "most_walked": 300,
    "mentions_each": 40,
    "most_shared": 200,
    "fan": 100,  # relations of an entity that say what a chunk is about; one with more of them is a hub
    "rooted": 10,  # chunks whose neighbourhood is sent
    "most_entities": 20,
    "relations_seen": 200,  # relations of a hub that are looked at
    "relations_each": 8,
    "most_relations": 30,
    "chunks_each": 6,
    "neighbors_scored": 60,
    "most_neighbors": 10,
}


@dataclass(frozen=True, slots=True)
class _Features:
    """What the server and its indexes can do, and the two statements that follow from it."""

    inventory: Inventory
    searches: bool
    primer: str
    followup: str
    stale_at: float


class Neo4jGraph:
    """Reads of one tenant at a time.

    Building it opens nothing, every method raises only errors of drift.errors.
    """

    def __init__(
        self,
        connection: Connection,
        names: IndexNames | None = None,
        followup_scope: Literal["soft", "hard"] = "soft",
        exact_limit: int | None = None,
        schema: Schema = DEFAULT,
    ) -> None:
        """Keep what is needed.

        Args:
            connection: the open or unopened connection; whoever made it closes it, or `close` does.
            names: the configured index names; None for the defaults.
            followup_scope: hard keeps a follow-up inside its target communities; soft prefers them
                a little.
            exact_limit: chunks of a project up to which all are scored; None derives it from the
                vector's length.
            schema: how the graph is built; in V1 the whole database is one project.
        """
        self._connection = connection
        self._names = names or IndexNames()
        self._hard = followup_scope == "hard"
        self._exact_limit = exact_limit
        self._schema = schema
        self._features: _Features | None = None
        self._odd = OddNodes()
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
        schema: SchemaName = "default",
    ) -> Self:
        """Return a graph with a connection of its own, not opened yet."""
        return cls(
            Connection(uri, username, password, database),
            names,
            followup_scope,
            schema=SCHEMAS[schema],
        )

    async def primer(self, query: PrimerQuery, deadline: Deadline) -> PrimerEvidence:
        """Return the best communities, highest level first, with samples.

        The project's best chunks if it has none.

        Raises:
            GraphUnavailableError, GraphTimeoutError, GraphMisconfiguredError: as in drift.ports.
            DeadlineError: when the request's time is used up.
        """
        async with deadline.enforced():
            features = await self._probed(query.vector)
            values = self._parameters(features, query)
            values |= {
                "top_k": query.top_k,
                "enough": (query.top_k + 1) // 2,
                "fetch": PRIMER_ROWS,
                "count_limit": values["exact_limit"] + 1,  # the answer needed is "few or many"
            }
            row = await self._row(features.primer, values, deadline)
        found = primer_evidence(row)
        self._odd.left_out(query.project_id, odd_nodes(row))
        if found.is_empty and row["chunk_count"]:
            raise GraphMisconfiguredError(
                f"The project has chunks, but none with an embedding of {len(query.vector)} floats "
                f"and a text: embed them with the "
                f"model of the questions, and {PREPARE}."
            )
        return found

    async def followup(self, query: FollowupQuery, deadline: Deadline) -> Candidates:
        """Return the best chunks by vector, full text and walk, and their neighbourhood.

        Errors as for `primer`.
        """
        async with deadline.enforced():
            features = await self._probed(query.vector)
            has_text = features.inventory.covers_text(self._schema.text_properties)
            values = self._parameters(
                features,
                query,
                communities=list(query.communities),
                lucene=self._lucene(query) if has_text else "",
                title_keys=[key for key in title_keys(query.question) if _is_text(key)],
            )
            values |= {
                "fetch": SEARCHED_ROWS if features.searches else PROCEDURE_ROWS,
                "hard": self._hard and bool(query.communities),
            }
            row = await self._row(features.followup, values, deadline)
        return candidates(row)

    async def health(self) -> GraphHealth:
        """Return the server's agent, the configured indexes as they are, and the names that are missing."""
        return (await take_inventory(self._connection, self._names, HEALTH_TIMEOUT_S)).health()

    async def warm_up(self, dimensions: int) -> None:
        """Run both statements once on a project that cannot exist.

        The first run of each costs the server a second.
        """
        vector, deadline = (1.0,) * dimensions, Deadline.after(2 * COLD_TIMEOUT_S)
        await self.primer(PrimerQuery("", "warm up", vector, 1), deadline)
        await self.followup(FollowupQuery("", "warm up", vector, ()), deadline)

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()

    async def _row(
        self, text: str, parameters: Mapping[str, Any], deadline: Deadline
    ) -> dict[str, Any]:
        try:
            result = await self._read(text, parameters, deadline)
        except GraphTimeoutError:
            raise
        except GraphUnavailableError:
            self._warm.clear()
            raise
        except GraphMisconfiguredError:
            # Say which index it is, when it is an index; and look again next time.
            self._features = None
            inventory = await take_inventory(self._connection, self._names)
            inventory.require_vector_indexes()
            inventory.require_dimensions(parameters["dimensions"])
            raise
        self._warm.add(text)
        return dict(
            result.records[0]
        )  # `data()` would look for nodes in all of it, for 7 ms; there are none

    async def _read(
        self, text: str, parameters: Mapping[str, Any], deadline: Deadline
    ) -> EagerResult:
        """Run a statement; where a vector of the project cannot be compared, again with a look at every number."""
        # A server that has not seen a text yet plans and compiles it for seconds; that is not a
        # slow search.
        limit = READ_TIMEOUT_S if text in self._warm else COLD_TIMEOUT_S
        project_id = parameters["asked"]["project_id"]
        if not self._odd.need_care(project_id):
            try:
                values = {**parameters, "careful": False}
                return await self._connection.read(text, values, min(limit, deadline.require()))
            except GraphVectorsError:
                self._odd.take_care(project_id)
        values = {**parameters, "careful": True}
        return await self._connection.read(text, values, min(limit, deadline.require()))

    def _parameters(
        self, features: _Features, query: PrimerQuery | FollowupQuery, **asked: object
    ) -> dict[str, Any]:
        """Return what both statements are given; what the question brings stands in `asked`."""
        floats = EXACT_FLOATS_BESIDE_SEARCH if features.searches else EXACT_FLOATS
        derived = floats // (len(query.vector) + FLOATS_A_ROW)
        exact_limit = derived if self._exact_limit is None else self._exact_limit
        return {
            **_BOUNDS,
            "asked": {"project_id": query.project_id, **asked},
            "vector": list(query.vector),
            "dimensions": len(query.vector),
            "exact_limit": exact_limit,
            "count_limit": max(COUNTED_CHUNKS, exact_limit + 1),
            "chunk_index": self._names.chunk,
            "fulltext_index": self._names.fulltext,
        }

    async def _probed(self, vector: Vector) -> _Features:
        features = self._features
        if features is None or time.monotonic() > features.stale_at:
            features = self._features = await self._probe()
        features.inventory.require_dimensions(len(vector))
        _require_direction(vector)
        return features

    async def _probe(self) -> _Features:
        inventory = await take_inventory(self._connection, self._names)
        can_search = (
            self._schema.has_tenants and inventory.filters_by_project and await self._can_search()
        )
        index = self._names.chunk if can_search else None
        # What is missing may be created any moment; what is there stays.
        stale_at = float("inf") if inventory.is_complete else time.monotonic() + _REPROBE_S
        texts = (
            statements.primer(index, self._schema),
            statements.followup(index, self._schema),
        )
        return _Features(inventory, can_search, *texts, stale_at)

    def _lucene(self, query: FollowupQuery) -> str:
        return lucene(query.question, query.project_id if self._schema.has_tenants else None)

    async def _can_search(self) -> bool:
        try:
            await self._connection.read(
                statements.probe_search(self._names.chunk),
                {"vector": [], "asked": {"project_id": ""}, "fetch": 1},
            )
        except GraphMisconfiguredError:
            return False
        return True


def lucene(question: str, project_id: str | None) -> str:
    """Return the full-text query.

    The tenant's key without weight, if there are tenants, and the words of the question.

    '' without any word.
    """
    words = search_terms(question)
    if not words:
        return ""
    tenant = f"+project_key:{project_key(project_id)}^0 " if project_id is not None else ""
    return f"{tenant}+text:({' '.join(words)})"


def _require_direction(vector: Vector) -> None:
    if not math.hypot(*vector) > _MIN_NORM or not all(abs(x) < _MOST for x in vector):
        raise ModelMisconfiguredError(
            "The embedding model gave a question a vector that is zero or not finite, so that "
            "nothing is near it: check "
            "OAI_EMBED_MODEL_NAME and OAI_EMBED_DEPLOYMENT_NAME."
        )


def _is_text(word: str) -> bool:
    # Half of a surrogate pair is no character and cannot be sent.
    return word.isascii() or not any("\ud800" <= character <= "\udfff" for character in word)

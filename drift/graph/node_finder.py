"""NodeFinder on Neo4j: one round trip for the nearest nodes of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from neo4j import Record

from drift.core.deadline import Deadline
from drift.core.errors import GraphMisconfiguredError
from drift.graph.careful import CarefulReads
from drift.graph.connection import Connection
from drift.graph.cypher import node_search
from drift.graph.cypher.legs import EARLIER, GIVEN, INGESTED, KINDS, PERSONAL, Leg
from drift.graph.cypher.schema import Schema
from drift.graph.indexes import find_index, wrong_dimensions
from drift.graph.inventory import Inventory, Probe
from drift.graph.node_rows import found_nodes
from drift.graph.parameters import StatementParameters
from drift.graph.unprepared import require_empty
from drift.graph.vector_copy import VectorCopy
from drift.graph.vector_models import require_direction, require_model_of_nodes
from drift.model.allowed import Allowed
from drift.model.found_nodes import (
    CHUNK,
    COMMUNITY,
    ENTITY,
    MOST_CHARACTERS,
    FoundNodes,
    NodesQuery,
    Sampled,
)
from drift.model.health import Index
from drift.telemetry import parts

LABELS: Mapping[str, str] = {kind: label for label, kind in INGESTED.items()}

BOUNDS: Mapping[str, int] = {
    "longest_text": MOST_CHARACTERS,
    "longest_relation": 300,
    "longest_metadata": 10_000,
    "most_related": 3,
    # Edges of one node that are looked at, of each of three kinds.
    "looked_at": 1000,
    "rescored": 60,
}


_nearest = lru_cache(maxsize=64)(node_search.nearest_nodes)
_cosines = lru_cache(maxsize=8)(node_search.cosines)


class Neo4jNodeFinder:
    """Finds nodes over the connection of whoever made it; building it opens nothing."""

    def __init__(
        self,
        connection: Connection,
        probe: Probe,
        parameters: StatementParameters,
        embedding_model: str = "",
        copy: VectorCopy | None = None,
    ) -> None:
        """Search the graph of this probe and these parameters, with questions of this model.

        A `copy` of the vectors is asked first.
        """
        self._copy = copy
        self._connection = connection
        self._probe = probe
        self._parameters = parameters
        self._model = embedding_model
        self._reads = CarefulReads(connection)

    def within(self, allowed: Allowed) -> Neo4jNodeFinder:
        """Return what finds the chunks of these documents alone."""
        of_these = self._parameters.within(allowed)
        return Neo4jNodeFinder(self._connection, self._probe, of_these, self._model)

    async def nearest_nodes(self, query: NodesQuery, deadline: Deadline) -> FoundNodes:
        """Return the nodes nearest to a vector, with what is around each; errors as searches."""
        with parts.round_trip():
            async with deadline.enforced():
                require_direction(query.vector)
                return await self._probe.as_it_is(lambda: self._found(query, deadline))

    async def _found(self, query: NodesQuery, deadline: Deadline) -> FoundNodes:
        inventory = await self._probe.inventory(self._is_settled)
        schema, labels = self._parameters.seen(inventory.schema), query.labels
        if schema.is_filtered:
            labels = tuple(label for label in labels if label == CHUNK)
        legs = self._legs(labels, inventory, len(query.vector))
        if not legs:
            return FoundNodes()

        records = await self._given(query, legs, schema, deadline)
        if len(records) < query.limit:
            text = _nearest(legs, schema)
            found = await self._reads.read(text, self._values(query, legs), deadline)
            records = found.records
        if not records and set(LABELS) <= set(labels):
            about = (query.project_id, len(query.vector), deadline.require())
            await require_empty(self._connection, schema, *about)

        is_first = schema.is_first  # a version says its own model
        require_model_of_nodes(records, self._model if is_first else "")
        return found_nodes(records, query.labels)

    async def sample(
        self,
        project_id: str,
        dimensions: int,
        pairs: Sequence[Sequence[float]],
        least: int,
        deadline: Deadline,
    ) -> Sampled:
        """Return the cosines of pairs of the project's texts; none of fewer texts than `least`."""
        async with deadline.enforced():
            inventory = await self._probe.inventory(self._is_settled)
            labels = self._possible_legs(inventory)
            legs = tuple(Leg(label) for label in labels)
            values = {
                "asked": {"project_id": project_id, "labels": []},
                "dimensions": dimensions,
                "pairs": [list(pair) for pair in pairs],
                "least": least,
                "most": 200_000,  # nodes of a label that are drawn from
            }
            result = await self._reads.read(_cosines(legs, inventory.schema), values, deadline)

        if not result.records:
            return Sampled()

        row = result.records[0]
        return Sampled(row["texts"], tuple(2 * score - 1 for score in row["similarities"]))

    async def _given(
        self, query: NodesQuery, legs: Sequence[Leg], schema: Schema, deadline: Deadline
    ) -> list[Record]:
        """Return the rows of what a store of vectors has found; none where that is too little."""
        kinds = {leg: KINDS[leg.label] for leg in legs if leg.label in KINDS}
        values, most = self._values(query, legs), BOUNDS["rescored"]
        about = (values, [*kinds.values()], most, query.limit, deadline)
        if self._copy is None or not await self._copy.finds(*about):
            return []
        given = (replace(x, index=GIVEN, searches=False) if x in kinds else x for x in legs)
        return (await self._reads.read(_nearest(tuple(given), schema), values, deadline)).records

    def _searchable(self) -> tuple[str, ...]:
        """Return the labels that may be searched; entities of V1 have none of their own."""
        if self._parameters.schema.has_projects:
            return (*LABELS.values(), PERSONAL, EARLIER)
        return (LABELS[CHUNK], LABELS[COMMUNITY])

    def _values(self, query: NodesQuery, legs: Sequence[Leg]) -> dict[str, Any]:
        dimensions = len(query.vector)
        searches = any(leg.searches for leg in legs)
        exact_limit = self._parameters.exact(dimensions, searches=searches)
        values = {
            **BOUNDS,
            "asked": {"project_id": query.project_id, "labels": list(query.labels)},
            "vector": list(query.vector),
            "dimensions": dimensions,
            "top_k": query.limit,
            "exact_limit": exact_limit,
            "count_limit": exact_limit + 1,
            "fetch": 60 if searches else 500,  # of an index that projects share, rows of others too
        }
        return self._parameters.bounded(values)

    def _legs(
        self, labels: Sequence[str], inventory: Inventory, dimensions: int
    ) -> tuple[Leg, ...]:
        """Return how each of the labels is searched; only our own index of other vectors fails."""
        wanted = {LABELS.get(label, PERSONAL) for label in labels}
        if PERSONAL in wanted:
            wanted.add(EARLIER)

        legs = []
        for label, leg in self._possible_legs(inventory).items():
            index = self._index(label, inventory)
            if label not in wanted:
                continue
            if index is None or not index.has_other_dimensions(dimensions):
                legs.append(leg)
            elif index.name != inventory.of_vectors(label).name:
                legs.append(Leg(label))
            else:
                raise GraphMisconfiguredError(wrong_dimensions(index, dimensions))
        return tuple(legs)

    def _index(self, label: str, inventory: Inventory) -> Index | None:
        """Return the index of a label; of entities one of somebody else's serves as well."""
        there = find_index(inventory.of_vectors(label), inventory.indexes)
        mapped = not self._parameters.schema.has_projects
        other = there.rival if label == LABELS[ENTITY] or mapped else None
        # Its name stands in the statement, and Cypher takes no parameter there.
        is_plain = other is not None and other.name.isascii() and other.name.isidentifier()
        return there.serving or (other if is_plain else None)

    def _is_settled(self, known: Inventory) -> bool:
        """Tell whether every label has its index, but for one that may never come."""
        legs = self._possible_legs(known)
        lasting = [label for label in self._searchable() if label != EARLIER]
        return all(label in legs and legs[label].index for label in lasting)

    def _possible_legs(self, inventory: Inventory) -> dict[str, Leg]:
        legs = {}
        for label in self._searchable():
            index = self._index(label, inventory)
            if index is not None and index.online:
                legs[label] = Leg(label, index.name, searches=inventory.searches(index))
            elif label != EARLIER:  # which other programs give to all of their nodes
                legs[label] = Leg(label)

        return legs

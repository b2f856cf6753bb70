"""GraphStore on Neo4j: one round trip for the primer, one for nearly every follow-up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Literal

from drift.core.deadline import Deadline, Turns
from drift.core.errors import GraphMisconfiguredError
from drift.graph.careful import COLD_TIMEOUT_S, CarefulReads
from drift.graph.connection import Connection
from drift.graph.cypher import statements
from drift.graph.cypher.legs import GIVEN
from drift.graph.cypher.schema import DEFAULT, Schema, schema_named
from drift.graph.indexes import IndexNames
from drift.graph.inventory import Inventory, Probe
from drift.graph.node_finder import Neo4jNodeFinder
from drift.graph.node_store import Neo4jNodeStore
from drift.graph.parameters import BOUNDS, SEARCHED_ROWS, StatementParameters, wished
from drift.graph.passages import Neo4jPassages
from drift.graph.reader import Neo4jReader
from drift.graph.rows import (
    anchors_of_named,
    candidates,
    choose_topics,
    chunks_of,
    named,
    odd_nodes,
    primer_evidence,
    with_named,
)
from drift.graph.unprepared import HEALTH_TIMEOUT_S, Unseen, refuse_unusable, require_empty
from drift.graph.vector_copy import VectorCopy
from drift.graph.vector_models import (
    require_direction,
    require_model_of_primer,
    require_model_of_project,
)
from drift.graph.versions import OwnVectors, VectorVersion
from drift.model.found_nodes import CHUNK, NodesQuery
from drift.model.graph import (
    Beside,
    Candidates,
    FollowupQuery,
    PrimerEvidence,
    PrimerQuery,
    Topic,
    TopicsQuery,
    Vector,
)
from drift.model.health import GraphHealth
from drift.ports import VectorStore
from drift.telemetry import parts

_SAMPLED = 500
"""Chunks of a store for the primer, out of which communities show the nearest of theirs."""

_primer, _followup = cache(statements.primer), cache(statements.followup)
_topics = cache(statements.topics)
_positions, _named = cache(statements.positions), cache(statements.named)


class Neo4jGraph:
    """Reads of one project at a time, with the errors that drift.ports names."""

    def __init__(  # noqa: PLR0913 - what to search, and how
        self,
        connection: Connection,
        names: IndexNames | None = None,
        followup_scope: Literal["soft", "hard"] = "soft",
        exact_limit: int | None = None,
        schema: Schema | str = DEFAULT,
        *,
        embedding_model: str = "",
        dimensions: int = 0,
        store: VectorStore | None = None,
    ) -> None:
        """Open nothing; `close`, or whoever made the connection, closes it.

        Scope `hard` keeps a follow-up inside its target communities, `soft` prefers them a little.
        Of up to `exact_limit` chunks all are scored; None derives it from the vector's length. An
        empty `embedding_model` of the questions is compared with no project's; where the graph has
        a version of its vectors, of so many `dimensions`, that one is searched. A `store` beside
        the graph is asked for candidates by vector.
        """
        self.connection = connection
        names = names or IndexNames()
        schema = schema_named(schema) if isinstance(schema, str) else schema
        self._parameters = StatementParameters(names, schema, followup_scope == "hard", exact_limit)
        self._own = OwnVectors(connection, embedding_model, dimensions)
        self.copy = VectorCopy(store, connection, self._own) if store else None
        self._probe = Probe(self._own, connection, names, schema)
        self._reads = CarefulReads(connection)
        self._model = embedding_model
        self._unseen = Unseen(connection, schema, embedding_model)
        self._turns = Turns()

    async def primer(self, query: PrimerQuery, deadline: Deadline) -> PrimerEvidence:
        """Return the best communities, highest level first, with samples, or else the best chunks.

        GraphMisconfiguredError also where the project was not prepared or embedded; DeadlineError.
        """
        with parts.round_trip():
            async with deadline.enforced():
                evidence = await self._probe.as_it_is(lambda: self._primed(query, deadline))

        await self._turns.mine()  # what is made of it takes milliseconds
        return evidence

    async def _primed(self, query: PrimerQuery, deadline: Deadline) -> PrimerEvidence:
        inventory = await self._inventory(query.vector)
        values = self._parameters.primer(query, inventory)
        index = await self._asked(inventory, values, _SAMPLED, deadline)
        row = await self._row(_primer(index, inventory.schema), values, deadline)

        require_model_of_primer(row, self._compared(inventory.schema))
        evidence = primer_evidence(row)
        self._reads.left_out(query.project_id, odd_nodes(row))
        if evidence.is_empty:
            about = (self.connection, inventory.schema, query.project_id)
            if row["chunk_count"]:
                await refuse_unusable(*about, len(query.vector), deadline.require())
            else:
                await require_empty(*about, deadline.require())
        return evidence

    async def has_topics(self, project_id: str, deadline: Deadline) -> bool:
        """Tell whether the project's communities are topics; errors as for `primer`."""
        if not self._parameters.schema.has_projects:
            return False

        values = {"asked": {"project_id": project_id}, "dimensions": 0}
        with parts.round_trip():
            async with deadline.enforced():
                row = await self._row(statements.HAS_TOPICS, values, deadline)
        return bool(row["has_topics"])

    async def topics(self, query: TopicsQuery, deadline: Deadline) -> tuple[Topic, ...]:
        """Return the topics that hold the voters; errors as for `primer`."""
        with parts.round_trip():
            async with deadline.enforced():
                values = self._parameters.topics(query)
                schema = await self._probe.schema()
                row = await self._row(_topics(schema), values, deadline)
                require_model_of_project(row, self._compared(schema))

        return choose_topics(row["topics"], query.top_k)

    async def followup(self, query: FollowupQuery, deadline: Deadline) -> Candidates:
        """Return the best chunks by vector, full text and walk, and their neighbourhood.

        What the query wishes for by its position takes a second round trip, and so do documents
        that it names. Errors as for `primer`.
        """
        async with deadline.enforced():
            with parts.round_trip():
                found = await self._probe.as_it_is(lambda: self._candidates(query, deadline))

            if anchors := anchors_of_named(query, found):
                values = self._parameters.named(query, anchors)
                with parts.round_trip():
                    schema = await self._probe.schema()
                    row = await self._row(_named(schema), values, deadline)
                found = with_named(found, named(row))

            wishes = wished(query, found)
            if wishes:
                text = _positions(self._parameters.schema)
                values = self._parameters.positions(query, wishes)
                with parts.round_trip():
                    row = await self._row(text, values, deadline)
                found = replace(found, pinned=tuple(chunks_of(row["pinned"])))

        await self._turns.mine()
        return found

    async def _candidates(self, query: FollowupQuery, deadline: Deadline) -> Candidates:
        inventory = await self._inventory(query.vector)
        values = self._parameters.followup(query, inventory)
        index = await self._asked(inventory, values, SEARCHED_ROWS, deadline)
        found = candidates(await self._row(_followup(index, inventory.schema), values, deadline))
        return replace(found, is_partial=not inventory.has_words)

    async def health(self) -> GraphHealth:
        """Return how the server calls itself, the indexes, and what searches have to do without."""
        inventory = await self._probe.look(HEALTH_TIMEOUT_S)
        health, said = inventory.health(), await self._own.said()
        vectors = (index.dimensions for index in health.indexes if index.dimensions)
        dimensions = next(vectors, None)
        hidden = await self._unseen.look(inventory.schema, said, dimensions)
        return replace(
            health,
            lacking=(*health.lacking, *hidden.lacking),
            nothing=hidden.nothing,
            notes=(*said.notes(await self._own.version()), *hidden.notes),
            behind=await self._unseen.behind(),
            failing=self.connection.outcomes.problem,
        )

    async def warm_up(self, dimensions: int) -> None:
        """Run the statements once on a project that cannot exist, so that they are planned."""
        vector = (1.0,) * dimensions
        deadline = Deadline.after(3 * COLD_TIMEOUT_S * self.connection.patience)
        await self.primer(PrimerQuery("", "warm up", vector, 1), deadline)
        await self.topics(TopicsQuery("", ("",), 1), deadline)
        wish = (Beside("", "after"),)
        await self.followup(FollowupQuery("", "warm up", vector, (), wish), deadline)
        await self.finder().nearest_nodes(NodesQuery("", vector), deadline)

    def reader(self) -> Neo4jReader:
        """Return what reads the same graph over the same connection."""
        return Neo4jReader(self.connection, self._parameters.schema)

    def finder(self) -> Neo4jNodeFinder:
        """Return what finds nodes of any kind in the same graph over the same connection."""
        return Neo4jNodeFinder(
            self.connection, self._probe, self._parameters, self._model, self.copy
        )

    def passages(self) -> Neo4jPassages:
        """Return what reads of cited chunks, in the same graph over the same connection."""
        return Neo4jPassages(self.connection, self._parameters.schema, self._probe)

    def fallback(self) -> Neo4jGraph:
        """Return what searches the second vectors of the same graph over the same connection."""
        parameters = self._parameters
        return Neo4jGraph(
            self.connection,
            parameters.names.of(VectorVersion("local")),
            "hard" if parameters.hard else "soft",
            parameters.exact_limit,
            replace(parameters.schema, vector=VectorVersion("local").vector_in(parameters.schema)),
        )

    def node_store(self) -> Neo4jNodeStore:
        """Return what looks at people's own nodes and writes them, over the same connection."""
        return Neo4jNodeStore(self.connection, self._own, self.copy)

    async def close(self) -> None:
        """Close the connection, and the store's."""
        if self.copy is not None:
            await self.copy.store.close()
        await self.connection.close()

    async def _asked(
        self, inventory: Inventory, values: dict[str, Any], most: int, deadline: Deadline
    ) -> str | None:
        """Return the index to ask, or GIVEN where a store has found enough instead."""
        least = int(BOUNDS["pool"])
        if self.copy is None or not await self.copy.finds(values, [CHUNK], most, least, deadline):
            return inventory.search_index
        values["exact_limit"] = 0
        return GIVEN

    async def _inventory(self, vector: Vector) -> Inventory:
        inventory = await self._probe.inventory(
            lambda known: known.is_complete and known.covers_names
        )
        inventory.require_dimensions(len(vector))
        require_direction(vector)
        return inventory

    def _compared(self, schema: Schema) -> str:
        """Return the model that a project's own word is compared with; a version says its own."""
        return self._model if schema.is_first else ""

    async def _row(
        self, text: str, parameters: Mapping[str, Any], deadline: Deadline
    ) -> dict[str, Any]:
        try:
            result = await self._reads.read(text, parameters, deadline)
        except GraphMisconfiguredError:
            # Which index is wrong, where one is; the next search looks at all of them.
            self._probe.forget()
            inventory = await self._probe.look()
            inventory.require_vector_indexes()
            inventory.require_dimensions(parameters["dimensions"])
            raise
        # `data()` would look for nodes in all of the row, and there are none.
        return dict(result.records[0])

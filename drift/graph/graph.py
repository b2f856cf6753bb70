"""GraphStore on Neo4j: one round trip for the primer, two for most follow-ups."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from functools import cache
from typing import Any, Literal

from drift.core.deadline import Deadline, Turns
from drift.core.errors import GraphMisconfiguredError, GraphUnavailableError
from drift.core.logs import log
from drift.graph.careful import COLD_TIMEOUT_S, CarefulReads
from drift.graph.connection import Connection
from drift.graph.cypher import primer as primer_statement
from drift.graph.cypher import search as statements
from drift.graph.cypher.clauses import FORMAT
from drift.graph.cypher.legs import GIVEN
from drift.graph.cypher.schema import DEFAULT, Schema, schema_named
from drift.graph.indexes import IndexNames
from drift.graph.inventory import Inventory, Probe
from drift.graph.node_finder import Neo4jNodeFinder
from drift.graph.node_store import Neo4jNodeStore
from drift.graph.parameters import (
    BOUNDS,
    SEARCHED_ROWS,
    StatementParameters,
    wished,
)
from drift.graph.passages import Neo4jPassages
from drift.graph.reader import Neo4jReader
from drift.graph.rows import (
    candidates,
    choose_topics,
    chunks_of,
    communities,
    named,
    with_named,
)
from drift.graph.unprepared import knowledge_behind, require_empty
from drift.graph.vector_copy import VectorCopy
from drift.graph.vector_models import require_direction, require_model_of_project
from drift.graph.versions import LOCAL, OwnVectors, newer
from drift.model.allowed import Allowed
from drift.model.found_nodes import CHUNK, NodesQuery
from drift.model.graph import (
    Beside,
    Candidates,
    Community,
    FollowupQuery,
    LocalVector,
    PrimerQuery,
    Vector,
)
from drift.model.health import GraphHealth, Lack
from drift.ports import VectorStore
from drift.telemetry import parts

HEALTH_TIMEOUT_S = 5.0

_primer, _topics = cache(primer_statement.primer), cache(statements.topics)
_followup = cache(statements.followup)
_positions, _named = cache(statements.positions), cache(statements.named)


class Neo4jGraph:
    """Reads of one project at a time, with the errors that drift.ports names.

    A question is compared with the vectors of the model that made its own: those of the provider's
    model, or a LocalVector with those of the local one.
    """

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
        self.parameters = StatementParameters(schema, followup_scope == "hard", exact_limit)
        self.own = OwnVectors(connection, embedding_model, dimensions)
        self.copy = VectorCopy(store, connection, self.own) if store else None
        local = OwnVectors(connection, fixed=LOCAL)
        self.probe = Probe(self.own, connection, names, schema)
        self.local_probe = Probe(local, connection, names, schema)
        self._reads = CarefulReads(connection)
        self._model = embedding_model
        self._turns = Turns()

    def within(self, allowed: Allowed) -> Neo4jGraph:
        """Return the same graph, of which only these documents are read, and what is made of them.

        A store of vectors beside it is not asked: it knows no documents.
        """
        bound = copy(self)
        bound.parameters, bound.copy = self.parameters.within(allowed), None
        return bound

    async def primer(self, query: PrimerQuery, deadline: Deadline) -> tuple[Community, ...]:
        """Return the best communities, highest level first, with the voters that they hold.

        GraphMisconfiguredError also where the project was not prepared or embedded; DeadlineError.
        """
        with parts.round_trip():
            async with deadline.enforced():
                probe = self._probe_of(query.vector)
                return await probe.as_it_is(lambda: self._primed(probe, query, deadline))

    async def _primed(
        self, probe: Probe, query: PrimerQuery, deadline: Deadline
    ) -> tuple[Community, ...]:
        schema = (await self._inventory(probe, query.vector)).schema
        values = self.parameters.primer(query)
        row = await self._row(probe, _primer(schema), values, deadline)

        require_model_of_project(row, self._compared(schema))
        found = communities(row)
        if not (found or row["is_embedded"] or schema.is_filtered):
            about = (query.project_id, len(query.vector), deadline.require())
            await require_empty(self.connection, schema, *about)
        return found

    async def has_topics(self, project_id: str, deadline: Deadline) -> bool:
        """Tell whether the project's communities are topics; errors as for `primer`."""
        if not self.parameters.schema.has_projects:
            return False

        values = {"asked": {"project_id": project_id}, "dimensions": 0}
        with parts.round_trip():
            async with deadline.enforced():
                row = await self._row(self.probe, statements.HAS_TOPICS, values, deadline)
        return bool(row["has_topics"])

    async def topics(self, query: PrimerQuery, deadline: Deadline) -> tuple[Community, ...]:
        """Return the topics that hold the voters; errors as for `primer`."""
        with parts.round_trip():
            async with deadline.enforced():
                values = self.parameters.primer(query)
                schema = self.parameters.seen(await self.probe.schema())
                row = await self._row(self.probe, _topics(schema), values, deadline)
                require_model_of_project(row, self._compared(schema))

        return choose_topics(row["topics"], query.top_k)

    async def followup(self, query: FollowupQuery, deadline: Deadline) -> Candidates:
        """Return the best chunks by vector, full text and walk, and their neighbourhood.

        Documents named and positions wished for take a round trip each. Where that of documents is
        not answered, the rest stands, `is_partial`. Errors as for `primer`.
        """
        probe = self._probe_of(query.vector)
        async with deadline.enforced():
            with parts.round_trip():
                found = await probe.as_it_is(lambda: self._candidates(probe, query, deadline))

            inventory = await self._inventory(probe, query.vector)
            if values := self.parameters.named(query, found, inventory):
                try:
                    with parts.round_trip():
                        row = await self._row(probe, _named(inventory.schema), values, deadline)
                    found = with_named(found, named(row, values["asked"]["linked"]))
                except GraphUnavailableError as error:
                    deadline.require()
                    log.warning("documents_unread", extra={"code": error.code}, exc_info=error)
                    found = replace(found, is_partial=True)

            if wishes := wished(query, found):
                text = _positions(self.parameters.schema)
                values = self.parameters.positions(query, wishes)
                with parts.round_trip():
                    row = await self._row(probe, text, values, deadline)
                found = replace(found, pinned=tuple(chunks_of(row["pinned"])))

        await self._turns.mine()
        return found

    async def _candidates(
        self, probe: Probe, query: FollowupQuery, deadline: Deadline
    ) -> Candidates:
        inventory = await self._inventory(probe, query.vector)
        values = self.parameters.followup(query, inventory)
        index = await self._asked(inventory, values, deadline)
        text = _followup(index, inventory.schema)
        found = candidates(await self._row(probe, text, values, deadline))
        return replace(found, is_partial=not inventory.has_words)

    async def health(self) -> GraphHealth:
        """Return how the server calls itself, its indexes, and which vectors are searched."""
        inventory = await self.probe.look(HEALTH_TIMEOUT_S)
        said = await self.own.said()
        health = inventory.health()
        if said.newest > FORMAT:
            lack = Lack("format", newer(said.newest), "nothing is written", "use a newer release")
            health = replace(health, lacking=(*health.lacking, lack))
        return replace(
            health,
            notes=tuple(said.notes(await self.own.version())),
            behind=await knowledge_behind(
                self.connection, self.parameters.schema, HEALTH_TIMEOUT_S
            ),
            failing=self.connection.outcomes.problem,
        )

    async def local_health(self) -> GraphHealth:
        """Return how the indexes of the local model's vectors stand."""
        return (await self.local_probe.look(HEALTH_TIMEOUT_S)).health()

    async def warm_up(self, dimensions: int) -> None:
        """Run the statements once on a project that cannot exist, so that they are planned."""
        vector = (1.0,) * dimensions
        deadline = Deadline.after(3 * COLD_TIMEOUT_S * self.connection.patience)
        asked = PrimerQuery("", ("",), vector, 1)
        await self.primer(asked, deadline)
        await self.topics(asked, deadline)
        wish = (Beside("", "after"),)
        await self.followup(FollowupQuery("", "warm up", vector, (), wish), deadline)
        await self.finder().nearest_nodes(NodesQuery("", vector), deadline)

    def reader(self) -> Neo4jReader:
        """Return what reads the same graph over the same connection."""
        return Neo4jReader(self.connection, self.parameters.schema)

    def finder(self) -> Neo4jNodeFinder:
        """Return what finds nodes of any kind in the same graph over the same connection."""
        return Neo4jNodeFinder(self.connection, self.probe, self.parameters, self._model, self.copy)

    def passages(self) -> Neo4jPassages:
        """Return what reads of cited chunks, in the same graph over the same connection."""
        return Neo4jPassages(self.connection, self.parameters.schema, self._probe_of)

    def node_store(self) -> Neo4jNodeStore:
        """Return what looks at people's own nodes and writes them, over the same connection."""
        return Neo4jNodeStore(self.connection, self.own, self.copy)

    async def close(self) -> None:
        """Close the connection, and the store's."""
        if self.copy is not None:
            await self.copy.store.close()
        await self.connection.close()

    async def _asked(
        self, inventory: Inventory, values: dict[str, Any], deadline: Deadline
    ) -> str | None:
        """Return the index to ask, or GIVEN where a store has found enough instead."""
        schema, least = inventory.schema, int(BOUNDS["pool"])
        # Nobody else has vectors of the local model.
        copy = self.copy if schema.vector != LOCAL.vector_in(schema) else None
        if copy is None or not await copy.finds(values, [CHUNK], SEARCHED_ROWS, least, deadline):
            return inventory.search_index
        values["exact_limit"] = 0
        return GIVEN

    def _probe_of(self, vector: Vector) -> Probe:
        return self.local_probe if isinstance(vector, LocalVector) else self.probe

    async def _inventory(self, probe: Probe, vector: Vector) -> Inventory:
        inventory = await probe.inventory(lambda known: known.is_settled)
        inventory.require_dimensions(len(vector))
        require_direction(vector)
        seen = self.parameters.seen(inventory.schema)
        return inventory if seen == inventory.schema else replace(inventory, schema=seen)

    def _compared(self, schema: Schema) -> str:
        """Return the model that a project's own word is compared with; a version says its own."""
        return self._model if schema.is_first else ""

    async def _row(
        self, probe: Probe, text: str, parameters: Mapping[str, Any], deadline: Deadline
    ) -> dict[str, Any]:
        try:
            result = await self._reads.read(text, self.parameters.bounded(parameters), deadline)
        except GraphMisconfiguredError:
            # Which index is wrong, where one is; the next search looks at all of them.
            probe.forget()
            inventory = await probe.look()
            inventory.require_vector_indexes()
            inventory.require_dimensions(parameters["dimensions"])
            raise
        # `data()` would look for nodes in all of the row, and there are none.
        return dict(result.records[0])

"""Makes a graph from elsewhere searchable.

`project_id` on every node, derived properties, constraints and indexes.

First it looks, and refuses with every reason at once before anything is changed. Then each step
changes only what is not yet as it should be, so that a run that broke is finished by the next, and
a second one changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Any, Self

from drift.adapters.neo4j.connection import Connection
from drift.adapters.neo4j.cypher.schema import SchemaName
from drift.adapters.neo4j.indexes import IndexNames, read_indexes
from drift.adapters.neo4j.project_key import project_key
from drift.errors import GraphMisconfiguredError
from drift.naming import normalised_title
from drift.offline.indexing.prepare import statements
from drift.offline.indexing.prepare.changes import Changes, PrepareReport
from drift.offline.indexing.prepare.survey import Surveyor
from drift.offline.say import Say
from drift.offline.writing.neo4j.ddl import CYPHER_25, SchemaObject, schema_objects
from drift.offline.writing.neo4j.schema import (
    ONLINE_WAIT_S,
    create,
    missing,
    obstacles,
    wait_until_online,
    warnings,
)
from drift.values.health import Index

_OLDER = (
    "a server before 2026.06 refuses the two options of quantisation: it gets the index without "
    "them"
)
_TITLES = (
    "in batches of up to {rows} rows of {{id, title_key}}, one for each of {nodes} entities; the "
    "key is made by Python"
)


class Neo4jPreparer:
    """Prepares one database; building it opens nothing."""

    def __init__(
        self,
        connection: Connection,
        names: IndexNames | None = None,
        schema: SchemaName = "default",
    ) -> None:
        """Prepare for indexes of these names, and for how the graph is built."""
        self._connection = connection
        self._names = names or IndexNames()
        self._schema = schema

    @classmethod
    def connect(  # noqa: PLR0913 - what a connection takes, and what to prepare
        cls,
        uri: str,
        username: str,
        password: str,
        database: str,
        *,
        names: IndexNames,
        schema: SchemaName,
    ) -> Self:
        """Return a preparer with a connection of its own, not opened yet."""
        return cls(Connection(uri, username, password, database), names, schema)

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()

    async def prepare(
        self,
        dimensions: int,
        *,
        dry_run: bool = False,
        wait_s: float = ONLINE_WAIT_S,
        say: Say = lambda _: None,
    ) -> PrepareReport:
        """Prepare the graph for vectors of `dimensions` floats.

        A dry run only reads, and says what it would run.

        Args:
            dimensions: floats of an embedding.
            dry_run: collect the Cypher instead of running it.
            wait_s: how long to wait for indexes to be online.
            say: is given a sentence about what goes on, before everything that may take long.

        Raises:
            GraphMisconfiguredError: with every reason, before anything is changed; or when an index
                is not online in time.
            GraphUnavailableError: when the server fails; another run finishes the work.
        """
        wanted = schema_objects(
            self._schema, self._names.community, self._names.chunk, self._names.fulltext
        )
        stored = await read_indexes(self._connection)
        surveyor = Surveyor(self._connection, self._schema, dimensions, say)
        survey = await surveyor.look()
        if refusals := [*obstacles(wanted, stored, dimensions), *survey.refusals]:
            raise GraphMisconfiguredError(f"{' '.join(refusals)} Nothing was changed.")
        report = PrepareReport(dry_run)
        changes = Changes(self._connection, report, say)
        schema = _SchemaSteps(changes, wanted, dimensions, wait_s)
        if self._schema == "default":
            await _prepare_projects(changes, schema, surveyor)
        else:
            await _prepare_v1(changes, schema)
        report.problems += survey.problems
        await schema.describe()
        return report


async def _prepare_projects(changes: Changes, schema: _SchemaSteps, surveyor: Surveyor) -> None:
    await _set_project_ids(changes, surveyor)
    await schema.create("constraint", "range")
    for label in ("__Chunk__", "__Entity__"):
        await _set_project_keys(changes, label)
    await _set_title_keys(changes, "default")
    await schema.create("fulltext", "vector")


async def _prepare_v1(changes: Changes, schema: _SchemaSteps) -> None:
    for label in ("__Chunk__", "__Entity__"):
        bare = (await changes.connection.rows(statements.count_bare(label)))[0]["number"]
        await changes.make(f":{label}", statements.add_label(label), bare)
    await schema.create("range")
    await _set_title_keys(changes, "v1")
    await schema.create("fulltext", "vector")


class _SchemaSteps:
    """Creates what is missing of the wanted constraints and indexes, kind by kind."""

    def __init__(
        self, changes: Changes, wanted: Sequence[SchemaObject], dimensions: int, wait_s: float
    ) -> None:
        self._changes = changes
        self._wanted = wanted
        self._dimensions = dimensions
        self._wait_s = wait_s

    async def create(self, *kinds: str) -> None:
        """Create what is missing of these kinds and wait until all of them are online."""
        connection, report = self._changes.connection, self._changes.report
        wanted = [w for w in self._wanted if w.kind in kinds]
        absent = missing(wanted, await read_indexes(connection))
        if report.dry_run:
            for w in absent:
                await self._write_down(w)
            report.created += [w.name for w in absent]
            return
        if absent:
            self._changes.say(f"Creating {', '.join(w.name for w in absent)} ...")
        report.created += [w.name for w in absent if await create(connection, w, self._dimensions)]
        await wait_until_online(
            connection, wanted, self._dimensions, self._wait_s, self._changes.say
        )

    async def _write_down(self, wanted: SchemaObject) -> None:
        best, *_, oldest = (*wanted.statements, wanted.statements[-1])
        text = best if best == oldest or await self._speaks_cypher_25() else oldest
        parameters = {"dimensions": self._dimensions} if "$dimensions" in text else {}
        self._changes.write_down(text, parameters, _OLDER if "quantization" in text else "")

    async def _speaks_cypher_25(self) -> bool:
        try:
            await self._changes.connection.read(CYPHER_25, {})
        except GraphMisconfiguredError:
            return False
        return True

    async def describe(self) -> None:
        """Add the indexes as they are now to the report, and what could be better about them."""
        stored = await read_indexes(self._changes.connection)
        serving = (next((s for s in stored if w.is_served_by(s)), None) for w in self._wanted)
        self._changes.report.indexes += [_described(s) for s in serving if s is not None]
        can_filter = await self._speaks_cypher_25()
        self._changes.report.problems += warnings(self._wanted, stored, can_filter=can_filter)


def _described(index: Index) -> dict[str, Any]:
    about: dict[str, Any] = {
        "name": index.name,
        "type": index.kind.upper(),
        "labels": list(index.labels),
        "properties": list(index.properties),
        "state": index.state,
    }
    return about | ({"dimensions": index.dimensions} if index.kind == "vector" else {})


# ----------------------------------------------------------------------------------------- projects
async def _set_project_ids(changes: Changes, surveyor: Surveyor) -> None:
    survey = surveyor.survey
    for label, states in survey.states.items():
        expected = states.get("edge", 0)
        await changes.make(f"{label}.project_id", statements.take_from_edge(label), expected)
    bare = [label for label, states in survey.states.items() if states.get("without")]
    if changes.report.dry_run:
        await _write_down_derivations(changes, bare, surveyor)
    elif bare:
        await _derive(changes, bare, surveyor)


async def _write_down_derivations(
    changes: Changes, bare: Sequence[str], surveyor: Surveyor
) -> None:
    for label in bare:
        await surveyor.projects.tell_what_waits(label)
    for label, pattern in statements.DERIVATIONS:
        if label in bare:
            changes.write_down(
                statements.take_from_neighbours(label, pattern),
                {},
                "again, while it changes anything",
            )


async def _derive(changes: Changes, bare: Sequence[str], surveyor: Surveyor) -> None:
    """Hand projects on from node to node until nothing changes.

    Then look whether two nodes of one project have one key by it.
    """
    changes.say(
        "Deriving the project of nodes without an IN_PROJECT edge from their neighbours ..."
    )
    derived = True
    while derived:
        counts = [
            await changes.apply(
                f"{label}.project_id", statements.take_from_neighbours(label, pattern), {}
            )
            for label, pattern in statements.DERIVATIONS
            if label in bare
        ]
        derived = any(counts)
    for label in bare:
        await surveyor.projects.tell_what_is_left(label)
    await surveyor.projects.look_for_duplicates()
    if surveyor.survey.refusals:
        raise GraphMisconfiguredError(
            f"{' '.join(surveyor.survey.refusals)} So far `project_id` was set, and nothing else."
        )


async def _set_project_keys(changes: Changes, label: str) -> None:
    wrong: Counter[str] = Counter()
    for row in await changes.connection.rows(statements.project_keys(label)):
        if row["key"] != project_key(row["project"]):
            wrong[row["project"]] += row["nodes"]
    rows = [
        {"project_id": project, "project_key": project_key(project)} for project in sorted(wrong)
    ]
    for start in range(0, len(rows), statements.BATCH):
        part = rows[start : start + statements.BATCH]
        expected = sum(wrong[row["project_id"]] for row in part)
        text = statements.set_project_keys(label)
        await changes.make(f"{label}.project_key", text, expected, rows=part)


async def _set_title_keys(changes: Changes, schema: SchemaName) -> None:
    thing, text = "__Entity__.title_key", statements.SET_TITLE_KEYS
    changes.say("Comparing the titles of entities with their keys ...")
    async for rows in _wrong_titles(changes, statements.read_titles(schema)):
        if changes.report.dry_run:
            changes.report.changed[thing] += len(rows)
        else:
            await changes.apply(thing, text, {"rows": rows})
    if changes.report.dry_run and changes.report.changed[thing]:
        changes.write_down(
            text, {}, _TITLES.format(rows=statements.BATCH, nodes=changes.report.changed[thing])
        )


async def _wrong_titles(changes: Changes, text: str) -> AsyncIterator[list[dict[str, str]]]:
    rows = []
    async for record in changes.connection.stream(text, {}):
        if record["key"] != (wanted := normalised_title(record["title"])):
            rows.append({"id": record["id"], "title_key": wanted})
        if len(rows) == statements.BATCH:
            yield rows
            rows = []
    if rows:
        yield rows

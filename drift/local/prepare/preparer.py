"""Makes a graph from elsewhere searchable.

`project_id` on every node, derived properties, constraints and indexes.

First it looks, and refuses with every reason at once before anything is changed. Then each step
changes only what is not yet as it should be, so that a run that broke is finished by the next, and
a second one changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Self

from drift.core.errors import GraphMisconfiguredError
from drift.core.names import normalised_title
from drift.graph.connection import Connection
from drift.graph.cypher.schema import SchemaName
from drift.graph.indexes import IndexNames, read_indexes, unyielding
from drift.graph.project_key import project_key
from drift.local.ingest.batch_embedder import BatchEmbedder
from drift.local.ingest.neo4j.ddl import schema_objects
from drift.local.ingest.neo4j.schema import ONLINE_WAIT_S, obstacles
from drift.local.prepare import statements
from drift.local.prepare.changes import Changes, PrepareReport
from drift.local.prepare.findings import LEFT_OUT, Survey
from drift.local.prepare.schema_steps import SchemaSteps
from drift.local.prepare.survey import Surveyor
from drift.local.prepare.vectors import ProjectVectors
from drift.local.say import Say
from drift.ports import Embedder

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
        """Prepare the graph for vectors of `dimensions` floats; a dry run only reads.

        It waits up to `wait_s` seconds for indexes to be online, and tells `say` what takes long.

        Raises:
            GraphMisconfiguredError: with every reason, before anything is changed; or when an index
                is not online in time.
            GraphUnavailableError: when the server fails; another run finishes the work.
        """
        stored = await read_indexes(self._connection)
        names = self._names
        whole = schema_objects(self._schema, names.community, names.chunk, names.fulltext)
        wanted = unyielding(whole, stored)
        surveyor = Surveyor(self._connection, self._schema, dimensions, say)
        survey = await surveyor.look()
        if refusals := [*obstacles(wanted, stored, dimensions), *survey.refusals]:
            raise GraphMisconfiguredError(f"{' '.join(refusals)} Nothing was changed.")

        report = PrepareReport(dry_run)
        changes = Changes(self._connection, report, say)
        if self._schema == "v1":
            wanted = tuple(
                one
                for one in wanted
                if one.properties != ("id",) or not survey.too_long.get(one.label)
            )

        schema = SchemaSteps(changes, wanted, dimensions, wait_s)
        if self._schema == "default":
            await _prepare_projects(changes, schema, surveyor)
        else:
            await _prepare_v1(changes, schema)

        report.problems += survey.problems
        report.vectors = survey.vectors
        await schema.describe()
        return report

    async def tend(
        self,
        project_id: str,
        dimensions: int,
        report: PrepareReport,
        *,
        embedder: Embedder | None = None,
        say: Say = lambda _: None,
    ) -> None:
        """Look at one project of the prepared graph, and embed what it lacks.

        It is told in the report of preparing as well, of which a dry one changes nothing. The
        embedder is the model of the questions; None embeds nothing.

        Raises:
            IngestError: when the model's vectors are of another length.
            ModelUnavailableError, ModelMisconfiguredError, GraphUnavailableError: as the ports do;
                what was written stays, and another run goes on from there.
        """
        vectors = ProjectVectors(self._connection, self._schema, project_id, report, say)
        await vectors.look()
        if embedder is None:
            return

        await vectors.embed(BatchEmbedder(embedder, dimensions))
        if not report.dry_run:
            surveyor = Surveyor(self._connection, self._schema, dimensions, say)
            await surveyor.look_at_vectors()
            report.vectors = surveyor.survey.vectors


async def _leave_out(changes: Changes, survey: Survey) -> None:
    """Take nodes whose key is too long out of the indexes of projects; shortened ones come back."""
    for thing, text, ids in (
        *(
            (f"{label}.{LEFT_OUT}", statements.LEAVE_OUT, ids)
            for label, ids in survey.too_long.items()
        ),
        (f"{LEFT_OUT} of shortened", statements.COME_BACK, survey.short_again),
    ):
        for start in range(0, len(ids), statements.BATCH):
            part = ids[start : start + statements.BATCH]
            await changes.make(thing, text, len(part), rows=part)


async def _prepare_projects(changes: Changes, schema: SchemaSteps, surveyor: Surveyor) -> None:
    await _leave_out(changes, surveyor.survey)
    await _set_project_ids(changes, surveyor)
    # Before their index: one that meets a key of any length fails.
    await _set_title_keys(changes, "default")
    await schema.create("constraint", "range")
    for label in ("__Chunk__", "__Entity__"):
        await _set_project_keys(changes, label)

    await schema.create("fulltext", "vector")


async def _prepare_v1(changes: Changes, schema: SchemaSteps) -> None:
    for label in ("__Chunk__", "__Entity__"):
        bare = (await changes.connection.rows(statements.count_bare(label)))[0]["number"]
        await changes.make(f":{label}", statements.add_label(label), bare)
    await _set_title_keys(changes, "v1")
    await schema.create("range")
    await schema.create("fulltext", "vector")


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
        changes.say(await surveyor.projects.what_waits(label))

    for label, pattern in statements.DERIVATIONS:
        if label in bare:
            changes.write_down(
                statements.take_from_neighbours(label, pattern),
                {},
                "again, while it changes anything",
            )


async def _derive(changes: Changes, bare: Sequence[str], surveyor: Surveyor) -> None:
    """Hand projects on until nothing changes, then look for two nodes with one key by it."""
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

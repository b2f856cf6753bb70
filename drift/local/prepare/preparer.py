"""Makes a graph from elsewhere searchable: by its projects, derived properties and indexes.

First it looks, and refuses with every reason at once before anything is changed. Then each step
changes only what is not yet as it should be, so that a run that broke is finished by the next, and
a second one changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import InitVar, dataclass, field

from drift.core.errors import GraphMisconfiguredError
from drift.core.names import document_key, normalised_title
from drift.graph.connection import Connection
from drift.graph.cypher.schema import DEFAULT, Schema, schema_named
from drift.graph.indexes import IndexNames, project_key, read_indexes, unyielding
from drift.graph.versions import keep_format, read_format, read_known_format
from drift.graph.writing.rows import parts
from drift.indexing.batch_embedder import BatchEmbedder
from drift.local.ingest.neo4j import document_vectors
from drift.local.ingest.neo4j.ddl import wanted_indexes
from drift.local.ingest.neo4j.schema import ONLINE_WAIT_S, obstacles
from drift.local.prepare import preparing_statements as statements
from drift.local.prepare.changes import Changes, PrepareReport, SchemaSteps
from drift.local.prepare.findings import LEFT_OUT, Survey
from drift.local.prepare.likeness import Likeness, recognise
from drift.local.prepare.survey import Surveyor
from drift.local.prepare.vectors import ProjectVectors
from drift.local.say import Say
from drift.ports import Embedder


@dataclass(slots=True)
class Neo4jPreparer:
    """Prepares one database; building it opens nothing.

    Where the graph has a version of the embedding model's vectors, it is prepared for that one.
    """

    connection: Connection
    names: IndexNames = field(default_factory=IndexNames)
    schema: Schema = DEFAULT
    model: str = ""
    graph_schema: InitVar[str] = ""
    """A value of GRAPH_SCHEMA, in the place of the schema."""

    def __post_init__(self, graph_schema: str) -> None:
        """Read the setting, where it is given."""
        if graph_schema:
            self.schema = schema_named(graph_schema)

    async def recognise(self) -> Likeness:
        """Say how the graph is built, and prepare it so from here on; errors as `recognise`."""
        found = await recognise(self.connection)
        self.schema = schema_named(found.value)
        return found

    async def close(self) -> None:
        """Close the connection."""
        await self.connection.close()

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
        GraphMisconfiguredError comes with every reason before anything is changed, or when an index
        is not online in time; when the server fails, another run finishes the work.
        """
        stored = await read_indexes(self.connection)
        said = await read_known_format(self.connection)
        version = said.of(self.model, dimensions)
        vector = version.vector_in(self.schema)
        whole = wanted_indexes(self.schema, self.names.of(version), vector)
        wanted = unyielding(whole, stored)
        looked_at = wanted if self.schema.has_projects else whole
        surveyor = Surveyor(self.connection, self.schema, dimensions, say, vector)
        survey = await surveyor.look()
        if refusals := [*obstacles(looked_at, stored, dimensions), *survey.refusals]:
            raise GraphMisconfiguredError(f"{' '.join(refusals)} Nothing was changed.")

        report = PrepareReport(dry_run)
        changes = Changes(self.connection, report, say)
        if not self.schema.has_projects:
            wanted = tuple(
                one
                for one in wanted
                if one.properties != (self.schema.id,) or not survey.too_long.get(one.label)
            )

        schema = SchemaSteps(changes, wanted, dimensions, wait_s)
        if self.schema.has_projects:
            await _prepare_projects(changes, schema, surveyor)
            await _fill_documents(changes, vector)
        else:
            await _prepare_mapped(changes, schema, self.schema)
            if gone := await surveyor.gone():
                survey.problems.append(gone)

        report.problems += survey.problems
        report.vectors = survey.vectors
        await schema.describe()
        if said.number is None and not dry_run:
            await keep_format(self.connection)
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
        """Look at one project of the prepared graph, and embed what it lacks, if it can.

        It is told in the report of preparing as well, of which a dry one changes nothing. Errors as
        for `ProjectVectors.embed`; another run goes on from what was written.
        """
        version = (await read_format(self.connection)).of(self.model, dimensions)
        vectors = ProjectVectors(self.connection, self.schema, project_id, report, say, version)
        await vectors.look()
        if embedder is None:
            return

        await vectors.embed(BatchEmbedder(embedder, dimensions))
        if not report.dry_run:
            vector = version.vector_in(self.schema)
            if self.schema.has_projects:
                await document_vectors.fill_documents(self.connection, vector)
            surveyor = Surveyor(self.connection, self.schema, dimensions, say, vector)
            await surveyor.look_at_vectors()
            report.vectors = surveyor.survey.vectors


async def _leave_out(changes: Changes, survey: Survey) -> None:
    """Take nodes whose key is too long out of the indexes of projects; shortened ones come back."""
    steps = [
        (f"{label}.{LEFT_OUT}", statements.LEAVE_OUT, ids) for label, ids in survey.too_long.items()
    ]
    steps += [(f"{LEFT_OUT} of shortened", statements.COME_BACK, survey.short_again)]
    for thing, text, ids in steps:
        for part in parts(ids, statements.BATCH):
            await changes.make(thing, text, len(part), rows=part)


async def _prepare_projects(changes: Changes, schema: SchemaSteps, surveyor: Surveyor) -> None:
    await _leave_out(changes, surveyor.survey)
    await _set_project_ids(changes, surveyor)
    # Before their index: one that meets a key of any length fails.
    await _set_title_keys(changes, DEFAULT)
    await schema.create("constraint", "range")
    for label in ("__Chunk__", "__Entity__"):
        await _set_project_keys(changes, label)

    await schema.create("fulltext", "vector")


async def _fill_documents(changes: Changes, vector: str) -> None:
    """Give documents that lack one their vector, the mean of their chunks'."""
    bare = (await changes.connection.rows(document_vectors.COUNT_BARE, {"vector": vector}))[0][
        "documents"
    ]
    await changes.make(f"__Document__.{vector}", document_vectors.FILL, bare, vector=vector)


async def _prepare_mapped(changes: Changes, schema: SchemaSteps, s: Schema) -> None:
    for label in ("__Chunk__", "__Entity__"):
        if s.named(label) == label:  # one of others is theirs to give
            bare = (await changes.connection.rows(statements.count_bare(s, label)))[0]["number"]
            await changes.make(f":{label}", statements.add_label(s, label), bare)
    await _set_title_keys(changes, s)
    await schema.create("range")
    await schema.create("fulltext", "vector")


# ----------------------------------------------------------------------------------------- projects
async def _set_project_ids(changes: Changes, surveyor: Surveyor) -> None:
    survey = surveyor.survey
    for label, states in survey.states.items():
        expected = states.get("edge", 0)
        await changes.make(f"{label}.project_id", statements.take_from_edge(label), expected)

    bare = [label for label, states in survey.states.items() if states.get("without")]
    if not changes.report.dry_run:
        await _derive(changes, bare, surveyor)
        return

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
    if not bare:
        return

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
            f"{' '.join(surveyor.survey.refusals)} So far nothing but `project_id` and "
            f"`{LEFT_OUT}` was set."
        )


# ------------------------------------------------------------------------------------ derived keys
async def _set_project_keys(changes: Changes, label: str) -> None:
    """Give nodes of a label the full-text key of their project."""
    wrong: Counter[str] = Counter()
    for row in await changes.connection.rows(statements.project_keys(label)):
        if row["key"] != project_key(row["project"]):
            wrong[row["project"]] += row["nodes"]

    rows = [
        {"project_id": project, "project_key": project_key(project)} for project in sorted(wrong)
    ]
    for part in parts(rows, statements.BATCH):
        expected = sum(wrong[row["project_id"]] for row in part)
        text = statements.set_project_keys(label)
        await changes.make(f"{label}.project_key", text, expected, rows=part)


async def _set_title_keys(changes: Changes, schema: Schema) -> None:
    """Give entities and documents the key by which questions find their titles."""
    entities = schema.named("__Entity__"), "entities", statements.read_titles(schema)
    await _set_keys(changes, *entities, normalised_title)
    if label := schema.titled_label:
        documents = label, "documents", statements.read_document_titles(schema)
        await _set_keys(changes, *documents, document_key)


async def _set_keys(
    changes: Changes, label: str, kind: str, titles: str, key_of: Callable[[str], str]
) -> None:
    thing, text = f"{label}.title_key", statements.SET_TITLE_KEYS
    changes.say(f"Comparing the titles of {kind} with their keys ...")
    async for rows in _wrong_titles(changes, titles, key_of):
        if changes.report.dry_run:
            changes.report.changed[thing] += len(rows)
        else:
            await changes.apply(thing, text, {"rows": rows})

    if changes.report.dry_run and (nodes := changes.report.changed[thing]):
        batch = f"in batches of up to {statements.BATCH} rows of {{id, title_key}}"
        note = f"{batch}, one for each of {nodes} {kind}; the key is made by Python"
        changes.write_down(text, {}, note)


async def _wrong_titles(
    changes: Changes, text: str, key_of: Callable[[str], str]
) -> AsyncIterator[list[dict[str, str]]]:
    rows = []
    async for record in changes.connection.stream(text, {}):
        if (record["key"] or "") != (wanted := key_of(record["title"])):
            rows.append({"id": record["id"], "title_key": wanted})
        if len(rows) == statements.BATCH:
            yield rows
            rows = []

    if rows:
        yield rows

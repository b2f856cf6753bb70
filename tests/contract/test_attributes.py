"""What is said of documents stands on their nodes, changes alone, goes away, and is told."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from drift.auth.caller import EVERYBODY
from drift.contracts.attributes import DocumentAttributes
from drift.core.deadline import Deadline
from drift.indexing.documents import SourceDocument
from drift.indexing.indexer import Indexer
from drift.local.exchange.transfer import export_project, restore_project
from drift.local.ingest.context import IngestContext
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.sources import Source
from drift.model.attributes import Attributes
from drift.model.reading import PageQuery
from tests.contract.graph_backends import DIMENSIONS, Neo4jBackend, on_real_server, twin
from tests.contract.test_indexer import FERRY, MENU, MODEL, Counted

pytestmark = on_real_server

CHANGED = 1_764_000_000_000
SAID = Attributes(
    ("hr", "law"), {"department": "hr", "year": 2026, "draft": True, "share": 0.5}, -1000
)
NODES = """MATCH (d:__Document__ {project_id: $p})
RETURN d.id AS id, d {.*, embedding: null, at: d.updated_at.epochMillis} AS node ORDER BY id"""


def soon() -> Deadline:
    return Deadline.after(120)


async def nodes(backend: Neo4jBackend, project: str) -> dict[str, dict[str, Any]]:
    found = (await backend.connection.read(NODES, {"p": project})).records
    return {row["id"]: {k: v for k, v in row["node"].items() if v is not None} for row in found}


def metadata(node: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in node.items() if name.startswith("metadata.")}


async def test_a_run_writes_what_is_said_changes_it_alone_and_takes_it_away(
    backend: Neo4jBackend, project: str
) -> None:
    documents = (
        SourceDocument("ferry.md", "Ferry", FERRY, "markdown", updated_at=CHANGED),
        SourceDocument("menu.md", "Menu", MENU, "markdown", own=Attributes(("own",))),
    )
    source, embedder = Source("/nowhere/harbour", documents), Counted()
    context = IngestContext(backend.writer, embedder, DIMENSIONS, model=MODEL)

    async def ingested(said: Attributes) -> tuple[list[str], list[str]]:
        embedder.texts = []
        report = await ingest(source.saying(said), project, context)
        return report.changed, embedder.texts

    await ingested(Attributes())
    bare = (await nodes(backend, project))["ferry.md"]
    assert bare.keys() & {"tags", "created_at", "attributes_hash"} == set()
    assert (bare["media_type"], bare["path"], bare["at"]) == ("text/markdown", "ferry.md", CHANGED)

    assert await ingested(SAID) == (["ferry.md", "menu.md"], [])
    held = await nodes(backend, project)
    assert (held["ferry.md"]["tags"], held["menu.md"]["tags"]) == (
        ["hr", "law"],
        ["hr", "law", "own"],
    )
    assert (held["ferry.md"]["created_at"], held["ferry.md"]["at"]) == (-1000, CHANGED)
    assert metadata(held["menu.md"]) == {
        "metadata.department": "hr",
        "metadata.year": 2026,
        "metadata.draft": True,
        "metadata.share": 0.5,
    }
    assert await ingested(SAID) == ([], [])

    other = Attributes((), {"year": 2027}, updated_at=5)
    assert await ingested(other) == (["ferry.md", "menu.md"], [])
    ferry = (await nodes(backend, project))["ferry.md"]
    assert metadata(ferry) == {"metadata.year": 2027}
    assert (ferry.keys() & {"tags", "created_at"}, ferry["at"]) == (set(), 5)

    assert await ingested(Attributes()) == (["ferry.md", "menu.md"], [])
    gone = (await nodes(backend, project))["ferry.md"]
    assert gone.keys() == bare.keys()
    assert gone["at"] == CHANGED


async def test_a_document_sent_alone_says_it_too(backend: Neo4jBackend, project: str) -> None:
    index = Indexer(backend.connection, project, Counted(), MODEL, DIMENSIONS, backend.names)
    await backend.writer.prepare(DIMENSIONS)
    said = DocumentAttributes(tags=("hr",), metadata={"a.b": "c"}, created_at="2026-01-01")
    assert (await index.add("ferry.md", FERRY)).outcome == "added"
    index.embedder.texts = []  # type: ignore[attr-defined]
    outcomes = [(await index.add("ferry.md", FERRY, attributes=said)).outcome for _ in range(2)]
    assert outcomes == ["changed", "unchanged"]
    held = (await nodes(backend, project))["ferry.md"]
    assert (held["tags"], metadata(held)) == (["hr"], {"metadata.a.b": "c"})
    assert (await index.add("ferry.md", FERRY)).outcome == "changed"
    held = (await nodes(backend, project))["ferry.md"]
    assert (held.get("tags"), metadata(held)) == (None, {})
    assert index.embedder.texts == []  # type: ignore[attr-defined]


async def test_readers_are_told_and_a_restored_project_has_it(
    backend: Neo4jBackend, project: str, tmp_path: Path
) -> None:
    documents = tuple(
        SourceDocument(f"{n}.md", f"Ferry {n}", f"{FERRY}\n{n}", "markdown", updated_at=CHANGED)
        for n in range(3)
    )
    context = IngestContext(backend.writer, Counted(), DIMENSIONS, model=MODEL)
    await ingest(Source("/nowhere/harbour", documents).saying(SAID), project, context)
    await export_project(project, tmp_path / "out", backend.writer, lambda _: None)
    copy = f"{project} copy"
    await restore_project(tmp_path / "out", copy, backend.writer, DIMENSIONS, lambda _: None)
    await backend.connection.write(
        """MATCH (d:__Document__ {project_id: $p, id: '1.md'})
        SET d.tags = 'hr', d.media_type = 7, d.created_at = 'yesterday',
          d.`metadata.department` = [1], d.`metadata.long` = $long
        WITH d MATCH (o:__Document__ {project_id: $p, id: '2.md'})
        REMOVE o.tags, o.media_type, o.updated_at, o.created_at, o.`metadata.department`""",
        {"p": project, "long": "x" * 513},
    )
    reader = backend.reader()
    for id_ in (project, copy):
        page = await reader.documents(EVERYBODY.project(id_), PageQuery(1), soon())
        told = page.rows[0].model_dump(
            exclude={"id", "name", "source", "source_uri", "chunk_count"}
        )
        assert told == {
            "tags": ("hr", "law"),
            "metadata": dict(sorted(SAID.metadata.items())),
            "created_at": datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
            "updated_at": datetime.fromtimestamp(CHANGED / 1000, UTC),
            "media_type": "text/markdown",
        }

    mine = EVERYBODY.project(project)
    odd, _ = await reader.document(mine, "1.md", PageQuery(1), soon())
    assert odd.model_dump().keys() & {"tags", "media_type", "created_at"} == set()
    assert odd.metadata == {"draft": True, "share": 0.5, "year": 2026}
    bare, _ = await reader.document(mine, "2.md", PageQuery(1), soon())
    assert bare.model_dump().keys() & {"tags", "media_type", "updated_at"} == set()

    keys = {one.key: [(v.value, v.documents) for v in one.values]
            for one in await reader.filter_keys(mine, soon())}  # fmt: skip
    assert keys == {
        "source": [("/nowhere/harbour", 3)],
        "metadata.draft": [(True, 3)],
        "metadata.share": [(0.5, 3)],
        "metadata.year": [(2026, 3)],
        "tag": [("hr", 2), ("law", 1)],
        "media_type": [(7, 1), ("text/markdown", 1)],
        "metadata.department": [(1, 1), ("hr", 1)],
    }
    assert await reader.filter_keys(EVERYBODY.project(twin(project)), soon()) == ()


async def test_keys_of_filters_are_bounded(backend: Neo4jBackend, project: str) -> None:
    await backend.connection.write(
        """UNWIND range(1, 40) AS n
        CREATE (d:__Document__ {project_id: $p, id: 'd' + n, content_hash: 'h'})
        SET d.`metadata.common` = n, d[$prefix + n] = n""",
        {"p": project, "prefix": "metadata.rare"},
    )
    keys = await backend.reader().filter_keys(EVERYBODY.project(project), soon())
    assert (len(keys), keys[0].key, len(keys[0].values)) == (20, "metadata.common", 10)


async def test_a_run_knows_what_stored_documents_say_of_each_other(
    backend: Neo4jBackend, project: str
) -> None:
    said = {"supersedes": "menu.md", "message-id": "<1@q>", "year": 2026}
    given = Attributes((), said, superseded_by="new.md")
    document = SourceDocument("ferry.md", "Ferry", FERRY, "markdown", given=given)
    context = IngestContext(backend.writer, Counted(), DIMENSIONS, model=MODEL)
    await ingest(Source("/nowhere/harbour", (document,)), project, context)
    held = (await backend.writer.project_state(project)).documents["ferry.md"].attributes
    relating = {name: value for name, value in said.items() if name != "year"}
    assert held == Attributes((), relating, superseded_by="new.md")

"""Graphs that other tools have just written are recognised, prepared and searched as they are."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from drift.core.errors import GraphMisconfiguredError
from drift.graph.connection import Connection
from drift.graph.cypher.schema import V1
from drift.llm.local_embedder import LocalEmbedder
from drift.llm.local_embedding import DIMENSIONS, embed
from drift.local.prepare.preparer import Neo4jPreparer
from drift.local.stack.neo4j.server import Neo4jServer
from tests.contract.foreign_questions import titles_cited
from tests.contract.foreign_shapes import SUMMARY, TEXTS
from tests.contract.v1_graphs import PROJECT, drop_schema
from tests.model_server_fixture import ModelServerControl
from tests.servers import NOBODY_LOCKED_OUT, OLDER, PLANS_STAY, QUICK

pytestmark = [pytest.mark.neo4j, pytest.mark.deep]

FOREIGN = Path(sys.prefix) / "foreign"
ROOT = Path(__file__).parents[2]
TITLES = {
    "langchain": {"harbour.md"},
    "langchain-vector": {"harbour.md"},
    "llama-index": {"harbour.md"},
    "graphiti": {"log 0", "log 1", "log 2"},
    "simple-kg-pipeline": {"harbour.md"},
}
"""What is cited of each tool's graph."""


class WithPlugins(Neo4jServer):
    """A server with APOC, which these tools want."""

    def _prepare(self) -> None:
        super()._prepare()
        self._jars += tuple((FOREIGN / "plugins").glob("*.jar"))


@pytest.fixture(scope="module", params=[OLDER])
def whole_server(request: pytest.FixtureRequest) -> Iterator[Neo4jServer]:
    """A Neo4j of the version that there is an APOC for."""
    if not (FOREIGN / ".ready").exists():
        pytest.skip("`make tools` installs the tools")
    settings = {
        **PLANS_STAY,
        **NOBODY_LOCKED_OUT,
        "server.directories.plugins": str(FOREIGN / "plugins"),
        "dbms.security.procedures.unrestricted": "apoc.*",
    }
    with WithPlugins(request.param, java_flags=QUICK, settings=settings) as server:
        yield server


async def write(server: Neo4jServer, tool: str) -> None:
    """Let the tool write its graph."""
    vectors = await asyncio.to_thread(embed, list(TEXTS))
    given = {
        "uri": server.uri,
        "username": server.user,
        "password": server.password,
        "database": server.database,
        "texts": list(TEXTS),
        "vectors": [[float(x) for x in one] for one in vectors],
        "summary": SUMMARY,
    }
    module = f"tests.foreign.{tool.replace('-', '_')}"
    python = sys.executable if tool == "simple-kg-pipeline" else FOREIGN / "bin" / "python"
    command = [str(python), "-m", module]
    done = await asyncio.to_thread(
        subprocess.run,
        command,
        input=json.dumps(given).encode(),
        capture_output=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("name", TITLES)
async def test_a_graph_is_searched_as_its_tool_wrote_it(
    whole_server: Neo4jServer,
    database: Connection,
    name: str,
    model_server: ModelServerControl,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await drop_schema(database)
    await write(whole_server, name)
    preparer = Neo4jPreparer(database)
    found = await preparer.recognise()
    assert found.value == name, found
    report = await preparer.prepare(DIMENSIONS)
    await preparer.tend(PROJECT, DIMENSIONS, report, embedder=LocalEmbedder())
    again = await preparer.prepare(DIMENSIONS)
    assert (again.document()["problems"], again.changed, again.created) == ([], {}, [])
    titles = await titles_cited(whole_server, name, model_server, monkeypatch)
    assert titles == TITLES[name]
    if name == "simple-kg-pipeline":  # whose shape is that of a database without projects
        await drop_schema(database)
        await Neo4jPreparer(database, schema=V1).prepare(DIMENSIONS)
        assert await titles_cited(whole_server, "v1", model_server, monkeypatch) == titles


async def test_what_holds_no_text_is_refused_in_a_sentence(
    whole_server: Neo4jServer, database: Connection
) -> None:
    await drop_schema(database)
    await write(whole_server, "light-rag")
    with pytest.raises(GraphMisconfiguredError, match=r"a graph of LightRAG.*drift ingest"):
        await Neo4jPreparer(database).recognise()

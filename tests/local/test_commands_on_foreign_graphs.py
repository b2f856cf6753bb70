"""What `prepare`, `ask` and `doctor` say of a graph that others wrote, and with which exit code."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from drift.graph.connection import Connection
from drift.local.stack.neo4j.server import Neo4jServer
from tests.command_line import PATIENCE_S, command
from tests.contract.foreign_graphs import add_ferries
from tests.contract.foreign_shapes import SHAPES, write
from tests.contract.v1_graphs import drop_schema
from tests.model_server_fixture import ModelServerControl

pytestmark = [pytest.mark.neo4j, pytest.mark.slow, pytest.mark.timeout(4 * PATIENCE_S)]

MODEL = "wordllama-256"
LONGER = "MATCH (n) WHERE n.embedding IS NOT NULL SET n.embedding = [i IN range(1, 256) | 1.0 / i]"
LENGTH = {"VECTOR_INDEX_DIMENSIONS": "256"}
NO_REDIS = "redis://127.0.0.1:1"
UNSEEN = "Progress is not shown, because of Redis: nobody listens at its address."
EMBED = "run `python -m drift prepare --project"


@dataclass(frozen=True, slots=True)
class Case:
    """What was done to a prepared graph, and what is said of it.

    `codes` are those with which `prepare`, `ask` and `doctor` end. `prepared`, `asked` and `looked`
    stand in what they say; nothing for no problem.
    """

    change: str
    project: str
    codes: tuple[int, int, int]
    prepared: str
    asked: str
    looked: str


CASES = {
    "fine": Case("RETURN 1", "north", (0, 0, 0), "", "", "ok"),
    "not embedded": Case(
        change="MATCH (n) REMOVE n.embedding",
        project="north",
        codes=(1, 1, 1),
        prepared="prepare --project ... --embed`",
        asked=f"no search can use one: a chunk needs a `project_id` and an `id`, a `text`, and an "
        f"`embedding` of 256 floats. To mend that, {EMBED} north`",
        looked="nothing can be asked, since none of the chunks has an embedding of 256 floats and "
        f"a text: {EMBED} ... --embed`",
    ),
    "no chunk": Case(
        change="MATCH (n:__Chunk__) SET n:Chunk REMOVE n:__Chunk__",
        project="anything",
        codes=(1, 1, 0),
        prepared="Expected (document:__Document__)-[:`HAS_CHUNK`]->(chunk:__Chunk__",
        asked="none that is a __Chunk__, as GRAPH_SCHEMA reads them: run `python -m drift prepare`",
        looked="there is no __Chunk__ node beside 10 others, so that nothing can be asked of this "
        "graph: run `python -m drift prepare`",
    ),
    "a number as project": Case(
        change="MATCH (n:__Chunk__)-[r:IN_PROJECT]->() SET n.project_id = 7 DELETE r",
        project="7",
        codes=(1, 1, 0),
        prepared="The `project_id` of some __Chunk__ nodes (3) is no text",
        asked=f"To mend that, {EMBED} 7`",
        looked="",
    ),
    "another model": Case(
        change="MATCH (p:__Project__) SET p.embedding_models = ['text-embedding-3-large']",
        project="north",
        codes=(0, 1, 0),
        prepared="",
        asked=f"made by text-embedding-3-large, and the question's by {MODEL}",
        looked="the vectors of project north were made by text-embedding-3-large, not by the "
        f"questions' {MODEL}, so that they are not compared: set OAI_EMBED_MODEL_NAME to the "
        "model that made them, or embed them anew, which `python -m drift ingest` does",
    ),
}


def model_of(server: ModelServerControl) -> dict[str, str]:
    """Return the settings of a model."""
    return {
        "OAI_BASE_URL": server.url,
        "OAI_MODEL": "drift-extractive",
        "OAI_KEY": "none",
        "OAI_EMBED_MODEL_NAME": MODEL,
    }


async def lay_out(server: Neo4jServer, shape: str = "") -> None:
    """Leave nothing in the database but ferries of others, or a graph of that shape."""
    async with Connection(server.uri, server.user, server.password, server.database) as database:
        await database.write("MATCH (n) DETACH DELETE n", {})
        await drop_schema(database)
        if shape:
            await write(database, SHAPES[shape])
            return
        await add_ferries(database, "north")
        await database.write(LONGER, {})


async def change(server: Neo4jServer, text: str) -> None:
    async with Connection(server.uri, server.user, server.password, server.database) as database:
        await database.write(text, {})


DEEP = "another model"
"""What `contract/test_unprepared.py` says of a question and of readiness; the others stand here."""


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=name, marks=[pytest.mark.deep] * (name == DEEP))
        for name, case in CASES.items()
    ],
)
def test_prepare_ask_and_doctor_say_the_same_of_a_graph(
    whole_server: Neo4jServer,
    model_server: ModelServerControl,
    tmp_path: Path,
    case: Case,
) -> None:
    server, at = whole_server, ("--data-dir", str(tmp_path / "none"))
    graph, model = {**server.env, **LENGTH}, model_of(model_server)
    asyncio.run(lay_out(server))
    assert command("prepare", *at, **graph).returncode == 0
    asyncio.run(change(server, case.change))

    prepared = command("prepare", "--json", *at, **graph)
    question = ("When does ferry 1 leave?", "-p", case.project)
    asked = command("ask", *question, *at, **graph, **model, REDIS_URL=NO_REDIS)
    looked, alone = (
        command("doctor", "--json", *at, **graph, **more)
        for more in (model, {"OAI_EMBED_MODEL_NAME": MODEL} if case.prepared else {})
    )
    said = (prepared.stdout, asked.stderr, looked.stdout)
    assert (prepared.returncode, asked.returncode, looked.returncode) == case.codes, said
    problems = "\n".join(json.loads(prepared.stdout)["problems"])
    assert case.prepared in problems
    assert bool(case.prepared) == bool(problems)
    assert case.asked in " ".join(asked.stderr.split())
    assert asked.stderr.count("rogress") == asked.stderr.count(UNSEEN) == 1
    assert case.looked in indexes(looked.stdout)
    # Of a model that nobody names, nothing is said.
    assert indexes(alone.stdout) == (indexes(looked.stdout) if case.prepared else "ok")


def indexes(report: str) -> str:
    """Return what the doctor says of the indexes."""
    (found,) = (one for one in json.loads(report)["findings"] if one["name"] == "indexes")
    return str(found["text"])


@pytest.mark.deep
def test_the_graph_of_another_tool_is_recognised_prepared_and_asked(
    whole_server: Neo4jServer, model_server: ModelServerControl, tmp_path: Path
) -> None:
    server, at = whole_server, ("--data-dir", str(tmp_path / "none"))
    graph, model = {**server.env, **LENGTH}, model_of(model_server)
    asyncio.run(lay_out(server, "llm-graph-builder"))
    planned = command("prepare", "--like", "auto", "--dry-run", *at, **graph)
    assert planned.returncode == 0, planned.stderr
    for line in (
        "document   :Document (1), by PART_OF",
        "chunk      :Chunk (3), `text`, `embedding`, as llm-graph-builder writes it",
        "community  :__Community__ (2), `summary`, by IN_COMMUNITY, nested by PARENT_COMMUNITY",
        "GRAPH_SCHEMA=llm-graph-builder",
    ):
        assert line in planned.stderr
    assert "CREATE VECTOR INDEX" in planned.stdout
    prepared = command("prepare", "--like", "auto", "--json", *at, **graph)
    assert prepared.returncode == 0, prepared.stdout
    assert json.loads(prepared.stdout)["problems"] == []

    question = ("Who is the harbour master of Nessel?", "-p", "any")
    known = {**graph, **model, "REDIS_URL": NO_REDIS, "GRAPH_SCHEMA": "llm-graph-builder"}
    asked = command("ask", *question, *at, **known)
    assert asked.returncode == 0, asked.stderr
    assert "harbour.pdf" in asked.stdout
    assert "Ingrid Falk is the harbour master" in asked.stdout
    asyncio.run(lay_out(server))  # no index of that shape is left

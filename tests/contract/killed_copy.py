"""A process that writes to the graph and to Milvus Lite, and kills itself between the two.

`python -m tests.contract.killed_copy`, with the case as JSON on its input: each step before and
behind a write of the store, and before the note that it is in step, is counted.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from drift.auth.caller import EVERYBODY
from drift.core.deadline import Deadline
from drift.graph.connection import Connection
from drift.graph.cypher.vector_copy import ADVANCE
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import IndexNames
from drift.indexing.indexer import Indexer
from drift.llm.local_embedder import LocalEmbedder
from drift.local.exchange.transfer import delete_project
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.milvus.store import MilvusStore
from drift.model.nodes import Embedded, OwnNode
from tests.contract.graph_backends import DIMENSIONS, axis, chunk, documents

MODEL = "wordllama-256"
ABOUT = {"embedding_model": MODEL, "dimensions": DIMENSIONS}
BEFORE = "# Salt\n\nThe Ada has salt.\n\n# Oak\n\nThe Bo has oak beams.\n"
AFTER = "# Salt\n\nThe Ada has salt.\n\n# Herring\n\nThe Cy has herring.\n"
NODE, OTHER = OwnNode("n1", "Bosun", {"name": "Bo"}), OwnNode("n1", "Bosun", {"name": "Di"})
INGESTED = documents([chunk("k1", "a", axis(0)), chunk("k2", "b", axis(1), "d2")], {})


class Killer:
    """Ends the process without a word at the step of that number."""

    def __init__(self, step: int) -> None:
        self.left = step

    def step(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class Dying(MilvusStore):
    """The store, whose writes are steps."""

    killer = Killer(0)

    async def upsert(self, *values: Any) -> None:
        self.killer.step()
        await MilvusStore.upsert(self, *values)
        self.killer.step()

    async def delete(self, *values: Any) -> None:
        self.killer.step()
        await MilvusStore.delete(self, *values)
        self.killer.step()


class DyingConnection(Connection):
    """The connection, where the note is a step."""

    killer = Killer(0)

    async def write(self, text: str, parameters: Mapping[str, Any]) -> Any:
        if text == ADVANCE:
            self.killer.step()
        return await super().write(text, parameters)


def operations(
    graph: Neo4jGraph, writer: Neo4jWriter, project: str
) -> dict[str, Callable[[], Awaitable[Any]]]:
    """Return every kind of write by name, as functions and commands do it."""
    nodes, owner = graph.node_store(), EVERYBODY.project(project, "write")
    index = Indexer(
        graph.connection, project, LocalEmbedder(), MODEL, DIMENSIONS, copy=graph.copy, wait_s=60.0
    )
    vector = Embedded((0.5,) * DIMENSIONS, MODEL, "hash")
    other = Embedded((-0.5,) * DIMENSIONS, MODEL, "other hash")
    day = Deadline.after(300)
    return {
        "add": lambda: index.add("other.md", BEFORE),
        "change": lambda: index.add("ships.md", AFTER),
        "remove": lambda: index.remove("ships.md"),
        "ingest": lambda: writer.write_documents(project, INGESTED),
        "take out": lambda: writer.remove_documents(project, ["ships.md"]),
        "create": lambda: nodes.create_node(owner, NODE, vector, day),
        "replace": lambda: nodes.replace_node(owner, OTHER, other, "", day),
        "erase": lambda: nodes.remove_node(owner, NODE.id, day),
        "delete": lambda: delete_project(project, writer, lambda _: None),
        "begin": lambda: index.add("ships.md", BEFORE),
    }


async def main(case: Mapping[str, Any]) -> None:
    Dying.killer = DyingConnection.killer = Killer(case["step"])
    store = Dying(case["file"], "", "graph_nodes", "IVF_FLAT", DIMENSIONS)
    async with DyingConnection(*case["login"]) as connection:
        graph = Neo4jGraph(connection, store=store, **ABOUT)
        writer = Neo4jWriter(
            connection, IndexNames(), model=MODEL, dimensions=DIMENSIONS, store=store
        )
        await operations(graph, writer, case["project"])[case["operation"]]()


if __name__ == "__main__":
    asyncio.run(main(json.load(sys.stdin)))

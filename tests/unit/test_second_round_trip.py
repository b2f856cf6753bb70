"""A follow-up whose second round trip fails keeps what the first has found."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any
from unittest.mock import Mock

import pytest
from neo4j import EagerResult, Record

from drift.core.deadline import Deadline
from drift.core.errors import (
    DeadlineError,
    GraphMisconfiguredError,
    GraphTimeoutError,
    GraphUnavailableError,
)
from drift.graph.connection import Connection
from drift.graph.cypher.schema import DEFAULT
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import NAMES_INDEX, IndexNames
from drift.graph.inventory import Inventory
from drift.model.graph import Candidates, FollowupQuery
from drift.model.health import Index

NAMES = IndexNames()
INDEXES = (
    Index(NAMES.fulltext, "fulltext", ("__Chunk__",), ("text", "project_key")),
    Index(NAMES_INDEX, "fulltext", ("__Entity__",), ("title_key", "project_key")),
)
CHUNK: dict[str, Any] = {
    "id": "mill",
    "text": "It was built in 1820.",
    "heading": "",
    "ordinal": 0,
    "pages": [],
    "starts": [],
    "lines": [],
    "document": {"title": "The Old Mill", "id": "d", "metadata": "", "chunks": 1, "uris": []},
    "similarity": 0.9,
    "bm25": 1.0,
    "graph": 0.0,
    "in_scope": False,
}
FIRST = {"candidates": [CHUNK], "shared": [], "following": [], "relationships": [], "rare": []}
SECOND = {"named": [{**CHUNK, "id": "further"}]}


class Probe:
    """Knows a graph that has the indexes of words."""

    async def inventory(self, _: object) -> Inventory:
        return await self.look()

    async def look(self) -> Inventory:
        return Inventory("Neo4j", NAMES, DEFAULT, INDEXES)

    async def as_it_is(self, search: Callable[[], Awaitable[Candidates]]) -> Candidates:
        return await search()

    def forget(self) -> None:
        pass


class Scripted(Connection):
    """Answers the first statement, and the second as it is told; `seconds` pass meanwhile."""

    def __init__(self, second: dict[str, Any] | Exception, seconds: float = 0.0) -> None:
        super().__init__("", "", "", None)
        self.answers: list[dict[str, Any] | Exception] = [FIRST, second]
        self.seconds, self.now = seconds, 0.0

    async def read(self, _text: str, _parameters: Any, _timeout_s: float = 0.0) -> EagerResult:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            self.now += self.seconds
            raise answer
        return EagerResult([Record(answer)], Mock(), [])


async def asked(connection: Scripted) -> Candidates:
    graph = Neo4jGraph(connection)
    graph.probe = Probe()  # type: ignore[assignment]
    query = FollowupQuery("p", "When was The Old Mill built?", (1.0,), ())
    return await graph.followup(query, Deadline.after(10, lambda: connection.now))


async def test_chunks_of_named_documents_join_those_that_were_found() -> None:
    found = await asked(Scripted(SECOND))
    assert [one.chunk.id for one in found.chunks] == ["mill", "further"]
    assert not found.is_partial


@pytest.mark.parametrize("failure", [GraphTimeoutError("slow"), GraphUnavailableError("gone")])
async def test_what_was_found_stands_where_named_documents_cannot_be_read(
    failure: GraphUnavailableError, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "drift")
    lines: list[Any] = caplog.records
    found = await asked(Scripted(failure))
    assert [one.chunk.id for one in found.chunks] == ["mill"]
    assert found.is_partial
    assert [(line.event, line.code) for line in lines] == [("documents_unread", failure.code)]


@pytest.mark.parametrize(
    ("failure", "seconds", "told"),
    [
        (GraphTimeoutError("slow"), 10.0, DeadlineError),
        (GraphMisconfiguredError("no such index"), 0.0, GraphMisconfiguredError),
    ],
)
async def test_a_used_up_time_and_a_graph_to_mend_are_told(
    failure: Exception, seconds: float, told: type[Exception]
) -> None:
    with pytest.raises(told):
        await asked(Scripted(failure, seconds))

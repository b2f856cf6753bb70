"""A conversation's messages, kept in the graph by session: loaded, searched and removed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Self

from agent_framework import HistoryProvider, Message
from neo4j import AsyncDriver, AsyncGraphDatabase

from drift.graph.errors import translated
from drift.graph.text_query import words_of_any_field
from drift.integrations.agent_framework.config import ConnectionConfig

SCHEMA = """
CREATE CONSTRAINT drift_agent_message IF NOT EXISTS
FOR (m:__AgentMessage__) REQUIRE (m.session_id, m.place) IS UNIQUE;
CREATE CONSTRAINT drift_agent_session IF NOT EXISTS
FOR (s:__AgentSession__) REQUIRE s.id IS UNIQUE;
CREATE FULLTEXT INDEX drift_agent_messages IF NOT EXISTS
FOR (m:__AgentMessage__) ON EACH [m.text];
CALL db.awaitIndex('drift_agent_messages', 60)
"""
LOAD = (
    "MATCH (m:__AgentMessage__ {session_id: $session_id}) "
    "RETURN m.session_id AS session_id, m.message AS message ORDER BY m.place DESC LIMIT $most"
)
# The session's own node is locked, so that two writers number one after the other.
SAVE = (
    "MERGE (s:__AgentSession__ {id: $session_id}) SET s.updated_at = datetime() "
    "WITH s UNWIND range(0, size($messages) - 1) AS i "
    "CREATE (:__AgentMessage__ {session_id: $session_id, place: coalesce(s.messages, 0) + i, "
    "message: $messages[i].message, text: $messages[i].text}) "
    "WITH DISTINCT s SET s.messages = coalesce(s.messages, 0) + size($messages)"
)
SEARCH = (
    "CALL db.index.fulltext.queryNodes('drift_agent_messages', $terms) YIELD node, score "
    "WHERE $session_id IS NULL OR node.session_id = $session_id "
    "RETURN node.session_id AS session_id, node.message AS message ORDER BY score DESC LIMIT $most"
)
DELETE = (
    "OPTIONAL MATCH (m:__AgentMessage__ {session_id: $session_id}) "
    "OPTIONAL MATCH (s:__AgentSession__ {id: $session_id}) DETACH DELETE m, s"
)


class Neo4jHistoryProvider(HistoryProvider):
    """History provider that keeps messages as nodes `:__AgentMessage__`; errors as for GraphStore.

    Of a long session the newest `most` messages are loaded.
    """

    def __init__(
        self,
        connection: ConnectionConfig,
        source_id: str = "neo4j-history",
        *,
        most: int = 200,
        **stored: Any,  # noqa: ANN401 - HistoryProvider's own
    ) -> None:
        """Open nothing yet; `stored` are HistoryProvider's arguments."""
        super().__init__(source_id, **stored)
        self._connection, self._most = connection, most
        self._driver: AsyncDriver | None = None

    async def __aenter__(self) -> Self:
        """Connect, and create the index and constraints."""
        login = (self._connection.username, self._connection.password.get_secret_value())
        self._driver = AsyncGraphDatabase.driver(
            self._connection.uri, auth=login, notifications_min_severity="OFF"
        )
        try:
            for statement in SCHEMA.split(";"):
                await self._run(statement)
        except BaseException:
            await self._driver.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connection."""
        if self._driver is not None:
            await self._driver.close()

    async def get_messages(
        self,
        session_id: str | None,
        **_rest: Any,  # noqa: ANN401 - the framework's own
    ) -> list[Message]:
        """Return a session's newest messages, the oldest of them first."""
        rows = await self._run(LOAD, session_id=session_id or "", most=self._most)
        return [message for _, message in reversed(rows)]

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        **_rest: Any,  # noqa: ANN401 - the framework's own
    ) -> None:
        """Keep messages behind those of the session."""
        kept = [
            {"message": json.dumps(one.to_dict(), default=str), "text": one.text}
            for one in messages
        ]
        await self._run(SAVE, session_id=session_id or "", messages=kept)

    async def search(
        self, text: str, session_id: str | None = None, most: int = 10
    ) -> list[tuple[str, Message]]:
        """Return the messages nearest to a text by its words, each with its session."""
        terms = words_of_any_field(text)
        if not terms:
            return []
        return await self._run(SEARCH, terms=terms, session_id=session_id, most=most)

    async def delete(self, session_id: str) -> None:
        """Remove a session with its messages."""
        await self._run(DELETE, session_id=session_id)

    async def _run(self, statement: str, **parameters: object) -> list[tuple[str, Message]]:
        if self._driver is None:
            raise RuntimeError("Neo4jHistoryProvider must be entered: `async with`.")
        with translated():
            found = await self._driver.execute_query(
                statement, parameters, database_=self._connection.database
            )
        return [
            (row["session_id"], Message.from_dict(json.loads(row["message"])))
            for row in found.records
            if "message" in row.keys()  # noqa: SIM118 - a record's keys, not its values
        ]

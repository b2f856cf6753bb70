"""One long-lived Neo4j driver, opened on first use, with limits that suit a function."""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, ClassVar, Self, TypeVar

from neo4j import (
    READ_ACCESS,
    WRITE_ACCESS,
    AsyncDriver,
    AsyncGraphDatabase,
    AsyncManagedTransaction,
    AsyncSession,
    EagerResult,
    Query,
    Record,
    RoutingControl,
    SummaryCounters,
    unit_of_work,
)
from neo4j.warnings import PreviewWarning

from drift.core.outcomes import Outcomes
from drift.graph.errors import translated
from drift.telemetry import servers

POOL_SIZE = 20
"""Connections of one process."""

# The defaults wait for minutes; a request has seconds. A dead server is given up after about two of
# them. Cloud networks drop what is idle for four minutes and tell neither end; a check of such a
# connection waits as long as a request may wait for any. So a connection is replaced before it can
# be that old, and the check is for what breaks sooner.
_LIMITS: Mapping[str, Any] = {
    "max_connection_pool_size": POOL_SIZE,
    "connection_acquisition_timeout": 10,
    "connection_timeout": 3,
    "connection_write_timeout": 10,
    "max_connection_lifetime": 200,
    "liveness_check_timeout": 60,
    "max_transaction_retry_time": 2,
    "keep_alive": True,
    "notifications_min_severity": "OFF",
    "telemetry_disabled": True,
    "user_agent": "drift-neo4j",
}

READ_TIMEOUT_S = 10.0
WRITE_TIMEOUT_S = 120.0
PATIENCE_S = 15.0
"""What a statement may take beyond its own time, to get or open a connection; after that nobody is
at the other end."""
WHOLE_GRAPH_S = 3600.0
"""How long a statement over a whole graph may take: no request waits for it."""

READS: Mapping[str, Any] = {"app": "drift", "access": "read"}
"""What the server lists beside a statement that only reads, so that a writer can wait for it."""
_WRITES: Mapping[str, Any] = {"app": "drift"}

Statement = Callable[[str, Mapping[str, Any]], Awaitable[EagerResult]]
"""Runs one statement of a transaction."""

_T = TypeVar("_T")


class Connection:
    """Runs statements against one database, for all tasks of a loop, and translates every error."""

    patience: ClassVar[float] = 1.0
    """How many times as long all may take: commands raise it, whose servers share a machine."""

    def __init__(self, uri: str, username: str, password: str, database: str | None) -> None:
        """Name the server, the login and the database; nothing is opened.

        None is the user's home database, which there is none of over HTTP.
        """
        self._uri = uri
        self._is_http = uri.startswith("http")
        self._auth = (username, password)
        self._database = database
        self._driver: AsyncDriver | None = None
        self.outcomes = Outcomes()
        """Of what requests ask, beside health checks."""

    async def read(
        self, text: str, parameters: Mapping[str, Any], timeout_s: float = READ_TIMEOUT_S
    ) -> EagerResult:
        """Run a statement that may only read, for `timeout_s` seconds; errors as in the table."""
        return await self._run(text, parameters, RoutingControl.READ, timeout_s)

    async def write(self, text: str, parameters: Mapping[str, Any]) -> EagerResult:
        """Run a statement in its own transaction; errors as for `read`."""
        return await self._run(text, parameters, RoutingControl.WRITE, WRITE_TIMEOUT_S)

    async def _run(
        self, text: str, parameters: Mapping[str, Any], routing: RoutingControl, timeout_s: float
    ) -> EagerResult:
        reads = routing is RoutingControl.READ
        seconds = timeout_s * self.patience
        query = Query(text, **self._told(seconds, READS if reads else _WRITES))
        operation: servers.Statement = "read" if reads else "write"
        with translated(http=self._is_http), servers.graph_call(operation, self._database):
            async with asyncio.timeout(seconds + PATIENCE_S * self.patience):
                return await self._opened().execute_query(
                    query, dict(parameters), database_=self._database, routing_=routing
                )

    async def transaction(
        self, work: Callable[[Statement], Awaitable[_T]], timeout_s: float = WRITE_TIMEOUT_S
    ) -> _T:
        """Run the statements of `work` in one transaction; it commits when `work` returns.

        `work` may be run again from its beginning: the driver repeats what a server refused for the
        moment. Errors as for `read`, and those of `work`.
        """
        seconds = timeout_s * self.patience

        @unit_of_work(**self._told(seconds))
        async def unit(transaction: AsyncManagedTransaction) -> _T:
            return await work(
                lambda text, parameters: self._statement(transaction, text, parameters)
            )

        with translated(), servers.graph_call("write", self._database):
            async with (
                asyncio.timeout(seconds + PATIENCE_S * self.patience),
                self._session(WRITE_ACCESS) as session,
            ):
                return await session.execute_write(unit)

    async def _statement(
        self, transaction: AsyncManagedTransaction, text: str, parameters: Mapping[str, Any]
    ) -> EagerResult:
        """Run a statement of a transaction; tests profile it here."""
        return await (await transaction.run(text, dict(parameters))).to_eager_result()

    def _session(self, access: str) -> AsyncSession:
        return self._opened().session(database=self._database, default_access_mode=access)

    async def stream(
        self, text: str, parameters: Mapping[str, Any], access: str = READ_ACCESS
    ) -> AsyncGenerator[Record]:
        """Yield the records of a statement that looks at a whole graph; errors as for `read`."""
        with translated():
            async with self._session(access) as session:
                query = Query(text, **self._told(WHOLE_GRAPH_S))
                async for record in await session.run(query, dict(parameters)):
                    yield record

    async def rows(
        self, text: str, parameters: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """Return all records of such a statement; errors as for `read`."""
        return [dict(record) async for record in self.stream(text, parameters or {})]

    async def write_in_batches(self, text: str, parameters: Mapping[str, Any]) -> SummaryCounters:
        """Run a statement that commits by itself (CALL ... IN TRANSACTIONS); return its changes."""
        with translated():
            async with self._session(WRITE_ACCESS) as session:
                query = Query(text, **self._told(WHOLE_GRAPH_S))
                result = await session.run(query, dict(parameters))
                return (await result.consume()).counters

    def _told(self, timeout_s: float, metadata: Mapping[str, Any] = _WRITES) -> dict[str, Any]:
        """Return what a server is told of a statement; the Query API takes nothing of it."""
        if self._is_http:
            return {}
        return {"timeout": timeout_s, "metadata": dict(metadata)}

    def _opened(self) -> AsyncDriver:
        if self._driver is None:
            if self._is_http:  # where no setting keeps its notifications away
                logging.getLogger("neo4j.notifications").setLevel(logging.ERROR)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PreviewWarning)  # so the driver calls HTTP
                limits = dict(_LIMITS)
                for wait in ("connection_acquisition", "connection", "connection_write"):
                    limits[f"{wait}_timeout"] *= self.patience
                self._driver = AsyncGraphDatabase.driver(self._uri, auth=self._auth, **limits)
        return self._driver

    async def close(self) -> None:
        """Close the driver; a later call opens a new one."""
        driver, self._driver = self._driver, None
        if driver is not None:
            await driver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

"""A retrieval query of people's own: what it must say, and that it only reads, and ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from neo4j import Driver, EagerResult, Query, RoutingControl
from neo4j.exceptions import ClientError

from drift.core.errors import GraphMisconfiguredError

COLUMNS = ("text", "score")
OUTSIDE = ("procedurecall", "loadcsv")
"""Operators of a plan that may do more than read the graph: load files, ask servers."""
EXPLAIN = re.compile(r"\s*EXPLAIN\b", re.IGNORECASE)

_NO_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`""", re.DOTALL
)
_RETURN = re.compile(r"\bRETURN\b", re.IGNORECASE)
_ORDER = re.compile(r"\bORDER\s+BY\s+score\s+DESC\b", re.IGNORECASE)


def require_shape(query: str) -> None:
    """Check what can be seen in the words of a query.

    Raises:
        ValueError: it does not use `node` and `score`, or does not end with its results in order.
    """
    code = _NO_CODE.sub(" ", query)
    for name in ("node", "score"):
        if not re.search(rf"\b{name}\b", code):
            raise ValueError(f"retrieval_query must use `{name}`, which the search gives it")
    returned = _RETURN.split(code)[-1] if _RETURN.search(code) else ""
    if not returned:
        raise ValueError("retrieval_query must RETURN at least `text` and `score`")
    if not _ORDER.search(returned):
        raise ValueError("retrieval_query must end with ORDER BY score DESC")


def require_reading(driver: Driver, database: str | None, query: str) -> None:
    """Have the database plan a query, and check that it only reads and returns its columns.

    Raises:
        GraphMisconfiguredError: it cannot be planned, writes, calls procedures, loads files, or
            returns no `text` and `score`.
    """
    tail = f"EXPLAIN MATCH (node) WITH node, 1.0 AS score {query}"
    try:
        planned = driver.execute_query(tail, database_=database)
    except ClientError as error:
        raise GraphMisconfiguredError(f"retrieval_query: {error.message}") from error

    missing = [name for name in COLUMNS if name not in planned.keys]
    if missing:
        columns = ", ".join(planned.keys)
        raise GraphMisconfiguredError(
            f"retrieval_query must return `text` and `score`; it returns {columns}"
        )


def read_only(driver: Driver, timeout_s: float) -> Driver:
    """Have every statement of a driver read, within a time; refuse plans that reach outside.

    What was planned with EXPLAIN is looked at: the retriever that writes its own Cypher plans each
    statement before it runs it.
    """
    run: Callable[..., EagerResult] = driver.execute_query

    def execute_query(
        query_: str | Query,
        parameters_: object = None,
        **options: Any,  # noqa: ANN401 - the driver's own
    ) -> EagerResult:
        options["routing_"] = RoutingControl.READ
        text = query_.text if isinstance(query_, Query) else query_
        result = run(Query(text, timeout=timeout_s), parameters_, **options)
        if EXPLAIN.match(text):
            require_reading_plan(result)
        return result

    driver.execute_query = execute_query  # type: ignore[method-assign, assignment]
    return driver


def require_reading_plan(planned: EagerResult) -> None:
    """Check a plan; GraphMisconfiguredError where it does more than read the graph."""
    kind = planned.summary.query_type
    if kind != "r":
        raise GraphMisconfiguredError(f"The query must only read; Neo4j calls it {kind!r}.")
    for operator in _operators(planned.summary.plan):
        if operator.lower().startswith(OUTSIDE):
            raise GraphMisconfiguredError(
                f"The query must read the graph alone, no procedures or files; it has {operator}."
            )


def _operators(plan: Mapping[str, Any] | None) -> Iterator[str]:
    waiting = [plan] if plan else []
    while waiting:
        one = waiting.pop()
        yield str(one.get("operatorType", ""))
        waiting.extend(one.get("children", ()))

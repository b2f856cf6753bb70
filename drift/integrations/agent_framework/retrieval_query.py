"""A retrieval query of people's own: what it must say, and that it only reads, and ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from neo4j import Driver, EagerResult, Query, RoutingControl
from neo4j.exceptions import ClientError

from drift.core.errors import GraphMisconfiguredError

READING = frozenset(  # a list of words in quotes would be as long again
    """
    AllNodesScan AntiConditionalApply AntiSemiApply Apply Argument AssertSameNode
    AssertSameRelationship BidirectionalRepeat CacheProperties CartesianProduct ConditionalApply
    DirectedAllRelationshipsScan DirectedRelationshipByElementIdSeek DirectedRelationshipByIdSeek
    DirectedRelationshipFulltextIndexSearch DirectedRelationshipIndexContainsScan
    DirectedRelationshipIndexEndsWithScan DirectedRelationshipIndexScan
    DirectedRelationshipIndexSeek DirectedRelationshipIndexSeekByRange DirectedRelationshipTypeScan
    DirectedRelationshipUniqueIndexSeek DirectedRelationshipUniqueIndexSeekByRange
    DirectedRelationshipVectorIndexSearch DirectedUnionRelationshipTypesScan Distinct
    DynamicDirectedRelationshipTypeLookup DynamicLabelNodeLookup
    DynamicUndirectedRelationshipTypeLookup Eager EagerAggregation EmptyResult ExhaustiveLimit
    Expand Filter IntersectionNodeByLabelsScan LetAntiSemiApply LetSelectOrAntiSemiApply
    LetSelectOrSemiApply LetSemiApply Limit MultiNodeIndexSeek NodeByElementIdSeek NodeByIdSeek
    NodeByLabelScan NodeCountFromCountStore NodeFulltextIndexSearch NodeHashJoin
    NodeIndexContainsScan NodeIndexEndsWithScan NodeIndexScan NodeIndexSeek NodeIndexSeekByRange
    NodeLeftOuterHashJoin NodeRightOuterHashJoin NodeUniqueIndexSeek NodeUniqueIndexSeekByRange
    NodeVectorIndexSearch Optional OptionalExpand OrderedAggregation OrderedDistinct OrderedUnion
    PartialSort PartialTop ProduceResults ProjectEndpoints Projection
    RelationshipCountFromCountStore Repeat RollUpApply SelectOrAntiSemiApply SelectOrSemiApply
    SemiApply ShortestPath Skip Sort StatefulShortestPath SubtractionNodeByLabelsScan Top
    TriadicBuild TriadicFilter TriadicSelection UndirectedAllRelationshipsScan
    UndirectedRelationshipByElementIdSeek UndirectedRelationshipByIdSeek
    UndirectedRelationshipFulltextIndexSearch UndirectedRelationshipIndexContainsScan
    UndirectedRelationshipIndexEndsWithScan UndirectedRelationshipIndexScan
    UndirectedRelationshipIndexSeek UndirectedRelationshipIndexSeekByRange
    UndirectedRelationshipTypeScan UndirectedRelationshipUniqueIndexSeek
    UndirectedRelationshipUniqueIndexSeekByRange UndirectedRelationshipVectorIndexSearch
    UndirectedUnionRelationshipTypesScan Union UnionNodeByLabelsScan Unwind ValueHashJoin
    VarLengthExpand
    """.split()  # noqa: SIM905 - as said above
)
"""Operators of plans of Neo4j 5.26 and 2026 that read the graph and do nothing else.

The parallel runtime puts `Partitioned` in front of some.
"""
FUNCTIONS = frozenset(
    {"date", "datetime", "duration", "localdatetime", "localtime", "point", "time", "vector"}
)
"""What the names of Cypher's own functions begin with, of those that have a dot."""
EXPLAIN = re.compile(r"\s*EXPLAIN\b", re.IGNORECASE)

_NO_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`""", re.DOTALL
)
_NAME = r"(?:`[^`]*`|\w++)"


def require_shape(query: str) -> None:
    """Check what can be seen in the words of a query.

    Raises:
        ValueError: it does not use `node` and `score`, or does not end with its results in order.
    """
    code = _NO_CODE.sub(" ", query)
    for name in ("node", "score"):
        if not re.search(rf"\b{name}\b", code):
            raise ValueError(f"retrieval_query must use `{name}`, which the search gives it")
    _, *returns = re.split(r"\bRETURN\b", code, flags=re.IGNORECASE)
    returned = returns[-1] if returns else ""
    if not returned:
        raise ValueError("retrieval_query must RETURN at least `text` and `score`")
    if not re.search(r"\bORDER\s+BY\s+score\s+DESC\b", returned, re.IGNORECASE):
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

    missing = [name for name in ("text", "score") if name not in planned.keys]
    if missing:
        columns = ", ".join(planned.keys)
        raise GraphMisconfiguredError(
            f"retrieval_query must return `text` and `score`; it returns {columns}"
        )


def read_only(driver: Driver, timeout_s: float, *, is_of_model: bool = False) -> Driver:
    """Have every statement of a driver read, within a time; refuse what does more than read.

    What was planned with EXPLAIN is looked at: the retriever that writes its own Cypher plans each
    statement before it runs it. A statement `is_of_model` calls only functions of Cypher's own: a
    plug-in's may ask other servers.
    """
    run: Callable[..., EagerResult] = driver.execute_query

    def execute_query(
        query_: str | Query,
        parameters_: object = None,
        **options: Any,  # noqa: ANN401 - the driver's own
    ) -> EagerResult:
        options["routing_"] = RoutingControl.READ
        text = query_.text if isinstance(query_, Query) else query_
        is_planned = EXPLAIN.match(text) is not None
        if is_planned and is_of_model:
            require_own_functions(text)
        result = run(Query(text, timeout=timeout_s), parameters_, **options)
        if is_planned:
            require_reading_plan(result, run("EXPLAIN RETURN 1", **options))
        return result

    driver.execute_query = execute_query  # type: ignore[method-assign, assignment]
    return driver


def require_reading_plan(planned: EagerResult, here: EagerResult) -> None:
    """Check a plan; GraphMisconfiguredError where it does more than read this database's graph.

    `here` is the plan of a statement that names no database.
    """
    kind = planned.summary.query_type
    if kind != "r":
        raise GraphMisconfiguredError(f"The query must only read; Neo4j calls it {kind!r}.")
    databases = {database for _, database in _operators(here.summary.plan)}
    for operator, database in _operators(planned.summary.plan):
        if operator.removeprefix("Partitioned") not in READING:
            raise GraphMisconfiguredError(
                "The query must read the graph alone: no procedures, files, transactions or lists "
                f"of what the server has. Its plan has {operator}, which is not known to be that."
            )
        if database not in databases:
            raise GraphMisconfiguredError(
                f"The query must read the database of the connection; it reads {database!r}."
            )


def require_own_functions(query: str) -> None:
    """Check the functions of a query; GraphMisconfiguredError for one that is not Cypher's own."""
    # Neo4j turns such escapes into letters before it reads anything
    unescaped = re.sub(r"\\u+([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), query)
    for text in dict.fromkeys((unescaped, query)):
        code = _NO_CODE.sub(lambda found: found[0] if found[0][0] == "`" else " ", text)
        for named, is_called in re.findall(rf"({_NAME}(?:\s*+\.\s*+{_NAME})*+)\s*+(\(?)", code):
            name = re.sub(r"[`\s]", "", named)
            if is_called and "." in name and name.partition(".")[0].lower() not in FUNCTIONS:
                raise GraphMisconfiguredError(
                    f"The query must call nothing but Cypher's own functions; it calls {name}."
                )


def _operators(plan: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    """Yield the operators of a plan, without their details, each with its database."""
    waiting = [plan] if plan else []
    while waiting:
        one = waiting.pop()
        name, _, database = str(one.get("operatorType", "")).partition("@")
        yield name.partition("(")[0], database
        waiting.extend(one.get("children", ()))

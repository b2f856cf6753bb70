"""Cypher that a model writes: it can read the graph and nothing else, whatever it says."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from neo4j import Driver, GraphDatabase

from drift.core.errors import GraphMisconfiguredError
from drift.integrations.agent_framework.retrieval_query import (
    read_only,
    require_own_functions,
    require_reading_plan,
)
from drift.local.stack.neo4j.server import Neo4jServer
from tests.agents.conftest import OWN

READING = """
RETURN 1 AS one
MATCH (n) RETURN n
MATCH (n:P|Q) WHERE n.name CONTAINS 'CALL' AND n:!R RETURN n.name ORDER BY n.age SKIP 1 LIMIT 3
MATCH (n:P&!Q {id: 1})-[:R*1..3]->(m) OPTIONAL MATCH (m)<-[:S]-(o:P) RETURN n, collect(DISTINCT o)
MATCH ()-[r:R|S]-() RETURN type(r), count(*) AS times ORDER BY times DESC LIMIT 5
MATCH (a:P {id: 1}), (b:P {id: 2}), p = shortestPath((a)-[:R*..5]-(b)) RETURN nodes(p)
MATCH p = SHORTEST 2 GROUPS (a:P {id: 1})-[:R]->+(b:P) RETURN p
MATCH (a:P {id: 1}) ((x)-[:R]->(y) WHERE x.age < y.age){1,3} (b) RETURN a, x, y, b
MATCH (n:P) WHERE NOT EXISTS { (n)-[:R]->(m) WHERE m.age > n.age } OR (n)-[:S]->() RETURN n
MATCH (n:P) RETURN n {.name, of: [(n)-[:R]->(m) | m.name], c: COUNT { (n)--() }} AS told
CALL { MATCH (n:P) RETURN n UNION MATCH (n:Q) RETURN n } RETURN n
MATCH (n:P) CALL (n) { MATCH (n)-[:R]->(m) RETURN m ORDER BY m.age LIMIT 1 } RETURN n, m
MATCH (a:P), (b:Q) WHERE a.name = b.title RETURN a, b
UNWIND range(1, 3) AS x MATCH (n) WHERE elementId(n) = toString(x) RETURN n
MATCH (n:P) WHERE point.distance(n.at, point({x: 1, y: 1})) < 10 RETURN date.truncate('day', n.on)
""".strip().split("\n")

REFUSED = {
    "SHOW TRANSACTIONS": "ShowTransactions",
    "SHOW SETTINGS YIELD name, value": "ShowSettings",
    "SHOW PROCEDURES": "ShowProcedures",
    "SHOW FUNCTIONS": "ShowFunctions",
    "SHOW INDEXES": "ShowIndexes",
    "SHOW CONSTRAINTS": "ShowConstraints",
    "SHOW USERS": "must only read",
    "SHOW DATABASES": "must only read",
    "TERMINATE TRANSACTIONS 'neo4j-transaction-1'": "TerminateTransactions",
    "SHOW TRANSACTIONS YIELD transactionId AS t TERMINATE TRANSACTION t YIELD message RETURN 1":
        "Transactions",
    "CALL db.labels": "ProcedureCall",
    "CALL dbms.listConfig()": "it calls dbms.listConfig",
    "MATCH (n) CALL db.schema.visualization() YIELD nodes RETURN n, nodes": "it calls db.schema",
    "MATCH (n) CALL (n) { RETURN n.id AS i } IN TRANSACTIONS RETURN i": "TransactionApply",
    "MATCH (n) LOAD CSV FROM n.url AS line RETURN line": "LoadCSV",
    "DROP INDEX any IF EXISTS": "must only read",
    "MATCH (n) REMOVE n.x": "must only read",
    "RETURN genai.vector.encode('x', 'OpenAI', {token: 't'})": "it calls genai.vector.encode",
    "RETURN `apoc.util`/**/ .`md5` (['x'])": "it calls apoc.util.md5",
    r"RETURN \u0061poc.load('x')": "it calls apoc.load",
    r"RETURN '\u0027, \uu0061poc.load('x')": "it calls apoc.load",
    "RETURN '`' AS a, ai.text.embed('`')": "it calls ai.text.embed",
}  # fmt: skip


@pytest.fixture(
    scope="module", params=["neo4j_2026", pytest.param("neo4j_5", marks=pytest.mark.deep)]
)
def server(request: pytest.FixtureRequest) -> Neo4jServer:
    found: Neo4jServer = request.getfixturevalue(request.param)
    return found


def connected(server: Neo4jServer) -> Driver:
    login = (server.user, server.password)
    return GraphDatabase.driver(server.uri, auth=login, notifications_min_severity="OFF")


def test_what_only_reads_is_planned_and_runs(server: Neo4jServer) -> None:
    with connected(server) as driver:
        reading = read_only(driver, 30, is_of_model=True)
        for statement in READING:
            assert reading.execute_query(f"EXPLAIN {statement}").summary.plan, statement


def test_what_does_more_is_refused_by_its_name(server: Neo4jServer) -> None:
    with connected(server) as driver:
        reading = read_only(driver, 30, is_of_model=True)
        for statement, told in REFUSED.items():
            with pytest.raises(GraphMisconfiguredError) as refused:
                reading.execute_query(f"EXPLAIN {statement}")
            assert told in refused.value.detail, statement


def test_the_write_of_another_connection_is_not_ended(neo4j_2026: Neo4jServer) -> None:
    label = f"AgentWrite_{OWN}"
    ending = "SHOW TRANSACTIONS YIELD transactionId AS t TERMINATE TRANSACTION t YIELD message "
    with connected(neo4j_2026) as other, connected(neo4j_2026) as driver:
        with other.session() as session, session.begin_transaction() as writing:
            writing.run(f"CREATE (:{label})").consume()
            with pytest.raises(GraphMisconfiguredError):
                read_only(driver, 30).execute_query(f"EXPLAIN {ending} RETURN message")
            writing.commit()
        kept = other.execute_query(f"MATCH (n:{label}) DELETE n RETURN count(n) AS n").records
    assert kept[0]["n"] == 1


def refusal(check: Callable[..., None], *given: object) -> str:
    """Return why a check refuses what it is given; empty where it lets it pass."""
    try:
        check(*given)
    except GraphMisconfiguredError as error:
        return error.detail
    return ""


def planned(*operators: str) -> Any:
    """Return what the driver gives for EXPLAIN, of a plan that is a chain of these."""
    plan: dict[str, Any] = {"operatorType": operators[-1]}
    for one in reversed(operators[:-1]):
        plan = {"operatorType": one, "children": [plan]}
    return SimpleNamespace(summary=SimpleNamespace(query_type="r", plan=plan))


@pytest.mark.parametrize(
    ("operators", "told"),
    [
        (("ProduceResults@mine", "PartitionedNodeByLabelScan@mine"), ""),
        (("ProduceResults@mine", "Repeat(All, Trail)@mine"), ""),
        (("ProduceResults@mine", "AllNodesScan@theirs"), "it reads 'theirs'"),
        (("ProduceResults@mine", "RunQueryAt@mine"), "RunQueryAt"),
        (("ProduceResults@mine", "NodeByLabelScanAndMore@mine"), "NodeByLabelScanAndMore"),
        (("",), "known"),
    ],
    ids=["parallel", "details", "another database", "a remote one", "unknown", "none"],
)
def test_a_plan_is_read_to_its_leaves(operators: tuple[str, ...], told: str) -> None:
    here = planned("ProduceResults@mine")
    said = refusal(require_reading_plan, planned(*operators), here)
    assert told in said
    assert bool(told) == bool(said)


def test_words_that_are_no_call_are_no_function() -> None:
    said = (
        "MATCH (n) WHERE n.a.b IN (['x.y(1)']) AND n.name =~ \"a.b(c)\" // c.d(e)\n"
        "RETURN count(n), vector.similarity.cosine(n.v, n.w), Point.Distance(n.p, n.q), size (n.l)"
    )
    assert refusal(require_own_functions, said) == ""
    assert refusal(require_own_functions, f"{said}, x.y(n)")

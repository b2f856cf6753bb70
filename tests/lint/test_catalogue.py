"""Every statement of the product is in the catalogue, whose plans are looked at."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import drift
from tests.contract.statements.catalogue import ARGUMENTS, MODULES, functions

_CLAUSE = re.compile(
    r"(?m)^\s*(?:(?:CALL|CREATE|DROP|FOREACH|MATCH|MERGE|PROFILE|RETURN|SHOW|UNWIND|WITH)"
    r"|(?:DELETE [a-z]|DETACH DELETE|EXPLAIN|LOAD CSV|OPTIONAL MATCH|REMOVE [a-z]|SET [a-z]))\b"
    r"|(?i:^\s*(?:create|match|merge)\s*\()"
)
"""How a line of a statement begins."""

_CYPHER = "graph/cypher/"
PARTS = (
    *(f"{_CYPHER}{part}.py" for part in ("clauses", "finding", "followup", "nearest")),
    *(f"{_CYPHER}{part}.py" for part in ("neighbourhood", "schema", "index_creation")),
    f"{_CYPHER}walk.py",
    "graph/writing/clauses.py",
    "local/prepare/kinds.py",
    "local/prepare/survey.py",
)
"""Modules of parts, of which other modules make the statements."""
OF_OTHERS = {
    "integrations/agent_framework/history.py": "an agent's own nodes, by keys of its own",
    "integrations/agent_framework/retrieval_query.py": "plans what the agent's owner wrote",
    "integrations/agent_framework/retrievers.py": "asks the index that the agent's owner names",
    "local/evals/measured_search.py": "scores whole projects, to compare the search with that",
    "local/infra/rotation.py": "makes and drops users of the server, which no plan is made of",
    "local/stack/neo4j/server.py": "asks a server that has started whether it answers",
}
"""Modules whose statements are not profiled, and why."""


def cypher_in(source: str) -> Iterator[str]:
    """Yield the literals of a module, but docstrings, that hold a line of Cypher."""
    tree = ast.parse(source)
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in told and _CLAUSE.search(node.value):
            yield node.value


def test_the_catalogue_calls_every_function_that_returns_statements() -> None:
    assert set(ARGUMENTS) == set(functions()), (
        "tests/contract/statements/catalogue.py: say what it is called with"
    )


def test_the_catalogue_knows_every_module_that_holds_cypher() -> None:
    root = Path(drift.__file__).parent
    known = {Path(str(module.__file__)) for module in MODULES.values()}
    known |= {root / name for name in (*PARTS, *OF_OTHERS)}
    holding = {path for path in root.rglob("*.py") if any(cypher_in(path.read_text()))}
    assert holding == known, (
        "tests/contract/statements/catalogue.py: name the module, or move its statements"
    )


def test_a_statement_is_seen_wherever_it_stands() -> None:
    assert list(cypher_in('x = ("MATCH (n) "\n  "RETURN n")')) == ["MATCH (n) RETURN n"]
    assert list(cypher_in('def f(x):\n  return f"""\n{x}\nWITH n\nDELETE n"""'))
    assert list(cypher_in('run("create (n)")'))
    assert not list(cypher_in('"""MATCH (n) is what this says."""\nsay("Create it (now)")'))

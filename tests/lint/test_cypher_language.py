"""Every statement parses as Cypher 5 and as Cypher 25, and uses nothing deprecated.

Neo4j's own language package says so.
"""

from __future__ import annotations

import json
import re

import pytest

from tests.contract.statements.catalogue import STATEMENTS
from tests.lint.language_package import BOTH, LOCK, Diagnostic, diagnose, languages_of, told

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600, func_only=True)]

JUSTIFIED: dict[str, str] = {
    "expected T but was Any": "the lists of a filter lie in each other, and a parameter has no type"
}
"""Warnings that are right to stay: a part of the message, and why."""

PLANTED = {
    "syntax": "MATCH (n:__Chunk__ RETURN n",
    "function": "RETURN cosineSimilarity([1.0], [1.0]) AS score",
    "procedure": "CALL db.index.vector.queryAll($index) YIELD node RETURN node",
    "plugin": "CALL apoc.create.uuids(3) YIELD uuid RETURN uuid",
    "variable": "MATCH (n:__Chunk__)\nRETURN m",
    "keys": "CREATE VECTOR INDEX i IF NOT EXISTS FOR (n:__Chunk__) ON (n.embedding) OPTIONS "
    "{indexConfig: {vector.dimensions: 3}}",
    "search": "MATCH (n:__Chunk__) SEARCH n IN (VECTOR INDEX i FOR $v LIMIT 3) RETURN n",
}


@pytest.fixture(scope="module")
def diagnostics() -> list[Diagnostic]:
    """What is said about every statement, and about the planted ones."""
    return diagnose(STATEMENTS | {f"planted {name}": text for name, text in PLANTED.items()})


def test_every_statement_parses_in_its_languages_without_a_warning(
    diagnostics: list[Diagnostic],
) -> None:
    own = [d for d in diagnostics if not d.name.startswith("planted")]
    assert not (left := [d for d in own if not any(part in d.message for part in JUSTIFIED)]), told(
        left
    )
    assert all(any(part in d.message for d in own) for part in JUSTIFIED), (
        "a justification without its warning"
    )


@pytest.mark.parametrize(
    ("name", "languages", "line", "message"),
    [
        ("syntax", BOTH, 1, r"Invalid input 'RETURN'"),
        ("function", BOTH, 1, r"Function cosineSimilarity is not present"),
        ("procedure", BOTH, 1, r"Procedure db.index.vector.queryAll is not present"),
        ("plugin", BOTH, 1, r"Procedure apoc.create.uuids is not present"),
        ("variable", BOTH, 2, r"Variable `m` not defined"),
        ("keys", BOTH, 1, r"Invalid input '\.'"),
        ("search", ("CYPHER 5",), 1, r"Invalid input 'SEARCH'"),
    ],
)
def test_a_planted_mistake_is_found_where_it_is(
    diagnostics: list[Diagnostic], name: str, languages: tuple[str, ...], line: int, message: str
) -> None:
    errors = [
        d
        for d in diagnostics
        if d.name == f"planted {name}" and d.severity == "error" and d.line == line
    ]
    assert {d.language for d in errors if re.search(message, d.message)} == set(languages)


def test_a_statement_is_read_in_the_language_it_names_or_in_both() -> None:
    assert languages_of("CYPHER 25 EXPLAIN RETURN 1") == ("CYPHER 25",)
    assert languages_of("CYPHER 25\nRETURN 1") == ("CYPHER 25",)
    assert languages_of("RETURN 1") == BOTH
    assert {languages_of(text) for text in STATEMENTS.values()} == {BOTH, ("CYPHER 25",)}


def test_the_lock_file_has_versions_and_hashes_and_no_addresses() -> None:
    packages = json.loads(LOCK.read_text())["packages"]
    assert all({"version", "integrity"} <= set(entry) for name, entry in packages.items() if name)
    assert "://" not in LOCK.read_text()

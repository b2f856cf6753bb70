"""Every query of the documents and alerts stands by itself and binds.

So says Kusto's own language service.
"""

from __future__ import annotations

import json
import re

import pytest

from tests.queries.kusto import (
    LOCK,
    ROOT,
    Bound,
    bind,
    of_alerts,
    of_document,
    of_documents,
    of_workbook,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300, func_only=True)]

WHOLE = "traces | extend line = parse_json(message) | where line.event == 'retrying'"
PLANTED = {
    "column": ("traces | where mesage has 'x'", "mesage"),
    "function": ("traces | summarize percentil(severityLevel, 95)", "percentil"),
    "type": ("traces | where severityLevel startswith 'x'", "startswith"),
    "comma": ("traces | summarize count() severityLevel", "Expected"),
    "table": ("lines | where message has 'x'", "lines"),
    "operator": ("traces | wher message has 'x'", "operator expected"),
}
NUMBERS = {"int", "long", "real", "decimal"}


@pytest.fixture(scope="module")
def bound() -> dict[str, Bound]:
    """What is said about every query, and about the planted ones."""
    planted = {f"planted {name}": text for name, (text, _) in PLANTED.items()}
    return bind(of_documents() | of_alerts() | of_workbook() | planted)


def test_every_query_binds(bound: dict[str, Bound]) -> None:
    own = {name: one.errors for name, one in bound.items() if not name.startswith("planted")}
    assert {name: errors for name, errors in own.items() if errors} == {}


def test_every_query_gives_columns(bound: dict[str, Bound]) -> None:
    """A text that is no query at all binds without a word."""
    names = (*of_documents(), *of_alerts(), *of_workbook())
    assert [name for name in names if not bound[name].columns] == []


def test_every_alert_measures_a_number_in_the_column_that_its_rule_reads(
    bound: dict[str, Bound],
) -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "infra").rglob("*.bicep")]
    measured = {
        column for text in sources for column in re.findall(r"metricMeasureColumn: '(\w+)'", text)
    }
    assert len(measured) == 1
    types = {name: {bound[name].columns.get(column) for column in measured} for name in of_alerts()}
    assert {name: found for name, found in types.items() if not found <= NUMBERS} == {}


def test_every_query_of_the_templates_is_read_as_an_alert() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "infra").rglob("*.bicep")]
    assert len(of_alerts()) == sum(text.count("query: '''") for text in sources) >= 5


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_mistake_is_found(bound: dict[str, Bound], name: str) -> None:
    _, named = PLANTED[name]
    assert any(named in error for error in bound[f"planted {name}"].errors)


def test_an_empty_line_ends_a_query_as_it_does_in_the_portal() -> None:
    text = f"```kusto\nlet since = ago(1h);\n\n{WHOLE}\n```\n"
    assert of_document(text) == ["let since = ago(1h);", WHOLE]


def test_queries_in_tables_and_sentences_are_read_too() -> None:
    in_a_cell = WHOLE.replace("|", "\\|")
    assert of_document(f"| slow | `azd deploy`, then `{in_a_cell}` |\n") == [WHOLE]


def test_the_documents_hold_queries_in_blocks_and_in_tables() -> None:
    names = {name.partition(" ")[0] for name in of_documents()}
    assert {"observability.md", "deploy.md"} <= names


def test_the_lock_file_has_versions_and_hashes_and_no_addresses() -> None:
    packages = json.loads(LOCK.read_text(encoding="utf-8"))["packages"]
    assert all({"version", "integrity"} <= set(entry) for name, entry in packages.items() if name)
    assert "://" not in LOCK.read_text(encoding="utf-8")

"""The rules over the committed snapshots and the files beside the template, on every machine."""

from __future__ import annotations

import pytest

from tests.infra.rules import Rule, callers, files, snapshot, template
from tests.infra.ways import ROOT, Project, way_name, ways_of_people

PROJECT = Project()


@pytest.mark.parametrize(
    "rule", [*snapshot.RULES, *callers.RULES, *files.RULES], ids=lambda rule: rule.__name__
)
def test_rule(rule: Rule) -> None:
    assert list(rule(PROJECT)) == []


WAYS = {
    "default",
    "private",
    "all-private",
    "own-network",
    "own-models-and-cache",
    "own-models-private",
    "own-secret",
    "without-redis",
    "developer",
    "keys",
    "entra",
    "second-region",
}


def test_each_way_of_the_docs_has_a_parameter_file_that_says_what_it_is() -> None:
    docs = (ROOT / "docs/deploy.md").read_text()
    files_of_people = ways_of_people()
    assert {way_name(file) for file in files_of_people} >= WAYS
    for file in files_of_people:
        assert file.read_text().startswith("// ")
        assert way_name(file) not in WAYS or f"`{way_name(file)}`" in docs


def test_every_rule_has_a_sentence() -> None:
    assert all(
        (rule.__doc__ or "").strip()
        for rule in [*snapshot.RULES, *callers.RULES, *files.RULES, *template.RULES]
    )

"""The rules over the committed snapshots and the files beside the template, on every machine."""

from __future__ import annotations

import pytest

from tests.infra.rules import Rule, every_way, files
from tests.infra.ways import ROOT, Project, way_name, ways_of_people

PROJECT = Project()


@pytest.mark.parametrize("rule", [*every_way.RULES, *files.RULES], ids=lambda rule: rule.__name__)
def test_rule(rule: Rule) -> None:
    assert list(rule(PROJECT)) == []


def test_each_way_of_the_docs_has_a_parameter_file_that_says_what_it_is() -> None:
    docs = (ROOT / "docs/deploy.md").read_text()
    assert len(ways_of_people()) >= 12
    for file in ways_of_people():
        assert file.read_text().startswith("// ")
        assert f"`{way_name(file)}`" in docs

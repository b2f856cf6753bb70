"""The rules over the files beside the template, on every machine."""

from __future__ import annotations

import pytest

from tests.infra.rules import files
from tests.infra.ways import ROOT, Project, Rule, ways_of_people


@pytest.mark.parametrize("rule", files.RULES, ids=lambda rule: rule.__name__)
def test_rule(rule: Rule) -> None:
    assert list(rule(Project())) == []


def test_each_way_of_the_docs_has_a_parameter_file_that_says_what_it_is() -> None:
    docs = (ROOT / "docs/deploy.md").read_text()
    assert len(ways_of_people()) >= 12
    for file in ways_of_people():
        assert file.read_text().startswith("// ")
        assert f"`{file.stem}`" in docs

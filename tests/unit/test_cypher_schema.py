"""Both graph schemas are read by statements of one story, and only one of them has tenants."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from drift.graph.cypher import search as statements
from drift.graph.cypher.primer import primer
from drift.graph.cypher.schema import DEFAULT, V1, Schema
from drift.graph.text_query import lucene

Story = Callable[[str | None, Schema], str]
STORIES: dict[str, Story] = {
    "primer": lambda _, schema: primer(schema),
    "follow-up": statements.followup,
    "positions": lambda _, schema: statements.positions(schema),
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_without_tenants_no_statement_names_one_or_an_edge_of_the_other_schema(
    story: Story,
) -> None:
    text = story(None, V1)
    for word in ("project", "HAS_ENTITY", "HAS_CHUNK", "RELATED", "__Document__"):
        assert word not in text


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_what_a_question_brings_stands_inside_one_map(story: Story) -> None:
    for index in (None, "an_index"):
        text = story(index, DEFAULT)
        assert "$asked.project_id" in text
        assert not re.findall(r"\$(?:project_id|communities|lucene|title_keys)\b", text)


def test_the_words_of_a_question_are_searched_within_the_tenant_if_there_is_one() -> None:
    assert lucene("Where is the Old Mill?", None) == ('text:(old mill old_mill "old.mill" oldmill)')
    in_project = lucene("Where is the Old Mill?", "team")
    assert in_project.endswith(
        ' +(text:(old mill old_mill "old.mill" oldmill)'
        " heading:(old mill)^0.5 name_words:(old mill)^0.5)"
    )
    assert lucene("Where is the Old Mill?", "team").startswith("+project_key:p")
    assert not lucene("where is the", None)
    assert not lucene("where is the", "team")

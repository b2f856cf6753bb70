"""What of a node is searched, and which properties it may have."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from drift.contracts.nodes import RESERVED, NewNode, NodeChange
from drift.model.found_nodes import MOST_CHARACTERS
from drift.nodes.node_text import searchable_text, text_hash, title_of


@pytest.mark.parametrize(
    ("properties", "text"),
    [
        ({"title": "Ada", "name": "Countess", "description": "She wrote."}, "Ada\nShe wrote."),
        ({"title": " ", "name": "Ada", "description": " She wrote. "}, "Ada\nShe wrote."),
        ({"title": 7, "name": "Ada", "description": "She wrote."}, "Ada\nShe wrote."),
        ({"name": "Ada"}, ""),
        ({"description": "She wrote."}, ""),
        ({"name": "Ada", "description": ["She", "wrote"]}, ""),
    ],
)
def test_the_text_is_title_or_name_and_description(properties: dict[str, Any], text: str) -> None:
    assert searchable_text(properties) == text


@given(st.text(), st.text())
def test_the_text_is_bounded_and_begins_with_the_title(title: str, description: str) -> None:
    properties = {"title": title * 5000, "description": description * 5000}
    text = searchable_text(properties)
    assert len(text) <= MOST_CHARACTERS
    assert not text or text.startswith(title_of(properties)[:MOST_CHARACTERS])


def test_a_hash_is_of_the_text_the_model_and_its_length() -> None:
    same = text_hash("Ada", "a", 3)
    others = [text_hash("Ada.", "a", 3), text_hash("Ada", "b", 3), text_hash("Ada", "a", 4)]
    assert same == text_hash("Ada", "a", 3)
    assert same not in others


@pytest.mark.parametrize(
    "properties",
    [
        {"a": {"b": 1}},
        {"a": None},
        {"a": [1, "b"]},
        {"a": 2**63},
        {"a": "\ud800"},
        {"a\x00": 1},
        {"": 1},
        {"x" * 101: 1},
        {f"p{n}": n for n in range(101)},
        *({name: "mine"} for name in sorted(RESERVED)),
    ],
)
def test_what_a_node_cannot_hold_is_refused(properties: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        NodeChange.model_validate({"properties": properties})


def test_what_a_node_can_hold_is_taken() -> None:
    held = {"a": "", "b": True, "c": -1, "d": 0.5, "e": [], "f": ["x"], "g": [1, 2], "h": [False]}
    new = NewNode.model_validate({"label": "Person", "properties": held})
    assert new.properties == held

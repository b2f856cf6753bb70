"""What the tools say of themselves: schemas that every catalogue takes, and what they do."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest
from mcp_types import Tool

from drift.integrations.mcp_server import build_server
from tests.mcp.calling import TOOLS


def nobody(_request: object) -> NoReturn:
    raise AssertionError("nothing is called")


REFUSED = {"anyOf", "allOf", "oneOf", "not", "$ref", "$defs", "if", "patternProperties"}
"""What Foundry's catalogue, and other readers of schemas, do not take."""


SERVER = build_server(nobody)


@pytest.fixture
async def tools() -> dict[str, Tool]:
    return {one.name: one for one in await SERVER.list_tools()}


def parts_of(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield a schema and all schemas in it."""
    assert isinstance(schema, dict), schema  # `true` is a schema that clients refuse
    yield schema
    for one in schema.get("properties", {}).values():
        yield from parts_of(one)
    if "items" in schema:
        yield from parts_of(schema["items"])


async def test_every_schema_is_flat_and_says_one_type_at_each_place(tools: dict[str, Tool]) -> None:
    assert set(tools) == TOOLS
    for one in tools.values():
        for schema in (one.input_schema, one.output_schema):
            for part in parts_of(schema):
                assert not REFUSED & set(part), (one.name, part)
                assert isinstance(part["type"], str), (one.name, part)
                assert part["type"] != "null", (one.name, part)


async def test_arguments_are_plain_described_and_the_only_ones(tools: dict[str, Tool]) -> None:
    for one in tools.values():
        assert one.input_schema["type"] == "object"
        assert one.input_schema["additionalProperties"] is False
        for name, argument in one.input_schema["properties"].items():
            kinds = {"array"} if name == "history" else {"string", "integer"}
            assert argument["type"] in kinds, name
            assert argument["description"], name
    arguments = tools["retrieve"].input_schema["properties"]
    assert set(arguments) == {"question", "project", "depth", "history", "filter"}
    assert (arguments["depth"]["default"], arguments["history"]["default"]) == ("auto", [])
    assert set(arguments["history"]["items"]["properties"]) == {"role", "content"}
    assert "default" not in arguments["filter"]


async def test_no_tool_writes_or_leaves_the_projects(tools: dict[str, Tool]) -> None:
    hints = {name: one.annotations for name, one in tools.items()}
    for name, said in hints.items():
        assert said is not None
        assert (said.read_only_hint, said.destructive_hint, said.open_world_hint) == (
            True,
            False,
            False,
        )
        assert said.idempotent_hint is (name != "retrieve")


async def test_models_are_told_how_to_choose_and_that_texts_are_data() -> None:
    said = SERVER.instructions or ""
    assert all(name in said for name in TOOLS)
    assert "never instructions" in said
    for one in await SERVER.list_tools():
        words = " ".join((one.description or "").split())
        assert one.name == "list_projects" or "never instructions" in words


def test_building_it_makes_no_listener_of_other_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    level = root.level
    build_server(nobody)
    assert (root.handlers, root.level) == ([], level)

"""A mapping is read from one setting, and nothing of it is Cypher before it was checked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from drift.graph.connection import Connection
from drift.graph.cypher.schema import schema_of
from drift.graph.cypher.search import EDGE_TYPES
from drift.graph.indexes import IndexNames
from drift.graph.inventory import MOST_TYPES, Probe
from drift.graph.mapping import KNOWN, GraphMapping, read_mapping
from drift.graph.versions import OwnVectors


@pytest.mark.parametrize("mapping", [*KNOWN.values(), GraphMapping(chunk="A b", relation="X|Y")])
def test_a_mapping_is_read_as_it_was_written_down(mapping: GraphMapping) -> None:
    assert read_mapping(mapping.document_text()) == mapping
    assert schema_of(mapping).mapping == mapping


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("v2", "must be default, v1"),
        ("{", "no mapping as JSON"),
        ("{}" + " " * 5000, "more than 4,000 characters"),
        ('{"a":' * 700, "no mapping as JSON|nested too deeply"),
        ('{"chunks": "A"}', "has the field 'chunks'; a mapping has chunk, text"),
        ('{"chunk": "A", "chunk": "B"}', "names a field twice"),
        ('{"chunk": 7}', "'chunk' is no text"),
        ('{"chunk": "A`) DETACH DELETE (n"}', "no backtick"),
        ('{"chunk": "A\\\\u0060"}', "no backtick"),
        ('{"text": "x}) RETURN 1//"}', "letters, digits and _ only"),
        ('{"mention": "A|"}', "TYPE, A|B or <TYPE"),
        ('{"mention": ""}', "TYPE, A|B or <TYPE"),
        ('{"chunk": "A", "entity": "A"}', "stands for two things"),
    ],
)
def test_what_is_no_mapping_is_refused_by_name(value: str, says: str) -> None:
    with pytest.raises(ValueError, match=says.replace("|B", r"\|B")):
        read_mapping(value)


LISTED: dict[tuple[str, ...], str] = {
    ("KNOWS", "PART_OF", "SAILS WITH", "FROM_CHUNK", "NEXT_CHUNK"): "KNOWS|SAILS WITH",
    ("FROM_CHUNK",): "",
    ("KNOWS", "A|B"): "",
    tuple(f"T{number}" for number in range(MOST_TYPES + 1)): "",
}


@pytest.mark.parametrize("listed", LISTED)
async def test_relations_of_any_type_are_named_where_the_server_lists_them(
    listed: tuple[str, ...],
) -> None:
    class Server:
        async def read(self, text: str, _: object) -> SimpleNamespace:
            assert text == EDGE_TYPES
            return SimpleNamespace(records=[{"type": one} for one in listed])

    connection = cast("Connection", Server())
    schema = schema_of(GraphMapping(mention="<FROM_CHUNK"))
    probe = Probe(OwnVectors(connection), connection, IndexNames(), schema)
    assert (await probe.schema()).mapping.relation == LISTED[listed]

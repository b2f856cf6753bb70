"""Names that a server is told of before the first test.

A statement with a name that the server has not met is planned again once it has met it, which takes
each statement seconds, and the tests of a whole run share their servers.
"""

from __future__ import annotations

import re

from drift.graph.connection import Connection
from tests.contract.statements.catalogue import STATEMENTS

_TEXT = "\n".join(STATEMENTS.values())
PROPERTIES = sorted(
    {
        *re.findall(r"(?:\.|[{,]\s*(?=\w+:))([a-z_]\w*)", _TEXT),
        *re.findall(r"\.`([^`]+)`", _TEXT),
    }
)
LABELS = sorted(set(re.findall(r"[:|&](\w*[a-z]\w*)", _TEXT)))
TYPES = sorted(set(re.findall(r"[:|]([A-Z][A-Z_]+)\b", _TEXT)))


OWN_LABEL = "head([l IN labels(n) WHERE l STARTS WITH '__'])"
"""The label of ours that a node n has: labels stand in the order in which a server met them."""


async def know_names(connection: Connection, *, types: list[str]) -> None:
    """Tell a server the labels and properties of all statements, and these types."""
    for procedure, names in (
        ("createProperty", PROPERTIES),
        ("createLabel", LABELS),
        ("createRelationshipType", types),
    ):
        text = f"UNWIND $names AS name CALL db.{procedure}(name)"
        await connection.write(text, {"names": names})

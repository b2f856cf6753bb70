"""Making a written project odd in ways that no writer would."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from drift.model.graph import CommunityId
from tests.contract.graph_backends import Backend

KEYS = {"__Document__": "id", "__Chunk__": "id", "__Entity__": "id", "__Community__": "community"}


async def alter(
    backend: Backend, project_id: str, label: str, key: CommunityId, **properties: Any
) -> None:
    """Set properties of one node; None removes them.

    An entity without a title has no key of one either.
    """
    text = f"""MATCH (n:{label} {{project_id: $p, {KEYS[label]}: $key}})
    SET n += $properties,
      n.title_key = CASE WHEN n.title IS NOT NULL THEN n.title_key END
    RETURN n.{KEYS[label]}"""
    parameters = {"p": project_id, "key": key, "properties": _as_properties(properties)}
    assert len((await backend.connection.write(text, parameters)).records) == 1


async def bare_relations(backend: Backend, project_id: str) -> None:
    """Take description and weight from every relation of the project."""
    text = """MATCH (e:__Entity__)-[r:RELATED]->() WHERE e.project_id = $p
    REMOVE r.description, r.weight"""
    await backend.connection.write(text, {"p": project_id})


async def nest(
    backend: Backend, project_id: str, edges: Iterable[tuple[CommunityId, CommunityId]]
) -> None:
    """Put communities below further parents: (community, parent)."""
    text = """
    UNWIND $edges AS edge
    MATCH (a:__Community__ {project_id: $p, community: edge[0]})
    MATCH (b:__Community__ {project_id: $p, community: edge[1]})
    MERGE (a)-[:IN_COMMUNITY]->(b)
    """
    await backend.connection.write(text, {"p": project_id, "edges": [list(edge) for edge in edges]})


def _as_properties(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in properties.items()
    }

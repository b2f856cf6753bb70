"""What a graph is not ready for: projects that nobody prepared, and knowledge that is behind.

A search that finds nothing tells a project that is not there from one that nobody prepared. A
pipeline knows IN_PROJECT edges; a search finds nodes by the properties that `prepare` sets.
"""

from __future__ import annotations

import shlex
from contextlib import suppress

from drift.core.errors import GraphMisconfiguredError, UpstreamError
from drift.graph.connection import READ_TIMEOUT_S, Connection
from drift.graph.cypher import unprepared as statements
from drift.graph.cypher.schema import Schema
from drift.graph.cypher.search import BEHIND
from drift.graph.parameters import stored_ids

LOOKED_AT = 10_000
"""Edges of a project, and chunks, that are looked at."""


def prepare_project(project_id: str) -> str:
    """Return what to run for a project, as one clause."""
    return f"run `python -m drift prepare --project {shlex.quote(project_id)}`"


async def require_empty(
    connection: Connection, schema: Schema, project_id: str, dimensions: int, timeout_s: float
) -> None:
    """Raise GraphMisconfiguredError where a graph holds a project of which no search sees a node.

    The same where it has nodes, and none of them is a chunk.
    """
    asked = {"project_id": project_id, "project_ids": stored_ids(project_id)}
    values = {"asked": asked, "most": LOOKED_AT, "dimensions": dimensions, "careful": True}
    text = statements.held(schema)
    row = (await connection.read(text, values, min(READ_TIMEOUT_S, timeout_s))).records[0]

    if row["is_held"]:
        keys = "a `project_id` and an `id`, " if schema.has_projects else ""
        raise GraphMisconfiguredError(
            f"The graph holds nodes of this project, and no search can use one: a chunk needs "
            f"{keys}a `{schema.text}`, and an `{schema.vector}` of {dimensions} floats. To mend "
            f"that, {prepare_project(project_id)}, which names what is wrong; with "
            "`--embed` it gives vectors to what has none."
        )
    if row["is_another"]:
        chunk = schema.named("__Chunk__")
        raise GraphMisconfiguredError(
            f"The graph has nodes, but none that is a {chunk}, as GRAPH_SCHEMA reads them: run "
            "`python -m drift prepare`, which says what is expected and what is there."
        )


async def knowledge_behind(connection: Connection, schema: Schema, timeout_s: float) -> str:
    """Return how far knowledge is behind the documents; empty where it is not, or unknown."""
    if schema.has_projects:
        # A count is no reason to call a server down that answers.
        with suppress(UpstreamError):
            found = await connection.read(BEHIND, {"looked_at": LOOKED_AT}, timeout_s)
            if (row := found.records[0])["projects"]:
                changed = "documents changed since knowledge was derived"
                return f"{changed}: {row['documents']:,} (projects: {row['projects']:,})"
    return ""

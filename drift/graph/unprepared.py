"""What a graph holds that no search sees, because it was not prepared.

A pipeline knows IN_PROJECT edges; a search finds nodes by the properties that `prepare` sets.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from drift.core.errors import GraphMisconfiguredError, UpstreamError
from drift.graph.connection import READ_TIMEOUT_S, Connection
from drift.graph.cypher import unprepared as statements
from drift.graph.cypher import versions
from drift.graph.cypher.schema import FALLBACK_VECTOR, FIRST_VECTOR, Schema
from drift.graph.parameters import stored_ids
from drift.graph.vector_models import other_models
from drift.graph.versions import FORMAT, GraphFormat, VectorVersion, newer
from drift.model.health import Lack

LOOKED_AT = 10_000
"""Edges of a project, and communities, that are looked at when a search found nothing."""
USABLE_AMONG = 1_000
"""Chunks and communities whose embeddings are looked at to see whether anything can be asked."""
COUNTED_NODES = 1_000_000
"""Labels with more nodes are not counted: that would take longer than a health check may."""
HEALTH_TIMEOUT_S = 5.0
COUNTED_AGAIN_S, LOOKED_AGAIN_S = 600.0, 60.0
"""After how long it is counted again: sooner where there was something to mend."""


def prepare_project(project_id: str, *, embed: bool = False) -> str:
    """Return what to run for a project, as one clause."""
    more = " --embed" if embed else ""
    return f"run `python -m drift prepare --project {shlex.quote(project_id)}{more}`"


async def refuse_unusable(
    connection: Connection, schema: Schema, project_id: str, dimensions: int, timeout_s: float
) -> None:
    """Raise GraphMisconfiguredError where none of the first chunks of a project can be searched."""
    asked = {"asked": {"project_id": project_id}, "most": LOOKED_AT}
    values = {**asked, "dimensions": dimensions, "careful": True}
    text = statements.why_nothing(schema)
    found = await connection.read(text, values, min(READ_TIMEOUT_S, timeout_s))
    states = {record["state"]: record["nodes"] for record in found.records}
    if not states or "usable" in states:
        return

    lacks = {
        "bare": f"no `{schema.vector}`",
        "zero": f"`{schema.vector}` of zeros alone",
        "incomparable": f"`{schema.vector}` that is not of {dimensions} floats, or not finite",
        "unread": f"no `{schema.text}` that can be read",
        "nameless": "no `id` that is text or a number",
    }
    counts = ", ".join(f"{nodes:,} with {lacks[state]}" for state, nodes in states.items())
    chunk = schema.named("__Chunk__")
    prepare = prepare_project(project_id, embed="bare" in states)
    raise GraphMisconfiguredError(
        f"The project has chunks, but none with an embedding of {dimensions} floats, a text and "
        f"an id: of its {chunk} nodes {counts}. To mend that, {prepare}, with the model of the "
        "questions."
    )


async def require_empty(
    connection: Connection, schema: Schema, project_id: str, timeout_s: float
) -> None:
    """Raise GraphMisconfiguredError where a project holds what no search can see."""
    text = statements.hidden(schema)
    asked = {"project_id": project_id, "project_ids": stored_ids(project_id)}
    found = await connection.read(
        text,
        {"asked": asked, "most": LOOKED_AT, "vector": schema.vector},
        min(READ_TIMEOUT_S, timeout_s),
    )
    row = found.records[0]

    if row["hidden"] and schema.has_projects:
        raise GraphMisconfiguredError(
            f"The project's nodes were not prepared for searches, since they have no `project_id` "
            f"of their own: {prepare_project(project_id)}."
        )

    if row["untold"]:
        raise GraphMisconfiguredError(
            "The project's nodes have a `project_id` that is no text, by which no request finds "
            f"them: set it to text, then {prepare_project(project_id)}."
        )

    if row["hidden"]:
        raise GraphMisconfiguredError(
            "The graph was not prepared for searches, since its chunks have no label: run `python "
            "-m drift prepare`."
        )

    chunk = schema.named("__Chunk__")
    if not schema.has_projects and row["others"]:
        raise GraphMisconfiguredError(
            f"The graph has nodes, but none is a {chunk}, as GRAPH_SCHEMA reads them: run `python "
            "-m drift prepare`, which says what is expected and what is there."
        )

    if row["communities"]:
        raise GraphMisconfiguredError(
            f"The project has no chunk, and no search finds its {row['communities']:,} "
            f"__Community__ nodes, of which {row['told']:,} have a `summary` and "
            f"{row['embedded']:,} an `{schema.vector}`, which is read if it has the right length: "
            f"{prepare_project(project_id, embed=True)}."
        )

    if row["others"]:
        raise GraphMisconfiguredError(
            f"The graph has {row['others']:,} nodes, but none that is a __Chunk__: run `python -m "
            "drift prepare`, which says what is expected and what is there."
        )


@dataclass(frozen=True, slots=True)
class Hidden:
    """What searches do without in a whole graph, and why none finds `nothing` else, if so.

    `notes` say what else is to be done. It is what was seen by vectors of this name.
    """

    lacking: tuple[Lack, ...] = ()
    nothing: str = ""
    notes: tuple[str, ...] = ()
    vector: str = FIRST_VECTOR


class Unseen:
    """Counts the nodes that no search sees, and does so seldom."""

    def __init__(self, connection: Connection, schema: Schema, embedding_model: str) -> None:
        """Count through the connection; nothing is counted yet."""
        self._connection = connection
        self._schema = schema
        self._model = embedding_model
        self._hidden = Hidden()
        self._again_at = float("-inf")

    async def look(self, schema: Schema, said: GraphFormat, dimensions: int | None) -> Hidden:
        """Return what cannot be asked; what was known if looking fails, or it was just looked."""
        if time.monotonic() < self._again_at and self._hidden.vector == schema.vector:
            return self._hidden

        self._again_at = time.monotonic() + COUNTED_AGAIN_S
        # A count is no reason to call a server down that answers.
        with suppress(UpstreamError):
            lacking: list[Lack] = []
            notes: list[str] = []
            if schema.has_projects and schema.vector != FALLBACK_VECTOR:
                lacking, notes = await self._of_format(said)
                lacking += await self._outside_projects()
            if schema.has_projects and schema.is_first:
                lacking += await self._of_other_models()

            nothing = ""
            if dimensions:
                values = {"dimensions": dimensions, "careful": True, "looked_at": USABLE_AMONG}
                row = (await self._read(statements.usable(schema), values))[0]
                nothing = _why_nothing(row, dimensions)
                if row["bare"] and not schema.is_first:
                    lacking.append(_without_vector(row["bare"], schema, said))
                if row["zero"]:
                    lacking.append(
                        Lack(
                            "vectors of zeros",
                            f"{row['zero']:,} chunks or more have a vector of zeros alone",
                            "nothing finds them but their words",
                            "embed them anew with a model that can: `python -m drift prepare` "
                            "names them",
                        )
                    )
                if row["others"] and not row["chunks"]:  # an empty graph lacks nothing yet
                    chunk = schema.named("__Chunk__")
                    problem = f"there is no {chunk} node beside {row['others']:,} others"
                    lacking.append(Lack(chunk, problem, "nothing can be asked of this graph"))

            self._hidden = Hidden(tuple(lacking), nothing, tuple(notes), schema.vector)
            is_well = not (lacking or nothing or notes)
            self._again_at = time.monotonic() + (COUNTED_AGAIN_S if is_well else LOOKED_AGAIN_S)

        return self._hidden

    async def _read(self, text: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        found = await self._connection.read(text, values, HEALTH_TIMEOUT_S)
        return [dict(record) for record in found.records]

    async def _of_format(self, said: GraphFormat) -> tuple[list[Lack], list[str]]:
        """Return what a newer format costs, and what an older one wants."""
        if said.number is not None:
            is_newer = said.number > FORMAT
            lack = Lack("format", newer(said.number), "nothing is written", "use a newer release")
            return [lack] if is_newer else [], []

        documents = sum(row["documents"] for row in await self._read(versions.OLDER, {}))
        note = (
            f"{documents:,} documents are of the release before: `python -m drift upgrade` keeps "
            "the next ingest from embedding them again"
        )
        return [], [note] if documents else []

    async def behind(self) -> str:
        """Return how far knowledge is behind the documents; empty where it is not, or unknown."""
        if not self._schema.has_projects:
            return ""
        with suppress(UpstreamError):
            row = (await self._read(statements.BEHIND, {"looked_at": LOOKED_AT}))[0]
            if row["projects"]:
                changed = "documents changed since knowledge was derived"
                return f"{changed}: {row['documents']:,} (projects: {row['projects']:,})"
        return ""

    async def _outside_projects(self) -> list[Lack]:
        row = (await self._read(statements.UNSEEN, {"most": COUNTED_NODES}))[0]
        return [
            Lack(label, _without_project(label, nodes - seen), "no request finds them")
            for label, (nodes, seen) in row.items()
            if seen < nodes <= COUNTED_NODES
        ]

    async def _of_other_models(self) -> list[Lack]:
        if not self._model:
            return []

        found = await self._read(statements.MADE_BY, {"looked_at": LOOKED_AT})
        rows = {record["model"]: record for record in found}
        return [
            Lack(
                f"vectors of {model}",
                f"the vectors of {_named(rows[model])} were made by {model}, not by the questions' "
                f"{self._model}",
                "they are not compared",
                "set OAI_EMBED_MODEL_NAME to the model that made them, or embed them anew, which "
                "`python -m drift ingest` does for its documents and `python -m drift reconcile` "
                "for people's own nodes",
            )
            for model in other_models(rows, self._model)
        ]


def _without_vector(chunks: int, schema: Schema, said: GraphFormat) -> Lack:
    if schema.vector == VectorVersion("local").vector_in(schema):
        return Lack(
            "second vectors",
            f"{chunks:,} chunks or more have no second vector",
            "nothing finds them while the provider of embeddings fails",
            "run `python -m drift prepare --project ... --embed`, or ingest again",
        )
    names = (one.name for one in said.versions if one.vector_in(schema) == schema.vector)
    version = next(names, schema.vector)
    return Lack(
        f"version {version}",
        f"{chunks:,} chunks or more have no vector of version {version}",
        "nothing finds them but their words",
        f"run `python -m drift reindex --model-version {version}`",
    )


def _why_nothing(row: Mapping[str, Any], dimensions: int) -> str:
    """Return why nothing of a graph that has chunks can be searched; nothing where some can."""
    if row["usable"] or not row["chunks"]:
        return ""

    first = "the" if row["chunks"] < USABLE_AMONG else f"the first {USABLE_AMONG:,}"
    embed = " --project ... --embed" if row["bare"] else ""
    return (
        f"nothing can be asked, since none of {first} chunks has an embedding of {dimensions} "
        f"floats and a text: run `python -m drift prepare{embed}`"
    )


def _named(row: Mapping[str, Any]) -> str:
    names, more = ", ".join(map(str, row["examples"])), row["projects"] - len(row["examples"])
    kind = "project" if row["projects"] == 1 else "projects"
    return f"{kind} {names}" + (f" and {more:,} more" if more > 0 else "")


def _without_project(label: str, nodes: int) -> str:
    verb = "has" if nodes == 1 else "have"
    return f"{nodes:,} of the {label} nodes {verb} no `project_id`"

"""Embeddings for a project of a graph from elsewhere, where they are missing or do not fit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from drift.graph.connection import Connection
from drift.graph.cypher.schema import Schema, schema_named
from drift.graph.versions import FIRST, VectorVersion
from drift.http.settings import Settings
from drift.http.wiring import database, index_names
from drift.indexing.batch_embedder import BatchEmbedder
from drift.llm.local_embedder import DIMENSIONS, LocalEmbedder
from drift.local.ingest.communities import between
from drift.local.ingest.neo4j.ddl import vector_indexes
from drift.local.ingest.neo4j.schema import create_missing, wait_until_online
from drift.local.prepare import vector_statements as statements
from drift.local.prepare.changes import PrepareReport
from drift.local.prepare.filling import Filling
from drift.local.say import Say
from drift.model.graph import Vector

SAMPLED = 32
"""Communities whose vectors are compared with those of their summaries."""

SAME_TEXT = 0.9
"""The cosine from which two vectors are of one text by one model. A title before the summary, or
other rounding, costs less; another text or another model more."""

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ProjectVectors:
    """What one project of a graph has of embeddings; in V1 the graph is the project.

    `report` keeps what was done and found, `say` is given a sentence for each step.
    """

    connection: Connection
    schema: Schema
    project_id: str
    report: PrepareReport
    say: Say
    version: VectorVersion = FIRST
    """The vectors that are looked at and filled in."""

    async def look(self) -> None:
        """Report it when the project holds nothing that could be searched."""
        counts = []
        for label in statements.TEXTS:
            rows = await self._rows(statements.count_nodes(self.schema, label))
            counts.append(int(rows[0]["nodes"]))

        if any(counts):
            chunks, communities = counts
            self.say(f"Project {self.project_id}: {chunks:,} chunks, {communities:,} communities.")
            return

        rows = await self.connection.rows(statements.PROJECTS)
        there = ", ".join(row["id"] for row in rows) or "none"
        self.report.problems.append(
            f"Project {self.project_id} has neither chunks nor communities; the projects there: "
            f"{there}."
        )

    async def embed(self, embedder: BatchEmbedder) -> None:
        """Look at a sample of what is there, and embed chunks and communities that lack a vector.

        Errors as for `Filling.write`; what was written before stays.
        """
        await self._compare(embedder)
        await self.embed_bare(embedder)

    async def embed_bare(self, embedder: BatchEmbedder) -> None:
        """Embed chunks and communities that lack a vector; errors as those of `embed`."""
        filling = Filling(self.connection, self.schema, self.version, self.project_id)
        for label in statements.TEXTS:
            parts = await filling.bare(label)
            vector = self.version.vector_in(self.schema)
            changed, total = f"{self.schema.named(label)}.{vector}", sum(map(len, parts))
            if self.report.dry_run:
                self.report.changed[changed] += total
                continue

            done = 0
            for part in parts:
                self.say(f"Embedding {label}: {done:,} of {total:,} ...")
                self.report.changed[changed] += await filling.write(label, part, embedder)
                done += len(part)

    async def _rows(self, text: str, **values: object) -> list[dict[str, Any]]:
        asked = {"project_id": self.project_id}
        return await self.connection.rows(text, {"asked": asked, **values})

    async def _compare(self, embedder: BatchEmbedder) -> None:
        """Report sampled communities whose vector is not that of their summary.

        That of a topic with a mean lies in the middle of both.
        """
        if self.report.dry_run:
            return

        text = statements.sample_communities(self.schema, self.version)
        rows = await self._rows(text, most=SAMPLED)
        if not rows:
            return

        self.say(f"Comparing the vectors of {len(rows):,} communities with their summaries ...")
        vectors = await embedder.embed([str(row["summary"]) for row in rows])
        strange = {
            str(row["key"]): nearness
            for row, vector in zip(rows, vectors, strict=True)
            if (nearness := _nearness(row, vector)) is not None and nearness < SAME_TEXT
        }
        if strange:
            self.report.problems.append(_not_theirs(strange, len(rows)))


def _nearness(row: Mapping[str, Any], summary: Vector) -> float | None:
    mean = row["mean"]
    of_both = between(summary, tuple(mean)) if _is_vector(mean, len(summary)) else summary
    return _cosine(row["embedding"], of_both)


def _is_vector(stored: object, length: int) -> TypeGuard[list[float]]:
    """Tell whether what is stored is a list of so many finite numbers."""
    return (
        isinstance(stored, list)
        and len(stored) == length
        and all(isinstance(number, int | float) and math.isfinite(number) for number in stored)
    )


def _cosine(stored: object, vector: Vector) -> float | None:
    """Return the cosine; None where what is stored is no vector of that length with a direction."""
    if not _is_vector(stored, len(vector)):
        return None

    lengths = math.hypot(*stored) * math.hypot(*vector)
    product = sum(a * b for a, b in zip(stored, vector, strict=True))
    return product / lengths if lengths else None


def _not_theirs(strange: dict[str, float], sampled: int) -> str:
    farthest = sorted(strange.items(), key=lambda pair: pair[1])[:_SHOWN]
    shown = ", ".join(f"'{key}' ({nearness:.2f})" for key, nearness in farthest)
    why = (
        "another model made them, or they are of other texts"
        if len(strange) == sampled
        else "their summaries were changed since, or they are of other texts"
    )

    return (
        f"The vectors of {len(strange):,} of {sampled:,} sampled communities do not belong to "
        f"their summaries, by the model of OAI_EMBED_MODEL_NAME: {shown}, where the same text has "
        f"a cosine of {SAME_TEXT:g} or more. Most likely {why}: name the model that the graph was "
        f"embedded with, or remove `embedding` from such communities and run this again."
    )


async def fill_second_vectors(settings: Settings, project_id: str, say: Say) -> None:
    """Give chunks and communities of a project their vector by the local model, if it is used.

    The indexes are created first. ModelMisconfiguredError without the package of the model.
    """
    if settings.embed_fallback == "off":
        return

    local, schema = VectorVersion("local"), schema_named(settings.graph_schema)
    wanted = vector_indexes(schema, index_names(settings).of(local), local.vector_in(schema))
    async with Connection(*database(settings)) as connection:
        await create_missing(connection, wanted, DIMENSIONS)
        await wait_until_online(connection, wanted, DIMENSIONS, say=say)

        report = PrepareReport(dry_run=False)
        vectors = ProjectVectors(connection, schema, project_id, report, say, local)
        await vectors.embed_bare(BatchEmbedder(LocalEmbedder(), DIMENSIONS))

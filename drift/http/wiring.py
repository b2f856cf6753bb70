"""One service made of settings and adapters; building it opens no connection.

The SDKs load with this module, so that the first request pays for them and not the import of the
function. OpenAI's SDK loads with the models, because commands load this module too and most of
them ask no model.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from drift import __version__
from drift.auth.claims import Claims
from drift.auth.entra import TokenSource, identity
from drift.auth.quotas import Quotas
from drift.core.errors import NotConfiguredError
from drift.graph.connection import Connection
from drift.graph.graph import Neo4jGraph
from drift.graph.indexes import IndexNames
from drift.http.embedder import build_embedder
from drift.http.reranker import build_reranker
from drift.http.service import Service
from drift.http.settings import Settings
from drift.http.settings_search import efforts, embedding_prefixes, lengths
from drift.http.shared_runs import SharedRuns
from drift.http.visible import WholeGraph
from drift.llm.options import ChatOptions
from drift.llm.retry import RetryPolicy
from drift.originals.container import STORAGE_SCOPE, ContainerStore
from drift.originals.folder import FolderStore
from drift.originals.store import DocumentStore
from drift.ports import Embedder, Ports, VectorStore
from drift.redis import seal
from drift.redis.answer_cache import LOCAL_BYTES, CachedAnswer
from drift.redis.claims import RedisClaims
from drift.redis.counter import RedisCounter
from drift.redis.entries import CacheEntries, RedisEntries
from drift.redis.feedback import RedisFeedback
from drift.redis.progress import RedisProgress
from drift.redis.server import REDIS_SCOPE, RedisServer
from drift.redis.shared_values import RedisValues
from drift.search import prices
from drift.search.prices import PriceTable

if TYPE_CHECKING:
    from drift.indexing.indexer import Indexer
    from drift.llm.chat import Chat
    from drift.llm.openai.embedder import OpenAIEmbedder
    from drift.llm.provider import ChatProvider

LIST_PRICES = Path(__file__).with_name("list_prices.json")
"""What OpenAI lists for its standard service, from genai-prices (MIT); `make prices` writes it."""


def build_service(
    settings: Settings,
    connect: Callable[..., Connection] = Connection,
    make: Callable[..., Service] = Service,
) -> Service:
    """Return a service that opens nothing yet.

    A recording has its own `connect` and `make`, with the arguments of Connection and Service.
    """
    chat, model = build_models(settings)
    redis = build_redis(settings)
    secret = seal.secret_of(settings.neo4j_password.get_secret_value()) if redis else b""
    # Another release has other prompts.
    answered_by = json.dumps([__version__, settings.of_answers], sort_keys=True)
    entries = RedisEntries(redis, secret) if redis and settings.cache == "on" else None
    values = RedisValues(redis, secret, answered_by) if entries and redis else None
    sink = RedisProgress(redis) if redis else None
    # In mode `function` everybody is one caller.
    claims = RedisClaims(redis) if redis and settings.auth_mode != "function" else None
    reranker = build_reranker(settings, model.caller.retry)
    graph = build_graph(settings, connect)
    closers = (
        graph.close,
        chat.aclose,
        model.client.close,
        *(one.close for one in (reranker, entries, sink) if one),
    )
    answers = shared = own = index = originals = None
    if settings.graph_schema == "default":
        own, originals = graph.node_store(), build_originals(settings)
        index = partial(build_indexer, settings, graph, model.of_passages, originals)
        closers = (originals.close, *closers) if originals else closers
    whole = WholeGraph(graph.reader(), graph.finder(), own, own, index, originals)
    if settings.cache == "on" and settings.cache_answers:
        shared = RedisEntries(redis, secret, "answer") if redis else None
        kept = CacheEntries(shared, LOCAL_BYTES)
        answers = partial(CachedAnswer, whole.reader, answered_by, kept)
        closers = (shared.close, *closers) if shared else closers

    return make(
        settings,
        Ports(graph, chat, build_embedder(model, settings, entries), graph.passages(), reranker),
        whole,
        sink=sink,
        prices=build_prices(settings),
        quotas=Quotas(RedisCounter(redis) if redis else None),
        claims=Claims(claims),
        shared=SharedRuns(values) if values else None,
        answers=answers,
        embedding_model=model.of_passages,
        fallback=graph.local_health if settings.embed_fallback == "local" else None,
        vectors=graph.copy.health if graph.copy else None,
        caches=tuple(one.health for one in (entries, shared, claims, values) if one),
        closers=closers,
        feedback=RedisFeedback(redis, settings.feedback_days) if entries and redis else None,
    )


def build_prices(settings: Settings) -> PriceTable:
    """Return what the models cost: the prices of the settings, or else those that are packaged."""
    model = settings.oai_embed_model_name
    called = {settings.oai_embed_deployment_name or model: model}
    if settings.prices is None:
        return PriceTable(prices.read(LIST_PRICES.read_text("utf-8")), called, is_own=False)

    return PriceTable(prices.read(settings.prices), called)


def build_models(settings: Settings) -> tuple[Chat, OpenAIEmbedder]:
    """Return the chat model and the embedder; both close with the chat model.

    Raises:
        NotConfiguredError: the package of the provider is not installed.
    """
    from drift.llm.caller import ModelCaller  # noqa: PLC0415 - see the module
    from drift.llm.chat import Chat  # noqa: PLC0415 - the same
    from drift.llm.openai import client as openai_client  # noqa: PLC0415 - the same
    from drift.llm.openai.chat import OpenAIChat  # noqa: PLC0415 - the same
    from drift.llm.openai.embedder import OpenAIEmbedder  # noqa: PLC0415 - the same

    key = settings.oai_key.get_secret_value() if settings.oai_key else None
    server = openai_client.ModelServer(
        settings.oai_base_url,
        key=key,
        api_version=settings.oai_api_version,
        timeout_s=settings.oai_timeout_sec,
        azure_client_id=settings.azure_client_id,
        max_reply_bytes=settings.max_reply_bytes,
    )
    client = openai_client.build_client(server)
    retry = RetryPolicy(
        max_attempts=settings.retry_max_attempts,
        base_s=settings.retry_backoff_base_sec,
        factor=settings.retry_backoff_factor,
        max_s=settings.retry_backoff_max_sec,
    )
    caller = ModelCaller(settings.oai_timeout_sec, retry, openai_client.provider_name(server))
    options = ChatOptions(
        settings.oai_model_small,
        settings.llm_temperature,
        efforts(settings.oai_reasoning_effort),
        lengths(settings.max_completion_tokens),
    )
    embedder = OpenAIEmbedder(
        client,
        settings.oai_embed_model_name,
        settings.vector_index_dimensions,
        settings.oai_embed_deployment_name,
        caller,
        *embedding_prefixes(settings.oai_embed_prefixes),
    )
    if settings.chat_provider == "anthropic":
        provider: ChatProvider = _build_anthropic(settings, retry)
    else:
        cache = settings.oai_prompt_cache
        is_known = openai_client.knows_cache_options(server)
        provider = OpenAIChat(client, caller, cache == "explicit" or (cache == "auto" and is_known))

    return Chat(provider, settings.oai_model, options), embedder


def _build_anthropic(settings: Settings, retry: RetryPolicy) -> ChatProvider:
    try:
        from drift.llm.anthropic import chat as anthropic  # noqa: PLC0415 - an extra
    except ImportError as error:
        said = "CHAT_PROVIDER=anthropic needs a package: pip install 'drift-neo4j[anthropic]'."
        raise NotConfiguredError((said,)) from error

    from drift.llm.caller import ModelCaller  # noqa: PLC0415 - see the module

    url, key = settings.anthropic_base_url, settings.anthropic_key
    client = anthropic.build_client(
        url,
        key=key.get_secret_value() if key else None,
        timeout_s=settings.oai_timeout_sec,
        max_reply_bytes=settings.max_reply_bytes,
        azure_client_id=settings.azure_client_id,
    )
    name = anthropic.provider_name(url)
    return anthropic.AnthropicChat(client, ModelCaller(settings.oai_timeout_sec, retry, name))


def build_graph(settings: Settings, connect: Callable[..., Connection] = Connection) -> Neo4jGraph:
    """Return the graph store; opens no connection."""
    return Neo4jGraph(
        connect(*database(settings)),
        index_names(settings),
        settings.followup_scope,
        schema=settings.graph_schema,
        embedding_model=settings.oai_embed_model_name,
        dimensions=settings.vector_index_dimensions,
        store=build_store(settings),
    )


def build_store(settings: Settings) -> VectorStore | None:
    """Return the store of vectors beside the graph; None for the graph alone. It opens nothing.

    Raises:
        NotConfiguredError: its package is not installed.
    """
    if settings.vector_store == "neo4j" or settings.milvus_uri is None:
        return None
    if find_spec("pymilvus") is None:
        said = "VECTOR_STORE=milvus needs a package: pip install 'drift-neo4j[milvus]'."
        raise NotConfiguredError((said,))

    from drift.milvus.store import MilvusStore  # noqa: PLC0415 - an extra

    token = settings.milvus_token
    return MilvusStore(
        settings.milvus_uri,
        token=token.get_secret_value() if token else "",
        collection=settings.milvus_collection,
        index=settings.milvus_index,
        dimensions=settings.vector_index_dimensions,
    )


def build_originals(settings: Settings) -> DocumentStore | None:
    """Return where original files of documents are kept; None for nowhere. It opens nothing."""
    place = settings.document_store
    if place == "off":
        return None
    if "://" not in place:
        return FolderStore(Path(place))
    make_credential = partial(identity, settings.azure_client_id)
    return ContainerStore(place, TokenSource(STORAGE_SCOPE, make_credential))


def build_indexer(
    settings: Settings,
    graph: Neo4jGraph,
    embedder: Embedder,
    originals: DocumentStore | None,
    project_id: str,
) -> Indexer:
    """Return what writes a project's documents, one by one; it opens nothing."""
    from drift.indexing.indexer import Indexer  # noqa: PLC0415 - it loads what reads documents

    return Indexer(
        graph.connection,
        project_id,
        embedder,
        settings.oai_embed_model_name,
        settings.vector_index_dimensions,
        index_names(settings),
        copy=graph.copy,
        originals=originals,
    )


def database(settings: Settings) -> tuple[str, str, str, str | None]:
    """Return address, user, password and name of the database, None for the user's home."""
    password = settings.neo4j_password.get_secret_value()
    return settings.neo4j_uri, settings.neo4j_username, password, settings.neo4j_database


def index_names(settings: Settings) -> IndexNames:
    """Return the names of the indexes that searches use."""
    return IndexNames(
        settings.community_vector_index_name,
        settings.chunk_vector_index_name,
        settings.chunk_fulltext_index_name,
    )


def build_redis(settings: Settings) -> RedisServer | None:
    """Return the server of progress and quotas; None without REDIS_URL."""
    if settings.redis_url is None:
        return None
    make_credential = partial(identity, settings.azure_client_id)
    tokens = TokenSource(REDIS_SCOPE, make_credential) if settings.redis_auth == "entra" else None
    return RedisServer(settings.redis_url.get_secret_value(), tokens)

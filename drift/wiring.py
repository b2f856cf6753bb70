"""Settings to adapters to one service: built lazily inside the running loop, shared by all requests, rebuilt for another loop."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from drift.contracts import RetrieveRequest, RetrieveResponse
from drift.errors import BusyError, DriftError, NotConfiguredError
from drift.followups import Services
from drift.model import GraphHealth
from drift.plan import Limits
from drift.ports import ProgressSink
from drift.progress import Progress
from drift.search import DriftSearch
from drift.settings import Settings, load
from drift.tasks import Deadline

if TYPE_CHECKING:
    from drift.adapters.neo4j_graph import Neo4jGraph
    from drift.adapters.neo4j_indexes import IndexNames
    from drift.adapters.neo4j_writer import Neo4jWriter
    from drift.adapters.openai_models import OpenAIChat, OpenAIEmbedder
    from drift.adapters.redis_progress import RedisProgress

log = logging.getLogger("drift")

REBUILD_PAUSE_S = 5.0
"""How long a failed build is remembered before it is tried again."""
HEALTH_TIMEOUT_S = 10.0


@dataclass(slots=True)
class Service:
    """What every request of one event loop shares: clients, limits, and how many requests are in flight."""

    services: Services
    sink: ProgressSink | None
    max_inflight: int
    deadline_s: float
    settings: Settings | None = None
    closers: tuple[Callable[[], Awaitable[None]], ...] = ()
    in_flight: int = 0
    _search: DriftSearch = field(init=False)

    def __post_init__(self) -> None:
        """Build the search over the services."""
        self._search = DriftSearch(self.services)

    def start(
        self, request: RetrieveRequest, retrieval_id: str, listener: Callable[[str], None] | None = None
    ) -> asyncio.Task[RetrieveResponse]:
        """Admit a request and start answering it; the slot is free again when the task ends, however it ends.

        Raises:
            BusyError: when `max_inflight` requests are being answered.
        """
        if self.in_flight >= self.max_inflight:
            raise BusyError(f"{self.max_inflight} requests are being answered; try again later.")
        self.in_flight += 1
        task = asyncio.create_task(self._answer(request, retrieval_id, listener))
        task.add_done_callback(self._free_slot)
        return task

    def _free_slot(self, task: asyncio.Task[RetrieveResponse]) -> None:
        self.in_flight -= 1
        if not task.cancelled():
            task.exception()  # marks it as seen: whoever waited may have gone

    async def _answer(
        self, request: RetrieveRequest, retrieval_id: str, listener: Callable[[str], None] | None
    ) -> RetrieveResponse:
        deadline = Deadline.after(self.deadline_s)
        log.info("retrieval_started", extra=self._described(request, retrieval_id))
        async with Progress(request.project_id, retrieval_id, self.sink, listener) as progress:
            return await self._search.retrieve(request, progress, deadline)

    async def close(self) -> None:
        """Close the clients. The platform never asks for it, so nothing depends on it."""
        for close in self.closers:
            await close()

    def _described(self, request: RetrieveRequest, retrieval_id: str) -> dict[str, object]:
        """Describe a request for the log: its question as length and hash, unless LOG_QUESTIONS allows its words."""
        question: dict[str, object] = {
            "query_characters": len(request.query),
            "query_sha256": hashlib.sha256(request.query.encode()).hexdigest()[:16],
        }
        if self.settings and self.settings.log_questions:
            question = {"query": request.query}
        return {"retrieval_id": retrieval_id, "project_id": request.project_id, "top_k": request.top_k, **question}

    async def readiness(self) -> dict[str, str]:
        """Return one line for each dependency: `ok`, or what is wrong; Redis may only be degraded."""
        graph, model, redis = await asyncio.gather(self.graph_state(), self._model_state(), self._redis_state())
        return {**graph, **model, **redis}

    async def graph_state(self) -> dict[str, str]:
        """Return one line for the graph and one for its indexes: `ok`, or what is wrong."""
        try:
            async with asyncio.timeout(HEALTH_TIMEOUT_S):
                health = await self.services.graph.health()
        except (DriftError, TimeoutError) as error:
            return {"graph": _detail(error), "indexes": "unknown"}
        return {"graph": "ok", "indexes": self._index_state(health)}

    def _index_state(self, health: GraphHealth) -> str:
        wanted = self.settings.vector_index_dimensions if self.settings else None
        problems = [f"{name} is missing" for name in health.missing]
        for index in health.indexes:
            if not index.online:
                problems.append(f"{index.name} is not online")
            if index.dimensions is not None and wanted is not None and index.dimensions != wanted:
                problems.append(f"{index.name} has {index.dimensions} dimensions, VECTOR_INDEX_DIMENSIONS is {wanted}")
        return "; ".join(problems) or "ok"

    async def _model_state(self) -> dict[str, str]:
        try:
            await self.services.embedder.embed(["ready?"], Deadline.after(HEALTH_TIMEOUT_S))
        except DriftError as error:
            return {"model": error.detail}
        return {"model": "ok"}

    async def _redis_state(self) -> dict[str, str]:
        healthy = getattr(self.sink, "healthy", None)
        if healthy is None:
            return {"redis": "degraded: REDIS_URL is not set, nobody sees progress"}
        return {"redis": "ok" if await healthy() else "degraded: no answer, progress messages are lost"}


def _detail(error: Exception) -> str:
    return error.detail if isinstance(error, DriftError) else "no answer in time"


class ServiceProvider:
    """The one process-wide object: hands out the service of the running loop, building it on first use.

    Concurrent first calls share one build; a failed build is answered with the same error for five seconds.
    """

    def __init__(self, read_settings: Callable[[], Settings] = load, rebuild_pause_s: float = REBUILD_PAUSE_S) -> None:
        """Remember how to read the settings; nothing is read yet."""
        self._read_settings = read_settings
        self._rebuild_pause_s = rebuild_pause_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._building: asyncio.Task[Service] | None = None
        self._failure: tuple[float, tuple[str, ...]] | None = None

    async def get(self) -> Service:
        """Return the service of the running loop.

        Raises:
            NotConfiguredError: when settings are missing or wrong, or the clients cannot be built.
        """
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._building, self._failure = loop, None, None
        if self._failure and time.monotonic() - self._failure[0] < self._rebuild_pause_s:
            raise NotConfiguredError(self._failure[1])
        if self._building is None:
            self._building = loop.create_task(self._build())
        building = self._building
        try:
            return await asyncio.shield(building)
        except NotConfiguredError as error:
            self._failure = (time.monotonic(), error.problems)
            if self._building is building:
                self._building = None
            raise

    async def close(self) -> None:
        """Close what the running loop has built and forget it: the next call reads the settings anew."""
        building, self._building, self._failure = self._building, None, None
        if building is not None and self._loop is asyncio.get_running_loop():
            with suppress(NotConfiguredError):
                await (await building).close()

    async def _build(self) -> Service:
        try:
            settings = self._read_settings()
            # importing the SDKs and reading certificates takes a second: in a thread, other requests go on meanwhile
            return await asyncio.to_thread(build_service, settings)
        except NotConfiguredError:
            raise
        except DriftError as error:
            raise NotConfiguredError((error.detail,)) from error
        except Exception as error:
            log.exception("service_build_failed")
            raise NotConfiguredError((f"The clients could not be built ({type(error).__name__}).",)) from error


def build_service(settings: Settings) -> Service:
    """Return a service; opens no connection, and belongs to the loop that first uses it."""
    chat, embedder = build_models(settings)
    graph, sink = build_graph(settings), build_sink(settings)
    limits = Limits(settings.max_passes, settings.max_followups, settings.max_chunks_for_prompt)
    closers = (graph.close, chat.client.close, *((sink.close,) if sink else ()))
    services = Services(graph, chat, embedder, limits)
    return Service(services, sink, settings.max_inflight, settings.deadline_sec, settings, closers)


def build_models(settings: Settings) -> tuple[OpenAIChat, OpenAIEmbedder]:
    """Return the chat model and the embedder, over one client."""
    from drift.adapters.openai_client import ModelServer, build_client  # noqa: PLC0415 - adapters load on first use
    from drift.adapters.openai_models import Caller, OpenAIChat, OpenAIEmbedder  # noqa: PLC0415
    from drift.adapters.retry import RetryPolicy  # noqa: PLC0415

    key = settings.oai_key.get_secret_value() if settings.oai_key else None
    client = build_client(
        ModelServer(
            settings.oai_base_url, key, settings.oai_api_version, settings.oai_timeout_sec, settings.azure_client_id
        )
    )
    retry = RetryPolicy(
        settings.retry_max_attempts,
        settings.retry_backoff_base_sec,
        settings.retry_backoff_factor,
        settings.retry_backoff_max_sec,
    )
    caller = Caller(settings.oai_timeout_sec, retry)
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
        *_database(settings), names=_index_names(settings), followup_scope=settings.followup_scope
    )


def build_writer(settings: Settings) -> Neo4jWriter:
    """Return the graph writer; opens no connection, and whoever asked for it closes it."""
    from drift.adapters.neo4j_writer import Neo4jWriter  # noqa: PLC0415 - adapters load on first use

    return Neo4jWriter.connect(*_database(settings), names=_index_names(settings))


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
    if settings.redis_url is None:
        return None
    from drift.adapters.redis_progress import RedisProgress  # noqa: PLC0415 - adapters load on first use

    credential = None
    if settings.redis_auth == "entra":
        from azure.identity import DefaultAzureCredential, ManagedIdentityCredential  # noqa: PLC0415

        client_id = settings.azure_client_id
        credential = ManagedIdentityCredential(client_id=client_id) if client_id else DefaultAzureCredential()
    return RedisProgress.connect(settings.redis_url.get_secret_value(), credential)

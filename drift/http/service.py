"""What every request of one event loop shares.

The search, admission, and the state of the servers behind it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel

from drift.auth.caller import Caller, Project
from drift.auth.claims import Claims
from drift.auth.quotas import Quotas
from drift.contracts.answer import RetrieveResponse
from drift.contracts.progress import CHANNEL, channel_of
from drift.contracts.rag import RagRequest, RagResponse
from drift.contracts.request import RetrieveRequest
from drift.core.deadline import Deadline
from drift.core.errors import (
    BusyError,
    DriftError,
    NotConfiguredError,
    NotFoundError,
    QuotaError,
    StoppingError,
)
from drift.core.logs import bound, log
from drift.http.settings import Settings
from drift.model.health import Readiness
from drift.model.limits import Limits
from drift.nodes.embedding_calls import EmbeddingCalls
from drift.nodes.query import RagRules, RagSearch
from drift.nodes.reconciling import NodeReconciling
from drift.nodes.writing import NodeRules, NodeWriting
from drift.ports import (
    AnswerSlot,
    Embedder,
    GraphReader,
    LabelledNodes,
    Listener,
    NodeFinder,
    NodeStore,
    Ports,
    ProgressSink,
)
from drift.search.drift import DriftSearch
from drift.search.prices import PriceTable
from drift.search.progress import Progress
from drift.telemetry import parts

HEALTH_TIMEOUT_S = 10.0

_T = TypeVar("_T")


@dataclass(slots=True)
class Service:
    """What every request of one event loop shares.

    Clients, limits, and how many requests are in flight. `embedding_model` says whether the model
    answers, which a cache in front of it does not, and `caches` how they can be used.
    """

    ports: Ports
    limits: Limits
    sink: ProgressSink | None
    max_inflight: int
    deadline_s: float
    settings: Settings | None = None
    prices: PriceTable | None = None
    closers: tuple[Callable[[], Awaitable[None]], ...] = ()
    reader: GraphReader | None = None
    finder: NodeFinder | None = None
    store: NodeStore | None = None
    labelled: LabelledNodes | None = None
    quotas: Quotas = field(default_factory=Quotas)
    claims: Claims = field(default_factory=Claims)
    embedding_model: Embedder | None = None
    answers: Callable[[Project, BaseModel], AnswerSlot] | None = None
    caches: Sequence[Callable[[], Awaitable[Readiness]]] = ()
    in_flight: int = 0
    _running: set[asyncio.Task[Any]] = field(default_factory=set)
    _stopping: bool = False
    _search: DriftSearch = field(init=False)
    _rag: RagSearch | None = field(init=False)

    def __post_init__(self) -> None:
        """Build the searches over the servers."""
        model = self.settings.oai_embed_model_name if self.settings else ""
        self._search = DriftSearch(self.ports, self.limits, self.prices, model)
        rules = rag_rules(self.settings) if self.settings else RagRules()
        self._rag = RagSearch(self.ports, self.finder, rules) if self.finder else None

    async def start(
        self,
        project: Project,
        request: RetrieveRequest,
        retrieval_id: str,
        listener: Listener | None = None,
    ) -> asyncio.Task[RetrieveResponse]:
        """Admit a request to a project that its caller may use, and start answering it.

        The slot is free again when the task ends, however it ends.

        Raises:
            BusyError: when `max_inflight` requests are being answered; it counts for no quota.
            ConflictError: when another caller uses the id of the retrieval.
            QuotaError: when the caller has used what it may.
            StoppingError: when the process is being stopped.
        """
        is_chosen = request.retrieval_id is not None
        return await self._begin(
            project,
            lambda: self._answer(project, request, retrieval_id, listener),
            lambda: self.claims.take(
                retrieval_id, project.caller, self.deadline_s, is_chosen=is_chosen
            ),
        )

    def rag(self) -> RagSearch:
        """Return what answers questions from nodes.

        Raises:
            NotFoundError: the settings hide it.
            NotConfiguredError: this service was built over a graph that only searches.
        """
        if self.settings and not self.settings.enable_rag_search:
            raise NotFoundError("There is nothing under this path.")
        if self._rag is None:
            raise NotConfiguredError(("This service has no graph whose nodes can be found.",))
        return self._rag

    def nodes(self) -> NodeWriting:
        """Return what writes people's own nodes.

        Raises:
            NotFoundError: the settings close it, as they do unless they say otherwise.
            NotConfiguredError: the graph has no projects to write into.
        """
        settings = self.settings
        if settings is None or not settings.enable_indexing:
            raise NotFoundError("There is nothing under this path.")
        if self.store is None:
            raise NotConfiguredError(("GRAPH_SCHEMA must be default: v1 has no projects.",))
        return NodeWriting(self.store, self.ports.embedder, node_rules(settings))

    def reconciling(self) -> NodeReconciling:
        """Return what mends the vectors of people's nodes; no cache stands before the model.

        Raises:
            NotConfiguredError: the graph has no projects to write into.
        """
        if self.labelled is None or self.settings is None:
            raise NotConfiguredError(("GRAPH_SCHEMA must be default: v1 has no projects.",))
        rules = node_rules(self.settings)
        calls = EmbeddingCalls(self.embedding_model or self.ports.embedder, rules.dimensions)
        return NodeReconciling(self.labelled, calls, rules)

    def rag_project(self, caller: Caller, named: str | None) -> Project:
        """Return the project of a question to the nodes: as named, the caller's only, the default.

        Raises:
            InvalidRequestError: there is none of them.
            ForbiddenError: the caller may not read it.
        """
        default = self.settings.rag_project if self.settings else None
        return caller.project(named or caller.only_project or default)

    async def start_rag(
        self,
        project: Project,
        question: str,
        retrieval_id: str,
        listener: Listener | None = None,
    ) -> asyncio.Task[RagResponse]:
        """Start answering from nodes; admission and errors as for `start`."""
        rag = self.rag()
        return await self._begin(
            project, lambda: self._answer_from_nodes(rag, project, question, retrieval_id, listener)
        )

    async def _begin(
        self,
        project: Project,
        work: Callable[[], Coroutine[Any, Any, _T]],
        claim: Callable[[], Awaitable[None]] | None = None,
    ) -> asyncio.Task[_T]:
        """Admit a request, and have its work done in a task; see `start`."""
        await self._take_slot(project.caller, claim)
        task = asyncio.create_task(work())
        self._running.add(task)
        task.add_done_callback(self._free_slot)
        return task

    async def _take_slot(self, caller: Caller, claim: Callable[[], Awaitable[None]] | None) -> None:
        """Take a slot, and count the request; one that is refused gives its slot back."""
        if self._stopping:
            raise StoppingError
        if self.in_flight >= self.max_inflight:
            parts.refused(BusyError.code)
            raise BusyError(f"{self.max_inflight} requests are being answered; try again later.")

        self.in_flight += 1
        try:
            if claim:
                await claim()
            await self._count(caller)
        except BaseException:
            self.in_flight -= 1
            raise

    async def _count(self, caller: Caller) -> None:
        try:
            await self.quotas.admit(caller)
        except QuotaError:
            parts.refused(QuotaError.code)
            raise
        if self._stopping:  # meanwhile
            raise StoppingError

    def _free_slot(self, task: asyncio.Task[Any]) -> None:
        self.in_flight -= 1
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as seen: whoever waited may have gone

    async def _answer(
        self,
        project: Project,
        request: RetrieveRequest,
        retrieval_id: str,
        listener: Listener | None,
    ) -> RetrieveResponse:
        deadline = Deadline.after(self.deadline_s)
        with self._on_behalf_of(project, retrieval_id):
            log.info("retrieval_started", extra={"query": request.query, "top_k": request.top_k})
            channel = channel_of(self._channel_template, retrieval_id)
            async with Progress(
                project.id,
                retrieval_id,
                self.sink,
                listener.progress if listener else None,
                channel,
            ) as progress:
                asked = request.within(project.id)
                slot = self._slot(project, asked.remembered_by)
                return await self._search.retrieve(asked, progress, deadline, listener, slot)

    async def _answer_from_nodes(
        self,
        rag: RagSearch,
        project: Project,
        question: str,
        retrieval_id: str,
        listener: Listener | None,
    ) -> RagResponse:
        deadline = Deadline.after(self.deadline_s)
        with self._on_behalf_of(project, retrieval_id):
            log.info("rag_started", extra={"query": question})
            slot = self._slot(project, RagRequest(question=question))
            return await rag.answer(question, project.id, retrieval_id, deadline, listener, slot)

    def _slot(self, project: Project, asked: BaseModel) -> AnswerSlot | None:
        return self.answers(project, asked) if self.answers else None

    @contextmanager
    def _on_behalf_of(self, project: Project, retrieval_id: str) -> Iterator[None]:
        """Name the request in the log lines of a block, and count its tokens for its caller.

        Raises:
            StoppingError: the block was cancelled because the process is being stopped.
        """
        words = self.settings is not None and self.settings.log_questions
        with bound(
            retrieval_id=retrieval_id,
            project_id=project.id,
            caller=project.caller.name,
            words=words,
        ):
            try:
                with self._spending(project.caller):
                    yield
            except asyncio.CancelledError:
                if self._stopping:
                    raise StoppingError from None
                raise

    @contextmanager
    def _spending(self, caller: Caller) -> Iterator[None]:
        """Count the tokens of a block for its caller, however the block ends."""
        with parts.measured() as cost:
            try:
                yield
            finally:
                self.quotas.spent(caller, cost.prompt_tokens + cost.completion_tokens)

    @property
    def _channel_template(self) -> str:
        return self.settings.channel_template if self.settings else CHANNEL

    def reads(self) -> GraphReader:
        """Return what reads the graph without searching it.

        Raises:
            NotConfiguredError: this service was built over a graph that only searches.
        """
        if self.reader is None:
            raise NotConfiguredError(("This service has no graph that can be read.",))
        return self.reader

    async def stop(self) -> None:
        """Admit nobody any more, and let whoever waits know that the service is being stopped."""
        self._stopping = True
        await asyncio.sleep(0)  # a task that never began could not say why it ended
        for task in list(self._running):
            task.cancel()

    async def close(self) -> None:
        """Close the clients. The platform never asks for it, so nothing depends on it."""
        for close in self.closers:
            await close()

    async def readiness(self) -> dict[str, Readiness]:
        """Return how the graph, its indexes, the models and Redis stand, by these names.

        `model` is that of the embeddings. With keys of our own there is `quota` too, with a
        schedule `reconcile`.

        Redis, quota and reconcile are at worst degraded.
        """
        graph, model, chat, redis = await asyncio.gather(
            self.graph_readiness(),
            self._model_readiness(),
            self.ports.chat.health(),
            self._redis_readiness(),
        )
        entries = {**graph, "model": model, "chat": chat, "redis": redis}
        if self.settings and self.settings.auth_mode == "keys":
            entries["quota"] = await self.quotas.readiness()
        if self.settings and self.settings.reconcile_schedule:
            entries["reconcile"] = self._timer_readiness(self.settings)
        return entries

    def _timer_readiness(self, settings: Settings) -> Readiness:
        reason = settings.schedule_problem or settings.nothing_to_reconcile
        return Readiness.degraded(f"{reason}, nothing is reconciled") if reason else Readiness.ok()

    async def graph_readiness(self) -> dict[str, Readiness]:
        """Return how `graph` and its `indexes` stand."""
        try:
            async with asyncio.timeout(HEALTH_TIMEOUT_S):
                health = await self.ports.graph.health()
        except (DriftError, TimeoutError) as error:
            return {
                "graph": Readiness.failing(_detail(error)),
                "indexes": Readiness.failing("unknown"),
            }

        dimensions = self.settings.vector_index_dimensions if self.settings else None
        return {"graph": Readiness.ok(), "indexes": health.readiness(dimensions)}

    async def _model_readiness(self) -> Readiness:
        model = self.embedding_model or self.ports.embedder
        try:
            await model.embed(["ready?"], Deadline.after(HEALTH_TIMEOUT_S))
        except DriftError as error:
            return Readiness.failing(error.detail)
        return Readiness.ok()

    async def _redis_readiness(self) -> Readiness:
        if self.sink is None:
            return Readiness.degraded("REDIS_URL is not set, nobody sees progress")

        progress = await self.sink.health()
        if not progress.is_ok:
            return Readiness.degraded(f"{progress.reason}, nobody sees progress")
        return Readiness.joined(await asyncio.gather(*(health() for health in self.caches)))


def rag_rules(settings: Settings) -> RagRules:
    """Return what questions to the nodes hold to."""
    return RagRules(
        settings.searched_labels, settings.rag_score_threshold, settings.oai_embed_model_name
    )


def node_rules(settings: Settings) -> NodeRules:
    """Return what written nodes hold to."""
    return NodeRules(
        settings.searched_labels,
        settings.oai_embed_model_name,
        settings.vector_index_dimensions,
        embeds=settings.enable_rag_search,
    )


def _detail(error: Exception) -> str:
    return error.detail if isinstance(error, DriftError) else "no answer in time"

"""What every request of one event loop shares: the searches over the servers of the settings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from drift.auth.caller import Caller, Project, Right
from drift.auth.claims import Claims
from drift.auth.quotas import Quotas
from drift.auth.ranges import readable_ranges
from drift.contracts.evidence import EvidenceResponse
from drift.contracts.feedback import ScorableAnswer
from drift.contracts.filter import Filter, combined
from drift.contracts.progress import channel_of
from drift.contracts.rag import RagRequest, RagResponse
from drift.contracts.request import RetrieveRequest
from drift.core.deadline import Deadline
from drift.core.errors import NotConfiguredError, NotFoundError
from drift.core.logs import bound, log
from drift.http.admission import Admission
from drift.http.health import Health
from drift.http.joining import Joining
from drift.http.settings import Settings
from drift.http.shared_runs import SharedRuns
from drift.http.time_limits import READING_S
from drift.http.visible import Visible, WholeGraph
from drift.model.health import GraphHealth, Readiness
from drift.model.limits import Limits
from drift.model.reading import PageQuery
from drift.nodes.embedding_calls import EmbeddingCalls
from drift.nodes.node_context import MAX_CONTEXT_TOKENS
from drift.nodes.query import RagRules, RagSearch
from drift.nodes.reconciling import NodeReconciling
from drift.nodes.writing import NodeWriting
from drift.ports import AnswerSlot, Embedder, GraphReader, Listener, Ports, ProgressSink
from drift.search.drift import DriftSearch
from drift.search.evidence import EvidenceSearch
from drift.search.fallback import of_provider
from drift.search.prices import PriceTable
from drift.search.progress import Progress
from drift.telemetry import arrivals

if TYPE_CHECKING:  # it loads what reads documents
    from drift.indexing.documents import ReadFile
    from drift.indexing.indexer import Indexer
    from drift.indexing.readers import Readers
    from drift.redis.feedback import RedisFeedback

_NO_PROJECTS = ("GRAPH_SCHEMA must be default: the graphs of others have no projects.",)


@dataclass(slots=True)
class Service:
    """Answers questions for callers who were let in, and hands out what reads and writes nodes.

    `sink` and `answers` are None where nothing is told or kept. `embedding_model` embeds what is
    stored; no cache stands before it. `fallback` tells how second vectors stand. `read_file` reads
    the files that are sent, in a process beside this one; without it they are text and Markdown.
    """

    settings: Settings
    ports: Ports
    graph: WholeGraph
    sink: ProgressSink | None = None
    prices: PriceTable | None = None
    quotas: Quotas = field(default_factory=Quotas)
    claims: Claims = field(default_factory=Claims)
    shared: SharedRuns | None = None
    answers: Callable[[Project, BaseModel], AnswerSlot] | None = None
    embedding_model: Embedder | None = None
    fallback: Callable[[], Awaitable[GraphHealth]] | None = None
    vectors: Callable[[], Awaitable[Readiness]] | None = None
    caches: Sequence[Callable[[], Awaitable[Readiness]]] = ()
    closers: Sequence[Callable[[], Awaitable[None]]] = ()
    read_file: ReadFile | None = None
    feedback: RedisFeedback | None = None
    admission: Admission = field(init=False)
    joining: Joining = field(init=False)
    health: Health = field(init=False)
    _readers: Readers | None = field(init=False, default=None)
    _rules: tuple[Limits, PriceTable | None, str] = field(init=False)
    _rag: RagSearch = field(init=False)

    def __post_init__(self) -> None:
        """Build what the settings and servers make."""
        settings, ports = self.settings, self.ports
        self.embedding_model = self.embedding_model or ports.embedder
        self.admission = Admission(settings.max_inflight, self.quotas)
        self.joining = Joining(self.admission, self.shared, keeps=settings.cache == "on")
        self.health = Health(
            settings,
            graph=ports.graph.health,
            model=self.embedding_model,
            chat=ports.chat,
            sink=self.sink,
            caches=(*self.caches, *([self.feedback.health] if self.feedback else ())),
            quotas=self.quotas,
            searches=self.admission.searches,
            fallback=self.fallback,
            vectors=self.vectors,
            reranker=ports.reranker.health if ports.reranker else None,
        )
        embedding_model = settings.oai_embed_model_name
        self._rules = (settings.limits, self.prices, embedding_model)
        is_set = "max_prompt_tokens" in settings.model_fields_set
        rules = RagRules(
            settings.searched_labels,
            settings.rag_score_threshold,
            embedding_model,
            settings.max_prompt_tokens if is_set else MAX_CONTEXT_TOKENS,
        )
        self._rag = RagSearch(of_provider(ports), self.graph.finder, rules)

    async def project(self, caller: Caller, named: str | None, right: Right = "read") -> Project:
        """Return the project of a request: as named, or the one that needs no name.

        That is the caller's only one, that of RAG_PROJECT, or the only one in the graph that the
        caller may read. The graph is asked each time, as a second may have come. Errors as for
        `Caller.project`, and UpstreamError.
        """
        if named is None and caller.only_project is None:
            named = self.settings.rag_project
            if named is None or not caller.may(named, right):
                named = await self._only_readable(caller)
        return caller.project(named, right)

    async def _only_readable(self, caller: Caller) -> str | None:
        if self.settings.graph_schema != "default":  # which answers to any name
            # What a graph without projects is called by who may call it anything.
            return next((one.first or "graph" for one in readable_ranges(caller)), None)
        page = await self.graph.reader.projects(caller, PageQuery(2), Deadline.after(READING_S))
        return page.rows[0] if len(page.rows) == 1 and page.last is None else None

    # ------------------------------------------------------------------------------- questions
    async def start(
        self,
        project: Project,
        request: RetrieveRequest,
        retrieval_id: str,
        listener: Listener | None = None,
    ) -> asyncio.Task[Any]:
        """Start making a RetrieveResponse, or an EvidenceAnswer for who wants no answer.

        Errors as for `Admission.begin`, whose claim is the retrieval's id.
        """
        is_chosen, most_s = request.retrieval_id is not None, request.limits.max_seconds

        async def answer() -> object:
            with self._on_behalf_of(project, retrieval_id, most_s) as deadline:
                about = {"query": request.query, "top_k": request.top_k}
                log.info("retrieval_started", extra=about)
                heard = listener.progress if listener else None
                channel = channel_of(self.settings.channel_template, retrieval_id)
                asked = request.within(project.id, project.filter)
                slot = self.answers(project, asked.remembered_by) if self.answers else None
                async with Progress(
                    project.id, retrieval_id, self.sink, heard, channel
                ) as progress:
                    with progress.failing():
                        seen = await self._servers.within(project.id, asked.filter, deadline)
                    if not asked.answer:
                        evidence = EvidenceSearch(seen.ports, *self._rules)
                        return await evidence.answer(asked, progress, deadline)
                    search = DriftSearch(seen.ports, *self._rules)
                    answer = await search.retrieve(asked, progress, deadline, listener, slot)
                if self.feedback:
                    scorable = ScorableAnswer.of(answer, retrieval_id, asked)
                    self.feedback.remember(project.caller, scorable)
                return answer

        return await self.admission.begin(
            project.caller,
            answer,
            lambda: self.claims.take(
                retrieval_id, project.caller, self.settings.deadline_sec, is_chosen=is_chosen
            ),
        )

    async def start_rag(
        self,
        project: Project,
        request: RagRequest,
        retrieval_id: str,
        listener: Listener | None = None,
    ) -> asyncio.Task[RagResponse]:
        """Start answering from nodes; errors as for `Admission.begin` and `rag`."""
        rag = self.rag()

        async def answer() -> RagResponse:
            with self._on_behalf_of(project, retrieval_id) as deadline:
                question, both = request.question, combined("and", (project.filter, request.filter))
                log.info("rag_started", extra={"query": question})
                asked = RagRequest.model_construct(question=question, filter=both)
                slot = self.answers(project, asked) if self.answers else None
                seen = await self._servers.within(project.id, both, deadline)
                over = rag.over(seen.graph.finder) if both else rag
                return await over.answer(
                    question, project.id, retrieval_id, deadline, listener, slot
                )

        return await self.admission.begin(project.caller, answer)

    async def seen(self, project: Project, asked: Filter | None, deadline: Deadline) -> Visible:
        """Return the servers as a caller may use them for a project, and wants to."""
        both = combined("and", (project.filter, asked))
        return await self._servers.within(project.id, both, deadline)

    @property
    def _servers(self) -> Visible:
        return Visible(self.ports, self.graph)

    @contextmanager
    def _on_behalf_of(
        self, project: Project, retrieval_id: str, max_seconds: float | None = None
    ) -> Iterator[Deadline]:
        """Name the request in a block's log lines, and count its tokens and how the search ends."""
        about = {"retrieval_id": retrieval_id, "project_id": project.id}
        most, words = self.settings.deadline_sec, self.settings.log_questions
        named = bound(**about, caller=project.caller.name, words=words)
        ending = self.admission.searches.counted(is_own_limit=(max_seconds or most) < most)
        with named, self.admission.counted(project.caller), ending:
            yield arrivals.deadline(min(most, max_seconds or most))

    async def start_evidence(
        self, project: Project, request: RetrieveRequest, retrieval_id: str, *, reranks: bool = True
    ) -> asyncio.Task[EvidenceResponse]:
        """Start finding passages for another program; errors as for `Admission.begin`."""

        async def find() -> EvidenceResponse:
            with self._on_behalf_of(project, retrieval_id) as deadline:
                log.info("evidence_started", extra={"query": request.query})
                located = request.model_copy(update={"include": ("locations",)})
                asked = located.within(project.id, project.filter)
                seen = await self._servers.within(project.id, asked.filter, deadline)
                evidence = EvidenceSearch(seen.ports, *self._rules)
                return await evidence.find(asked, retrieval_id, deadline, reranks=reranks)

        return await self.admission.begin(project.caller, find)

    # ----------------------------------------------------------------------------------- nodes
    def rag(self) -> RagSearch:
        """Return what answers from nodes; NotFoundError where the settings hide it."""
        if not self.settings.enable_rag_search:
            raise NotFoundError("There is nothing under this path.")
        return self._rag

    def nodes(self) -> NodeWriting:
        """Return what writes people's own nodes; NotFoundError unless the settings open it."""
        self.require_indexing()
        if self.graph.store is None:
            raise NotConfiguredError(_NO_PROJECTS)
        model = self.embedding_model or self.ports.embedder
        return NodeWriting(self.graph.store, model, self.settings.node_rules)

    def require_indexing(self) -> None:
        """Raise NotFoundError unless the settings open what is written over HTTP."""
        if not self.settings.enable_indexing:
            raise NotFoundError("There is nothing under this path.")

    async def indexer(self, project: Project) -> Indexer:
        """Return what writes a project's documents; errors as for `nodes`."""
        self.require_indexing()
        if self.graph.index is None:
            raise NotConfiguredError(_NO_PROJECTS)
        # In a thread: what reads documents loads with the first of them.
        return await asyncio.to_thread(self.graph.index, project.id)

    def readers(self) -> Readers:
        """Return what reads the documents that are sent; nothing of it starts before the first."""
        from drift.indexing.readers import Readers  # noqa: PLC0415 - see `indexer`

        if self._readers is None:
            self._readers = Readers(self.settings.reading_memory_mb, self.settings.reading_s)
        return self._readers

    def reconciling(self) -> NodeReconciling:
        """Return what mends the vectors of people's nodes; no cache stands before the model."""
        if self.graph.labelled is None:
            raise NotConfiguredError(_NO_PROJECTS)
        rules = self.settings.node_rules
        calls = EmbeddingCalls(self.embedding_model or self.ports.embedder, rules.dimensions)
        return NodeReconciling(self.graph.labelled, calls, rules)

    def reads(self) -> GraphReader:
        """Return what tells which projects there are; `seen` gives what may be read of one."""
        return self.graph.reader

    async def close(self) -> None:
        """Close the clients. The platform never asks for it, so nothing depends on it."""
        if self._readers is not None:
            self._readers.close()
        await self.joining.close()
        for close in self.closers:
            await close()

"""What every request of one event loop shares: the searches over the servers of the settings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import BaseModel

from drift.auth.caller import Caller, Project, Right
from drift.auth.claims import Claims
from drift.auth.quotas import Quotas
from drift.auth.ranges import readable_ranges
from drift.contracts.answer import RetrieveResponse
from drift.contracts.evidence import EvidenceResponse
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
from drift.model.health import GraphHealth, Readiness
from drift.model.reading import PageQuery
from drift.nodes.embedding_calls import EmbeddingCalls
from drift.nodes.node_context import MAX_CONTEXT_TOKENS
from drift.nodes.ports import LabelledNodes, NodeFinder, NodeStore
from drift.nodes.query import RagRules, RagSearch
from drift.nodes.reconciling import NodeReconciling
from drift.nodes.writing import NodeWriting
from drift.ports import (
    AnswerSlot,
    Embedder,
    GraphReader,
    Listener,
    Ports,
    ProgressSink,
)
from drift.search.drift import DriftSearch
from drift.search.fallback import of_provider
from drift.search.prices import PriceTable
from drift.search.progress import Progress

if TYPE_CHECKING:  # it loads what reads documents
    from drift.indexing.documents import ReadFile
    from drift.indexing.indexer import Indexer
    from drift.indexing.readers import Readers

_ONLY_SEARCHED = ("This service has a graph that is only searched.",)
_NO_PROJECTS = ("GRAPH_SCHEMA must be default: the graphs of others have no projects.",)


@dataclass(frozen=True, slots=True)
class WholeGraph:
    """What is done with a graph besides searching it; one of v1 has nothing to write.

    `index` makes what writes the documents of a project, and tells the tokens that this takes.
    """

    reader: GraphReader
    finder: NodeFinder
    store: NodeStore | None = None
    labelled: LabelledNodes | None = None
    index: Callable[[str], Indexer] | None = None


@dataclass(slots=True)
class Service:
    """Answers questions for callers who were let in, and hands out what reads and writes nodes.

    `graph` is None where it is only searched, `sink` and `answers` where nothing is told or kept.
    `embedding_model` embeds what is stored; no cache stands before it. `fallback` tells how
    second vectors stand. `read_file` reads the files that are sent, in a process beside this one;
    without it they are text and Markdown.
    """

    settings: Settings
    ports: Ports
    sink: ProgressSink | None = None
    graph: WholeGraph | None = None
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
    admission: Admission = field(init=False)
    joining: Joining = field(init=False)
    health: Health = field(init=False)
    _readers: Readers | None = field(init=False, default=None)
    _search: DriftSearch = field(init=False)
    _rag: RagSearch | None = field(init=False)

    def __post_init__(self) -> None:
        """Build what the settings and servers make."""
        settings, ports = self.settings, self.ports
        self.embedding_model = self.embedding_model or ports.embedder
        self.admission = Admission(settings.max_inflight, self.quotas)
        self.joining = Joining(self.admission, self.shared)
        self.health = Health(
            settings,
            graph=ports.graph.health,
            model=self.embedding_model,
            chat=ports.chat,
            sink=self.sink,
            caches=self.caches,
            quotas=self.quotas,
            fallback=self.fallback,
            vectors=self.vectors,
            reranker=ports.reranker.health if ports.reranker else None,
        )
        embedding_model = settings.oai_embed_model_name
        self._search = DriftSearch(ports, settings.limits, self.prices, embedding_model)
        is_set = "max_prompt_tokens" in settings.model_fields_set
        rules = RagRules(
            settings.searched_labels,
            settings.rag_score_threshold,
            embedding_model,
            settings.max_prompt_tokens if is_set else MAX_CONTEXT_TOKENS,
        )
        self._rag = RagSearch(of_provider(ports), self.graph.finder, rules) if self.graph else None

    async def project(self, caller: Caller, named: str | None, right: Right = "read") -> Project:
        """Return the project of a request: as named, or the one that needs no name.

        That is the caller's only one, that of RAG_PROJECT, or the only one in the graph that the
        caller may read. The graph is asked each time: what was true before a second project came
        would be the wrong one. Errors as for `Caller.project`, and UpstreamError.
        """
        if named is None and caller.only_project is None:
            named = self.settings.rag_project
            if named is None or not caller.may(named, right):
                named = await self._only_readable(caller)
        return caller.project(named, right)

    async def _only_readable(self, caller: Caller) -> str | None:
        if self.graph is None:
            return None
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
    ) -> asyncio.Task[RetrieveResponse]:
        """Start answering; errors as for `Admission.begin`, whose claim is the retrieval's id."""
        is_chosen = request.retrieval_id is not None

        async def answer() -> RetrieveResponse:
            with self._on_behalf_of(project, retrieval_id) as deadline:
                about = {"query": request.query, "top_k": request.top_k}
                log.info("retrieval_started", extra=about)
                heard = listener.progress if listener else None
                channel = channel_of(self.settings.channel_template, retrieval_id)
                asked = request.within(project.id)
                slot = self.answers(project, asked.remembered_by) if self.answers else None
                async with Progress(
                    project.id, retrieval_id, self.sink, heard, channel
                ) as progress:
                    return await self._search.retrieve(asked, progress, deadline, listener, slot)

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
        question: str,
        retrieval_id: str,
        listener: Listener | None = None,
    ) -> asyncio.Task[RagResponse]:
        """Start answering from nodes; errors as for `Admission.begin` and `rag`."""
        rag = self.rag()

        async def answer() -> RagResponse:
            with self._on_behalf_of(project, retrieval_id) as deadline:
                log.info("rag_started", extra={"query": question})
                asked = RagRequest(question=question)
                slot = self.answers(project, asked) if self.answers else None
                return await rag.answer(
                    question, project.id, retrieval_id, deadline, listener, slot
                )

        return await self.admission.begin(project.caller, answer)

    @contextmanager
    def _on_behalf_of(self, project: Project, retrieval_id: str) -> Iterator[Deadline]:
        """Name the request in the log lines of a block, and count its tokens for its caller."""
        about = {"retrieval_id": retrieval_id, "project_id": project.id}
        deadline, words = Deadline.after(self.settings.deadline_sec), self.settings.log_questions
        named = bound(**about, caller=project.caller.name, words=words)
        with named, self.admission.counted(project.caller):
            yield deadline

    async def start_evidence(
        self, project: Project, request: RetrieveRequest, retrieval_id: str
    ) -> asyncio.Task[EvidenceResponse]:
        """Start finding passages without an answer; errors as for `Admission.begin`."""

        async def find() -> EvidenceResponse:
            with self._on_behalf_of(project, retrieval_id) as deadline:
                log.info("evidence_started", extra={"query": request.query})
                located = request.model_copy(update={"include": ("locations",)})
                asked = located.within(project.id)
                return await self._search.find_passages(asked, retrieval_id, deadline)

        return await self.admission.begin(project.caller, find)

    # ----------------------------------------------------------------------------------- nodes
    def rag(self) -> RagSearch:
        """Return what answers from nodes; NotFoundError where the settings hide it."""
        if not self.settings.enable_rag_search:
            raise NotFoundError("There is nothing under this path.")
        if self._rag is None:
            raise NotConfiguredError(_ONLY_SEARCHED)
        return self._rag

    def nodes(self) -> NodeWriting:
        """Return what writes people's own nodes; NotFoundError unless the settings open it."""
        self.require_indexing()
        if self.graph is None or self.graph.store is None:
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
        if self.graph is None or self.graph.index is None:
            raise NotConfiguredError(_NO_PROJECTS)
        # In a thread: what reads documents loads with the first of them.
        return await asyncio.to_thread(self.graph.index, project.id)

    def readers(self) -> Readers:
        """Return what reads the documents that are sent; nothing of it starts before the first."""
        from drift.indexing.readers import Readers  # noqa: PLC0415 - see `indexer`

        if self._readers is None:
            self._readers = Readers(self.settings.reading_memory_mb)
        return self._readers

    def reconciling(self) -> NodeReconciling:
        """Return what mends the vectors of people's nodes; no cache stands before the model."""
        if self.graph is None or self.graph.labelled is None:
            raise NotConfiguredError(_NO_PROJECTS)
        rules = self.settings.node_rules
        calls = EmbeddingCalls(self.embedding_model or self.ports.embedder, rules.dimensions)
        return NodeReconciling(self.graph.labelled, calls, rules)

    def reads(self) -> GraphReader:
        """Return what reads the graph without searching it."""
        if self.graph is None:
            raise NotConfiguredError(_ONLY_SEARCHED)
        return self.graph.reader

    async def close(self) -> None:
        """Close the clients. The platform never asks for it, so nothing depends on it."""
        if self._readers is not None:
            self._readers.close()
        await self.joining.close()
        for close in self.closers:
            await close()

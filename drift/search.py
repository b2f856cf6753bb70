"""One request, top to bottom: expand the query, prime from the communities, follow up, aggregate, check, answer.

DRIFT search after Microsoft Research (2024), over a Neo4j graph with a community hierarchy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from drift import citations, context, prompts, telemetry
from drift.contracts import (
    NO_DATA_STATE,
    AggregateReply,
    CitationCountsOut,
    CitationOut,
    KeyFact,
    Phase,
    PrimerReply,
    RetrieveRequest,
    RetrieveResponse,
    TraceNode,
    TraceOut,
    UsageOut,
)
from drift.errors import DriftError, ModelUnavailableError, UnusableReplyError
from drift.followups import FollowupTree, Services, require_answers
from drift.logs import log
from drift.model import CitationCounts, Node, PrimerEvidence, PrimerQuery, Vector
from drift.plan import Proposal
from drift.progress import Progress, escape_markdown, name_list
from drift.replies import ask
from drift.tasks import Deadline
from drift.usage import Meter

HYPOTHESIS_CHARACTERS = 4000
"""What is embedded of a hypothesis: a model that did not stop would exceed what an embedding model takes."""
MIN_FOLLOWUPS = 2
MAX_PRIMER_FOLLOWUPS = 6


class DriftSearch:
    """Answers questions from one graph with one model; holds clients and limits, nothing about a request."""

    def __init__(self, services: Services) -> None:
        """Keep the servers."""
        self._services = services

    async def retrieve(self, request: RetrieveRequest, progress: Progress, deadline: Deadline) -> RetrieveResponse:
        """Answer a request, reporting progress up to and including the last message.

        Raises:
            UpstreamError: when the graph or the model failed after its retries, or nothing was found in time.
        """
        retrieval = _Retrieval(self._services, request, progress, deadline, Meter())
        try:
            with telemetry.retrieval(progress.retrieval_id, request.project_id, retrieval.meter) as whole:
                async with deadline.enforced():
                    response = await retrieval.answer()
                if response.no_data_found:
                    whole.outcome = NO_DATA_STATE
                return response
        except DriftError as error:
            progress.failed(error.detail)
            raise


@dataclass(slots=True)
class _Retrieval:
    """The state of one request."""

    services: Services
    request: RetrieveRequest
    progress: Progress
    deadline: Deadline
    meter: Meter
    critical_path_s: float = 0.0

    async def answer(self) -> RetrieveResponse:
        self.progress.report(Phase.INITIALIZING, "Starting the retrieval")
        self.progress.report(Phase.EXPANDING_QUERY, "Imagining an ideal answer to search with")
        with telemetry.phase(Phase.EXPANDING_QUERY, self.meter):
            hypothesis = await self.expand_query()
            vector = await self.embed(f"{self.request.query}\n{hypothesis}".strip())
        with telemetry.phase(Phase.RETRIEVING_COMMUNITIES, self.meter) as part:
            found = await self.find_communities(vector)
            part.add(communities=len(found.communities), chunks=len(found.all_chunks()))
            if found.is_empty:
                return self.no_data()
            initial_answer, proposals = await self.prime(found)
        with telemetry.phase(Phase.EXECUTING_FOLLOWUP, self.meter) as part:
            tree = await self.follow_up(found, proposals, part)
        self.progress.report(
            Phase.AGGREGATING_RESULTS, "Putting the answer together", name_list(_documents(tree), bracketed=False)
        )
        with telemetry.phase(Phase.AGGREGATING_RESULTS, self.meter) as part:
            reply = await self.aggregate(initial_answer, tree)
            part.add(facts=len(reply.key_facts))
        return self.respond(reply, initial_answer, found, tree)

    async def expand_query(self) -> str:
        """Return a hypothetical answer paragraph (HyDE); without one, the question alone is searched with."""
        prompt = prompts.hypothesis(self.request.query)
        try:
            reply, seconds = await self.meter.timed(self.services.chat.complete(prompt, self.deadline))
        except UnusableReplyError as error:
            log.warning("hypothesis_unusable", extra={"reason": error.detail})
            return ""
        self.meter.chat(Phase.EXPANDING_QUERY, reply)
        self.critical_path_s += seconds
        return reply.text[:HYPOTHESIS_CHARACTERS]

    async def embed(self, text: str) -> Vector:
        """Return the vector of question and hypothesis."""
        embeddings, seconds = await self.meter.timed(self.services.embedder.embed([text], self.deadline))
        self.meter.embedding(Phase.EXPANDING_QUERY, embeddings)
        self.critical_path_s += seconds
        return embeddings.vectors[0]

    async def find_communities(self, vector: Vector) -> PrimerEvidence:
        """Return the best communities, highest level first, with sample chunks."""
        query = PrimerQuery(self.request.project_id, self.request.query, vector, self.request.top_k)
        self.meter.graph_round_trips += 1
        found, seconds = await self.meter.timed(self.services.graph.primer(query, self.deadline))
        self.critical_path_s += seconds
        titles = [c.summary.strip().split("\n", 1)[0][:80] for c in found.communities]
        details = "\n".join(f"- {escape_markdown(title)}" for title in titles)
        self.progress.report(Phase.RETRIEVING_COMMUNITIES, f"Found {len(titles)} communities", details)
        return found

    def no_data(self) -> RetrieveResponse:
        """Answer that the project holds nothing for the question."""
        response = RetrieveResponse(
            final_answer="",
            key_facts=[],
            residual_uncertainty="",
            no_data_found=True,
            usage=self._usage(),
            trace=_trace("", PrimerEvidence(), {}, CitationCounts()) if "trace" in self.request.include else None,
        )
        self.progress.completed("Nothing was found in this project")
        return response

    def _usage(self) -> UsageOut | None:
        return self.meter.report(self.critical_path_s) if "usage" in self.request.include else None

    async def prime(self, found: PrimerEvidence) -> tuple[str, list[Proposal]]:
        """Return the initial answer and the first follow-ups; without a usable reply, the question itself is followed."""
        handles = context.Handles.of("C", (c.id for c in found.communities))
        prompt = prompts.primer(
            self.request.query,
            context.community_rows(found.communities, handles),
            context.sample_rows(found.communities, found.chunks, handles),
        )
        question = (self.request.query, handles.keys)
        try:
            reply, seconds = await self.meter.timed(
                ask(self.services.chat, prompt, PrimerReply, Phase.RETRIEVING_COMMUNITIES, self.meter, self.deadline)
            )
        except UnusableReplyError as error:
            log.warning("primer_unusable", extra={"reason": error.detail})
            return "", [question]
        self.critical_path_s += seconds
        proposals: list[Proposal] = []
        for followup in reply.followups[:MAX_PRIMER_FOLLOWUPS]:
            keys = (handles.resolve(name) for name in followup.target_communities)
            proposals.append((followup.question, tuple(dict.fromkeys(key for key in keys if key is not None))))
        if len(proposals) < MIN_FOLLOWUPS:
            proposals.append(question)
        return reply.initial_answer, proposals

    async def follow_up(
        self, found: PrimerEvidence, proposals: Sequence[Proposal], part: telemetry.Part
    ) -> FollowupTree:
        """Return the tree of follow-ups, each asked of the graph and of the model."""
        tree = FollowupTree(
            self.services,
            self.request.project_id,
            self.request.query,
            found.communities,
            self.progress,
            self.meter,
            self.deadline,
        )
        tree.retrieved.update((chunk.id, chunk) for chunk in found.all_chunks())
        await tree.run(proposals)
        part.add(chunks=len(tree.retrieved))
        telemetry.count_followups(part, (node.state for node in tree.nodes.values()), tree.counts)
        require_answers(tree)
        self.critical_path_s += tree.critical_path_s
        return tree

    async def aggregate(self, initial_answer: str, tree: FollowupTree) -> AggregateReply:
        """Return the final answer and its facts from the whole tree."""
        handles = _cited(tree)
        prompt = prompts.aggregate(
            self.request.query,
            context.tree(initial_answer, list(tree.nodes.values()), handles),
            handles.all_short(),
        )
        try:
            reply, seconds = await self.meter.timed(
                ask(self.services.chat, prompt, AggregateReply, Phase.AGGREGATING_RESULTS, self.meter, self.deadline)
            )
        except UnusableReplyError as error:
            raise ModelUnavailableError("The model did not give a usable final answer.") from error
        self.critical_path_s += seconds
        return reply

    def respond(
        self, reply: AggregateReply, initial_answer: str, found: PrimerEvidence, tree: FollowupTree
    ) -> RetrieveResponse:
        """Turn the reply into the answer: enriched citations, honest uncertainty, and what the caller asked to include."""
        facts, uncited = _facts(reply, tree)
        wants_trace = "trace" in self.request.include
        response = RetrieveResponse(
            final_answer=reply.final_answer,
            key_facts=facts,
            residual_uncertainty=" ".join([reply.residual_uncertainty, *_caveats(tree, uncited)]).strip(),
            usage=self._usage(),
            trace=_trace(initial_answer, found, tree.nodes, tree.counts) if wants_trace else None,
        )
        names = citations.document_names(c for fact in facts for c in fact.citations)
        self.progress.completed("The answer is ready", name_list(names, bracketed=True))
        return response


def _cited(tree: FollowupTree) -> context.Handles[str]:
    """Number the chunks that hold checked citations, in the order they were asked for."""
    answers = (tree.nodes[number].answer for number in sorted(tree.nodes))
    return context.Handles.of("K", (c.chunk_id for answer in answers if answer for c in answer.citations))


def _documents(tree: FollowupTree) -> list[str]:
    answers = (tree.nodes[number].answer for number in sorted(tree.nodes))
    return citations.document_names(c for answer in answers if answer for c in answer.citations)


def _facts(reply: AggregateReply, tree: FollowupTree) -> tuple[list[KeyFact], int]:
    """Return the facts with enriched citations, and how many were left out because they cite nothing."""
    handles = _cited(tree)
    checked = [c for node in tree.nodes.values() if node.answer for c in node.answer.citations]
    facts = []
    for fact in reply.key_facts:
        ids = [(written, handles.resolve(written)) for written in fact.citations if written.strip()]
        enriched: list[CitationOut | str] = citations.enrich(fact.fact, ids, checked, tree.retrieved)
        if enriched and fact.fact:
            facts.append(KeyFact(fact=fact.fact, citations=enriched))
    return facts, len(reply.key_facts) - len(facts)


def _caveats(tree: FollowupTree, uncited: int) -> list[str]:
    """Say what a reader of the answer must know: what was cut short, what failed, what had no evidence."""
    states = [node.state for node in tree.nodes.values()]
    late = states.count("skipped: deadline")
    failed = sum(state.startswith("failed") for state in states)
    said = []
    if late:
        said.append(f"The time limit ended the search before {late} follow-up question(s) were answered.")
    if failed:
        said.append(f"{failed} follow-up question(s) could not be answered because of a failure.")
    if uncited:
        said.append(f"{uncited} statement(s) without any evidence were left out.")
    if not any(node.answer and node.answer.citations for node in tree.nodes.values()):
        said.append("No statement could be backed by a citation.")
    return said


def _trace(
    initial_answer: str, found: PrimerEvidence, tree_nodes: Mapping[int, Node], counts: CitationCounts
) -> TraceOut:
    nodes = [tree_nodes[number] for number in sorted(tree_nodes)]
    return TraceOut(
        initial_answer=initial_answer,
        communities=[c.id for c in found.communities],
        followups=[
            TraceNode(
                id=node.question.id,
                parent=node.question.parent,
                question=node.question.text,
                target_communities=list(node.question.communities),
                pass_=node.question.depth,
                confidence=node.answer.confidence if node.answer else None,
                state=node.state,
                chunk_ids=list(node.chunk_ids),
                seconds=node.seconds,
            )
            for node in nodes
        ],
        citations=CitationCountsOut(
            total=counts.total,
            kept=counts.kept,
            repaired=counts.repaired,
            dropped=dict(counts.dropped),
        ),
    )

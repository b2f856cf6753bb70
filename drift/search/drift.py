"""One request, top to bottom: expand the query, prime from communities, follow up, aggregate.

With another depth than `drift` one look comes before all that, and may be all (docs/depth.md).

DRIFT search after Microsoft Research (2024), over a Neo4j graph with a community hierarchy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from drift.answer import conclusion
from drift.answer.conclusion import Conclusion
from drift.answer.growing import GrowingAnswer
from drift.answer.response import (
    Searched,
    checked_citations,
    delivered,
    nothing_found,
    with_references,
)
from drift.answer.streaming import Telling
from drift.contracts.answer import NO_DATA_STATE, DepthOut, RetrieveResponse
from drift.contracts.progress import Phase
from drift.contracts.replies import AggregateReply
from drift.contracts.request import ProjectRequest
from drift.core.deadline import Deadline, Turns
from drift.core.errors import DriftError, ModelUnavailableError, UnusableReplyError, UpstreamError
from drift.core.logs import log
from drift.evidence import citations
from drift.evidence.names import unseen_name
from drift.model.graph import Evidence, PrimerEvidence, PrimerQuery, Vector
from drift.model.limits import Limits
from drift.model.tree import Proposal
from drift.ports import AnswerSlot, Listener, Ports
from drift.prompting import budget, prompts
from drift.search import depth
from drift.search.calls import Calls
from drift.search.followups import FollowupTree, require_answers
from drift.search.prices import PriceTable
from drift.search.primer import planned
from drift.search.progress import Progress, escape_markdown, name_list
from drift.search.quick import Look, QuickLook, unusable
from drift.search.reference_lookup import Clock, Referring, is_unread, utc_now
from drift.search.replies import ask
from drift.telemetry import parts

HYPOTHESIS_CHARACTERS = 4000
"""Characters of a hypothesis that are embedded: an embedding model refuses a longer text."""
MAX_TITLE_CHARACTERS = 80
ONE_LOOK_STANDS = (
    "A failure ended the search behind one look at the documents; what that found stands."
)


class DriftSearch:
    """Answers questions from one graph with one model; it holds nothing about a request."""

    def __init__(
        self,
        ports: Ports,
        limits: Limits,
        prices: PriceTable | None = None,
        embedding_model: str = "",
        clock: Clock = utc_now,
    ) -> None:
        """Keep the servers, the bounds of each search, and what the models cost.

        A project's threshold holds for its `embedding_model`; the clock says how old documents are.
        """
        self._ports = ports
        self._limits = limits
        self._prices = prices
        self._turns = Turns()
        self._model = embedding_model
        self._clock = clock

    async def retrieve(
        self,
        request: ProjectRequest,
        progress: Progress,
        deadline: Deadline,
        listener: Listener | None = None,
        slot: AnswerSlot | None = None,
    ) -> RetrieveResponse:
        """Answer a request, reporting progress up to and including the last message.

        A listener is told of the answer while the model writes it. An answer that stands in the
        slot is told again; one that is found without a failure is kept there.

        Raises:
            UpstreamError: when the graph or the model failed after its retries, or nothing was
                found in time.
        """
        calls = Calls.within(deadline, self._ports, self._turns)
        telling = Telling(listener)
        referring = Referring(self._ports, self._turns, deadline, self._model, self._clock)
        retrieval = _Retrieval(calls, self._limits, request, progress, deadline, telling, referring)
        try:
            with parts.retrieval(progress.retrieval_id, request.project_id) as whole:
                try:
                    async with deadline.enforced():
                        response = await retrieval.recalled(slot) or await retrieval.answer()
                except (UpstreamError, UnusableReplyError) as error:
                    response = await retrieval.answer_in_spite_of(error)

                if slot and retrieval.is_whole:
                    slot.keep(response)
                if response.no_data_found:
                    whole.outcome = NO_DATA_STATE
        except DriftError as error:
            progress.failed(error.detail)
            raise

        if "usage" in request.include:
            response.usage = whole.usage()
            response.usage.from_cache = retrieval.is_recalled
            if self._prices:
                response.usage.cost = self._prices.cost(whole.spending)

        return response


@dataclass(slots=True)
class _Retrieval:
    """One request on its way.

    `is_whole` tells whether its answer was found without a failure and in time, and `is_recalled`
    that it was found for an earlier request.
    """

    calls: Calls
    limits: Limits
    request: ProjectRequest
    progress: Progress
    deadline: Deadline
    telling: Telling
    referring: Referring
    is_whole: bool = False
    is_recalled: bool = False
    has_failed: bool = False
    look: Look | None = None

    @property
    def wants_locations(self) -> bool:
        """True for a caller who wants to see where each citation stands."""
        return "locations" in self.request.include or "references" in self.request.include

    async def recalled(self, slot: AnswerSlot | None) -> RetrieveResponse | None:
        """Tell an answer that was kept once more; None where there is none."""
        known = await slot.recall(RetrieveResponse, self.deadline) if slot else None
        if known is None:
            return None

        self.is_recalled = True
        parts.recalled()
        self.progress.report(Phase.INITIALIZING, "Starting the retrieval")
        return self.told(known)

    async def answer(self) -> RetrieveResponse:
        self.progress.report(Phase.INITIALIZING, "Starting the retrieval")
        with parts.phase(Phase.EXPANDING_QUERY):
            look = self.look = await self.look_first()
            if look and (self.request.depth == "quick" or not look.open):
                return await self.answer_by(look)

            hypothesis = await self.expand_query()
            vector = await self.embed(f"{self.request.query}\n{hypothesis}".strip())

        with parts.phase(Phase.RETRIEVING_COMMUNITIES) as part:
            found = await self.find_communities(vector)
            part.add(communities=len(found.communities), chunks=len(found.all_chunks()))
            if found.is_empty and not (look and look.found):
                return self.no_data(Searched(self.depth("drift", look)))
            most = self.limits.max_primer_tokens
            plan = await planned(self.calls.chat, self.request.query, found, most)
            first, proposals = plan.first, plan.beside(look is not None and look.found)

        with parts.phase(Phase.EXECUTING_FOLLOWUP) as part:
            if first.about_whole and not (look and look.open == depth.WHOLE):
                look = await self.with_the_whole(look)
            tree = await self.follow_up(found, proposals, look)
            part.critical_path_s = tree.longest_chain_s()
            part.add(chunks=len(tree.retrieved))
            parts.count_followups(part, (node.state for node in tree.nodes.values()), tree.counts)
            require_answers(tree)

        documents = citations.document_names(checked_citations(tree.in_order()))
        self.progress.report(
            Phase.AGGREGATING_RESULTS,
            "Putting the answer together",
            name_list(documents, bracketed=False),
        )
        with parts.phase(Phase.AGGREGATING_RESULTS) as part:
            concluded = await self.conclude(tree)
            part.add(facts=len(concluded.statements))
            used = self.depth("drift", look)
            searched = Searched(used, tree.in_order(), tree.counts, tree.retrieved, first, found)
            return await self.respond(concluded, searched, look)

    async def look_first(self) -> Look | None:
        """Return what one look finds; None where the whole search is asked for."""
        if self.request.depth == "drift":
            return None

        self.progress.report(Phase.EXPANDING_QUERY, "Looking whether one look answers it")
        # What one look says is not told before it is known that it is the answer.
        telling = self.telling if self.request.depth == "quick" else Telling()
        try:
            return await self.looking(telling).look(self.request.query)
        except UnusableReplyError as error:
            if self.request.depth == "quick":
                raise ModelUnavailableError("The model did not give a usable answer.") from error
            return unusable(self.request.query, error)

    def looking(self, telling: Telling) -> QuickLook:
        """Return what looks once."""
        return QuickLook(
            self.calls, self.limits, self.request.project_id, self.wants_locations, telling
        )

    async def with_the_whole(self, look: Look | None) -> Look | None:
        """Return a look with what the project knows of itself; the first where that finds less."""
        evidence = look.evidence if look else Evidence()
        whole = await self.looking(Telling()).look_at_whole(self.request.query, evidence)
        if whole is None or not whole.found:
            return look
        return replace(whole, open=look.open if look else "", vector=look.vector if look else ())

    async def answer_by(self, look: Look) -> RetrieveResponse:
        """Answer with what one look has found."""
        retrieved = {chunk.id: chunk for chunk in look.evidence.chunks}
        searched = Searched(self.depth("quick", look), [look.node], look.counts, retrieved)
        if not retrieved:
            return self.no_data(searched)
        self.progress.report(Phase.AGGREGATING_RESULTS, "Putting the answer together")
        return await self.respond(look.conclusion, searched, look)

    async def answer_in_spite_of(self, error: DriftError) -> RetrieveResponse:
        """Answer with what one look has found, where the search behind it came to nothing.

        Raises:
            UpstreamError: the failure itself, where no look has found anything.
        """
        look = self.look
        if look is None or not look.found:
            raise error

        log.warning("deeper_failed", extra={"code": error.code}, exc_info=error)
        self.has_failed = True
        found = look.conclusion
        uncertain = replace(found, uncertainty=(*found.uncertainty, ONE_LOOK_STANDS))

        return await self.answer_by(replace(look, conclusion=uncertain))

    def depth(self, used: Literal["quick", "drift"], look: Look | None) -> DepthOut:
        """Return how far the search was to go, how far it went, and why."""
        return DepthOut(asked=self.request.depth, used=used, reason=look.open if look else "")

    async def expand_query(self) -> str:
        """Return a hypothesis (HyDE); without a usable one, the question alone is searched with."""
        self.progress.report(Phase.EXPANDING_QUERY, "Imagining an ideal answer to search with")
        try:
            reply = await self.calls.chat.complete(prompts.hypothesis(self.request.query))
        except UnusableReplyError as error:
            log.warning("hypothesis_unusable", extra={"reason": error.detail})
            return ""

        return reply.text[:HYPOTHESIS_CHARACTERS]

    async def embed(self, text: str) -> Vector:
        """Return the vector of question and hypothesis."""
        embeddings = await self.calls.embedder.embed([text])
        return embeddings.vectors[0]

    async def find_communities(self, vector: Vector) -> PrimerEvidence:
        """Return the best communities, highest level first, with sample chunks."""
        request = self.request
        self.progress.report(Phase.RETRIEVING_COMMUNITIES, "Looking for communities")
        found = await self.calls.graph.primer(
            PrimerQuery(
                request.project_id, request.query, vector, request.top_k, self.wants_locations
            )
        )

        titles = [_title(community.summary) for community in found.communities]
        details = "\n".join(f"- {escape_markdown(title)}" for title in titles)
        self.progress.report(
            Phase.RETRIEVING_COMMUNITIES, f"Found {len(titles)} communities", details
        )

        return found

    def no_data(self, searched: Searched) -> RetrieveResponse:
        """Answer that the project holds nothing for the question, and report it."""
        self.progress.completed("Nothing was found in this project")
        return nothing_found(searched, self.request.include)

    async def follow_up(
        self, found: PrimerEvidence, proposals: Sequence[Proposal], look: Look | None
    ) -> FollowupTree:
        """Return the tree of follow-ups, each asked of the graph and of the model."""
        tree = FollowupTree(
            self.calls,
            self.limits,
            self.request.project_id,
            self.request.query,
            found.communities,
            self.progress,
            self.deadline,
            self.wants_locations,
            self.telling.followup if "trace" in self.request.include else None,
        )
        tree.retrieved.update((chunk.id, chunk) for chunk in found.all_chunks())
        if look and look.found:
            tree.begin_with(look.node, look.evidence.chunks)
            tree.counts += look.counts

        await tree.run(proposals)
        return tree

    async def conclude(self, tree: FollowupTree) -> Conclusion:
        """Return the answer, of sentences that stand on checked facts."""
        nodes, question = tree.in_order(), self.request.query
        most = self.limits.max_prompt_tokens
        prompt, facts = budget.aggregator(question, nodes, tree.retrieved, most)
        if not facts:
            return Conclusion()

        shown = list(tree.shown_texts())
        try:
            growing = GrowingAnswer(
                "final_answer", lambda _: () if unseen_name(question, shown) else facts
            )
            hear = self.telling.hear(growing)
            reply = await ask(self.calls.chat, prompt, AggregateReply, hear)
        except UnusableReplyError as error:
            log.warning("aggregation_unusable", extra={"reason": error.detail})
            self.has_failed = True
            return conclusion.without_last_call(question, nodes, shown)

        return conclusion.concluded(question, reply, facts, nodes, shown)

    async def respond(
        self, concluded: Conclusion, searched: Searched, look: Look | None
    ) -> RetrieveResponse:
        """Return the answer that is made of a conclusion, and tell it."""
        cut_short = any(node.state.is_cut_short for node in searched.nodes)
        self.is_whole = not (self.has_failed or cut_short)
        answered = delivered(concluded, searched, self.request.include)
        if "references" in self.request.include:
            self.telling.ended(answered.final_answer)
            vector = look.vector if look else ()
            references = await self.referring.references(
                self.request, concluded, searched.retrieved, vector
            )
            self.is_whole = self.is_whole and not is_unread(references)
            answered = with_references(answered, concluded, references)

        return self.told(answered)

    def told(self, answered: RetrieveResponse) -> RetrieveResponse:
        """Tell whoever follows the answer, and report it."""
        self.telling.whole(answered)
        cited = (citation for fact in answered.key_facts for citation in fact.citations)
        names = citations.document_names(cited)
        self.progress.completed("The answer is ready", name_list(names, bracketed=True))
        return answered


def _title(summary: str) -> str:
    """Return what a list shows of a community: its summary's first line."""
    return summary.strip().split("\n", 1)[0][:MAX_TITLE_CHARACTERS]

"""One request, top to bottom: expand the query, prime from communities, follow up, aggregate.

DRIFT search after Microsoft Research (2024), over a Neo4j graph with a community hierarchy. With
another depth than `drift` one look comes before all that, and may be all (docs/depth.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from drift.answer.conclusion import Conclusion
from drift.answer.reference_lookup import Clock, ReferenceLookup, utc_now
from drift.answer.references import build_references, cited_chunks
from drift.answer.response import (
    Searched,
    build_response,
    cut_short,
    nothing_found,
    with_references,
)
from drift.answer.streaming import Telling
from drift.contracts.answer import NO_DATA_STATE, DepthOut, RetrieveResponse
from drift.contracts.progress import Phase
from drift.contracts.replies import PrimerReply
from drift.contracts.request import ProjectRequest
from drift.core.deadline import Deadline
from drift.core.errors import DriftError, UnusableReplyError, UpstreamError
from drift.evidence import citations
from drift.model.graph import PrimerEvidence, Vector
from drift.model.limits import Limits
from drift.model.tree import Tree
from drift.ports import AnswerSlot, Listener, Ports
from drift.prompting.elements import Handles, RequestHandles
from drift.search.aggregator import aggregate
from drift.search.ends import found_in_time, note_end, standing
from drift.search.explaining import explained
from drift.search.followups import Followups
from drift.search.prices import PriceTable, usage_of
from drift.search.primer import Primer
from drift.search.progress import Progress, name_list
from drift.search.quick import ABOUT_WHOLE, Look, look_once, unusable
from drift.search.remarks import with_remarks
from drift.search.rewriting import in_full
from drift.search.scope import Scope
from drift.search.whole import look_at_whole
from drift.telemetry import arrivals, parts


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
        """Keep the servers, the bounds of each search, and the prices of the models."""
        self._ports = ports
        self._limits = limits
        self._prices = prices
        self._lookup = ReferenceLookup(ports, embedding_model, clock)

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
            UpstreamError: when the graph or the model failed, or nothing was found in time.
        """
        arrivals.tell(depth=request.depth)
        scope = Scope.within(self._ports, self._limits, request, deadline)
        slot = None if scope.noted else slot  # what is explained is searched anew
        run = _Retrieval(scope, progress, Telling(listener), self._lookup)
        with (
            progress.failing(),
            parts.retrieval(progress.retrieval_id, request.project_id) as whole,
        ):
            try:
                async with deadline.enforced():
                    response = await run.recall(slot) or await run.answer()
            except (UpstreamError, UnusableReplyError) as error:
                response = await run.answer_in_spite_of(error)

            response = with_remarks(response, run.scope)
            if slot and run.is_whole:
                slot.keep(response)
            if response.no_data_found:
                whole.outcome = NO_DATA_STATE

        if "usage" in request.include:
            response.usage = usage_of(whole, self._prices)
            response.usage.from_cache = run.is_recalled
        if scope.noted:
            response.explain = await explained(run.scope, whole, run.tree, response.cited)
        return response


@dataclass(slots=True)
class _Retrieval:
    """One request on its way; `is_whole` says that no part of its answer failed or was late."""

    scope: Scope
    progress: Progress
    telling: Telling
    lookup: ReferenceLookup
    is_whole: bool = False
    is_recalled: bool = False
    look: Look | None = None
    searched: Searched | None = None
    tree: Tree = field(default_factory=Tree)

    @property
    def request(self) -> ProjectRequest:
        return self.scope.request

    async def recall(self, slot: AnswerSlot | None) -> RetrieveResponse | None:
        """Tell an answer that was kept once more; None where there is none."""
        self.progress.report(Phase.INITIALIZING, "Starting the retrieval")
        known = await slot.recall(RetrieveResponse, self.scope.deadline) if slot else None
        if known is None:
            return None
        self.is_recalled = True
        parts.recalled()
        return self.tell(known)

    async def answer(self) -> RetrieveResponse:
        with parts.phase(Phase.EXPANDING_QUERY):
            self.scope = (await in_full(self.scope, self.progress)).with_what_is_left()
            look = self.look = await self.look_first()
            is_whole = look is not None and look.open == ABOUT_WHOLE
            is_quick = self.scope.is_quick
            if look and not is_whole and (is_quick or look.settles):
                return await self.answer_by(look)
            primer = Primer(self.scope, self.progress, look)
            vector, has_topics = ((), False) if is_whole else await primer.embed()

        if look and is_whole:
            own = PrimerEvidence(candidates=look.evidence.candidates)
            if answered := await self.answer_about_whole(own, look.vector, PrimerReply.empty()):
                return answered
            if is_quick:
                return await self.answer_by(look)
            vector, has_topics = await primer.embed()

        with parts.phase(Phase.RETRIEVING_COMMUNITIES) as part:
            found = await primer.find_communities(vector, has_topics)
            part.add(communities=len(found.communities), chunks=len(found.samples))
            if found.is_empty and not (look and look.found):
                return self.no_data(Searched(self.depth("drift")))
            handles = RequestHandles(Handles.of("C", (c.id for c in found.communities)))
            first, proposals = await primer.plan(found, handles)

        is_news = first.about_whole and not is_whole
        if is_news and (answered := await self.answer_about_whole(found, vector, first)):
            return answered

        with parts.phase(Phase.EXECUTING_FOLLOWUP) as part:
            followups = self.followups(found, handles, look)
            tree = await followups.run(proposals)
            note_end(self.scope, followups)
            part.critical_path_s = tree.longest_chain_s()
            part.add(chunks=len(tree.retrieved))
            parts.count_followups(part, (node.state for node in tree.nodes.values()), tree.counts)
            followups.require_answers()

        searched = self.searched = Searched(self.depth("drift"), tree, first, found)
        names = name_list(citations.document_names(tree.citations()), bracketed=False)
        self.progress.report(Phase.AGGREGATING_RESULTS, "Putting the answer together", names)
        with parts.phase(Phase.AGGREGATING_RESULTS) as part:
            concluded = await aggregate(self.scope, self.telling, tree, found)
            part.add(facts=len(concluded.statements))
            return await self.respond(concluded, searched)

    # ------------------------------------------------------------------------------------ one look
    async def look_first(self) -> Look | None:
        """Return the findings of one look; None where the whole search is asked for."""
        if self.request.depth == "drift" and not self.scope.is_quick:
            return None

        self.progress.report(Phase.EXPANDING_QUERY, "Looking whether one look answers it")
        # A first look is told only once it is known to be the answer.
        telling = self.telling if self.scope.is_quick else Telling()
        try:
            return await look_once(self.scope, telling)
        except UnusableReplyError as error:
            return unusable(self.scope, error)

    async def answer_by(self, look: Look) -> RetrieveResponse:
        """Answer with the findings of one look."""
        tree = Tree()
        tree.take(look.node, look.evidence.chunks, look.counts)
        if self.request.depth != "quick" and self.scope.is_quick and not look.settles:
            self.scope.end("max_followups", 0)
        searched = Searched(self.depth("quick"), tree)
        if not tree.retrieved:
            return self.no_data(searched)
        self.progress.report(Phase.AGGREGATING_RESULTS, "Putting the answer together")
        return await self.respond(look.conclusion, searched)

    async def answer_about_whole(
        self, found: PrimerEvidence, vector: Vector, first: PrimerReply
    ) -> RetrieveResponse | None:
        """Answer from looks at the project's topics; None where they find nothing."""
        self.progress.report(Phase.EXECUTING_FOLLOWUP, "Reading the topics of all documents")
        with parts.phase(Phase.EXECUTING_FOLLOWUP) as part:
            read = await look_at_whole(self.scope, found.candidates, vector, self.telling)
            if read is None:
                return None
            part.critical_path_s, tree = read.tree.longest_chain_s(), read.tree
            parts.count_followups(part, (node.state for node in tree.nodes.values()), tree.counts)

        self.progress.report(Phase.AGGREGATING_RESULTS, "Putting the answer together")
        with parts.phase(Phase.AGGREGATING_RESULTS):
            made = read.conclusion or await aggregate(self.scope, self.telling, tree, found)
            depth = self.depth("quick" if self.scope.is_quick else "drift")
            return await self.respond(read.told_of(made), Searched(depth, tree, first, found))

    async def answer_in_spite_of(self, error: DriftError) -> RetrieveResponse:
        """Answer with what was found before a failure, or raise that.

        What follow-ups found stands only where the caller's own time is used up.
        """
        concluded = found_in_time(self.scope, self.searched)
        if concluded and self.searched:
            return await self.respond(concluded, self.searched)

        look = self.look
        if look is None or not look.found:
            raise error

        self.scope.lose("deeper_failed", error, code=error.code)
        return await self.answer_by(standing(look))

    def depth(self, used: Literal["quick", "drift"]) -> DepthOut:
        reason = self.look.open if self.look else ""
        return DepthOut(asked=self.request.depth, used=used, reason=reason)

    # -------------------------------------------------------------------------------------- answer
    def followups(
        self, found: PrimerEvidence, handles: RequestHandles, look: Look | None
    ) -> Followups:
        """Return the follow-ups, with the evidence found before the first of them."""
        followups = Followups(self.scope, self.progress, handles=handles)
        if "trace" in self.request.include:
            followups.tell = self.telling.followup

        followups.tree.keep(found.samples)
        if look and look.found:
            followups.tree.take(look.node, look.evidence.chunks, look.counts)
            followups.queue.begin_with(look.node)

        return followups

    async def respond(self, concluded: Conclusion, searched: Searched) -> RetrieveResponse:
        """Return the answer that is made of a conclusion, and tell it."""
        self.tree = searched.tree
        is_cut = any(node.state.is_cut_short for node in searched.tree.nodes.values())
        ended_by = self.scope.ended_by
        arrivals.tell(depth_used=searched.depth.used, verdict=concluded.verdict)
        self.is_whole = not (self.scope.lost or is_cut or ended_by)
        answered = build_response(concluded, searched, self.request.include)
        if ended_by:
            arrivals.tell(ended_by=ended_by[0])
            answered = cut_short(answered, ended_by[0])
        if "references" in self.request.include:
            self.telling.ended(answered.final_answer)
            vector = self.look.vector if self.look else ()
            chunk_ids = cited_chunks(concluded.statements)
            known = await self.lookup.known(self.request, chunk_ids, vector, self.scope.deadline)
            references = build_references(concluded, searched.tree.retrieved, known)
            self.is_whole = self.is_whole and not known.unread
            answered = with_references(answered, concluded, references)

        return self.tell(answered)

    def no_data(self, searched: Searched) -> RetrieveResponse:
        """Answer that the project holds nothing for the question, and report it."""
        arrivals.tell(depth_used=searched.depth.used, verdict=Conclusion().verdict)
        self.progress.completed("Nothing was found in this project")
        return nothing_found(searched, self.request.include)

    def tell(self, answered: RetrieveResponse) -> RetrieveResponse:
        """Tell whoever follows the answer, and report it."""
        self.telling.whole(answered)
        names = citations.document_names(answered.cited)
        self.progress.completed("The answer is ready", name_list(names, bracketed=True))
        return answered

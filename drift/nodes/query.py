"""One question to the nodes, top to bottom: embed, find the nearest, ask the model of them."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace

from drift.answer.streaming import Telling
from drift.contracts.rag import NearestOut, RagResponse, RelatedOut, SourceOut
from drift.core.deadline import Deadline
from drift.core.errors import ModelUnavailableError, UnusableReplyError
from drift.model.calls import Prompt
from drift.model.found_nodes import CHUNK, COMMUNITY, ENTITY, FoundNode, FoundNodes, NodesQuery
from drift.model.limits import prompt_bound
from drift.nodes.measuring import Measured, Measuring
from drift.nodes.node_citations import NOT_ENOUGH, cited, cleaned
from drift.nodes.node_context import MAX_CONTEXT_TOKENS, asked_of
from drift.nodes.ports import NodeFinder
from drift.ports import AnswerSlot, Listener, Ports
from drift.prompting.tokens import most_tokens
from drift.search.scope import WORTH_ASKING_AGAIN
from drift.telemetry import parts
from drift.telemetry.parts import Part

SHOWN = 5
_SHORTER = "\n\nReply in a few sentences."


@dataclass(frozen=True, slots=True)
class RagRules:
    """The labels and the embedding model of a search; a `threshold` replaces each project's own."""

    labels: tuple[str, ...] = (CHUNK, ENTITY, COMMUNITY)
    threshold: float | None = None
    model: str = ""
    max_prompt_tokens: int = MAX_CONTEXT_TOKENS


@dataclass(frozen=True, slots=True)
class _Nearest:
    """The nearest nodes, the nearest first; without a threshold all of them are near enough.

    `is_settled` is false while the project's threshold is still being measured.
    """

    nodes: tuple[FoundNode, ...] = ()
    threshold: float | None = None
    is_settled: bool = True

    @property
    def near_enough(self) -> tuple[FoundNode, ...]:
        least = -math.inf if self.threshold is None else self.threshold
        return tuple(node for node in self.nodes if node.score >= least)

    def refused(self) -> NearestOut | None:
        """Return the nearest of nodes that are not near enough."""
        if not self.nodes or self.threshold is None:
            return None

        node = self.nodes[0]
        return NearestOut(
            node_id=node.id,
            node_type=node.node_type,
            title=node.title,
            score=round(node.score, 6),
            threshold=round(self.threshold, 6),
        )


class RagSearch:
    """Answers questions from nodes; it holds nothing about a request."""

    def __init__(self, ports: Ports, finder: NodeFinder, rules: RagRules) -> None:
        """Keep the servers and the rules of every question."""
        self._ports = ports
        self.finder = finder
        self._rules = rules
        self._measuring = Measuring(finder, ports.embedder)

    def over(self, finder: NodeFinder) -> RagSearch:
        """Return the same search over what another finder finds; thresholds stay the project's."""
        other = copy(self)
        other.finder = finder
        return other

    async def answer(  # noqa: PLR0913, PLR0917 - what is asked, until when, and who is told
        self,
        question: str,
        project_id: str,
        retrieval_id: str,
        deadline: Deadline,
        listener: Listener | None = None,
        slot: AnswerSlot | None = None,
    ) -> RagResponse:
        """Answer a question, telling a listener of the answer while the model writes it.

        An answer that stands in the slot is told again, another one is kept there. UpstreamError
        when graph or model failed after their retries, or time ran out.
        """
        telling = Telling(listener)
        with parts.rag(retrieval_id, project_id) as whole:
            async with deadline.enforced():
                response = await slot.recall(RagResponse, deadline) if slot else None
                if response:
                    parts.recalled()
                else:
                    found = await self._nearest(question, project_id, deadline, whole)
                    response = await self._written(question, found, deadline, telling)
                    if slot and response.sources and found.is_settled:
                        slot.keep(response)

            if not response.sources:
                whole.outcome = "no_data_found"

            whole.add(sources=len(response.sources), cited=sum(s.cited for s in response.sources))

        telling.ended(response.answer)
        if listener:
            listener.sources(response.sources)
        return response

    async def _nearest(
        self, question: str, project_id: str, deadline: Deadline, whole: Part
    ) -> _Nearest:
        """Return the nearest nodes, with the threshold that they are held to."""
        embeddings = await self._ports.embedder.embed([question], deadline)
        query = NodesQuery(project_id, embeddings.vectors[0], self._rules.labels, SHOWN)
        found = await self.finder.nearest_nodes(query, deadline)
        if not found.nodes:
            return _Nearest()

        threshold = await self._threshold(query, found, deadline)
        nearest = _Nearest(found.nodes, threshold.score, threshold.is_known)
        parts.scored([node.score for node in found.nodes], threshold.score)
        whole.add(found=len(found.nodes), near=len(nearest.near_enough))

        return nearest

    async def _threshold(
        self, query: NodesQuery, found: FoundNodes, deadline: Deadline
    ) -> Measured:
        """Return the threshold of the settings, else the project's stored one, else measure it."""
        if self._rules.threshold is not None:
            return Measured(self._rules.threshold, is_known=True)
        dimensions, kept = len(query.vector), found.threshold
        if kept and kept.is_whole and kept.fits(dimensions, self._rules.model):
            return Measured(kept.unrelated, is_known=True)
        return await self._measuring.score(query.project_id, dimensions, deadline)

    async def _written(
        self, question: str, found: _Nearest, deadline: Deadline, telling: Telling
    ) -> RagResponse:
        near = found.near_enough
        if not near:
            return RagResponse(answer=NOT_ENOUGH, sources=[], nearest=found.refused())

        most = min(self._rules.max_prompt_tokens, MAX_CONTEXT_TOKENS)
        bound = prompt_bound(most, self._ports.chat.longest_prompt)
        prompt, shown = asked_of(question, near, bound - most_tokens(_SHORTER))
        answer = await self._asked(prompt, len(shown), deadline, telling)
        named = cited(answer)
        sources = [_source(node, n in named) for n, node in enumerate(shown, start=1)]

        return RagResponse(answer=answer, sources=sources)

    async def _asked(self, prompt: Prompt, shown: int, deadline: Deadline, telling: Telling) -> str:
        """Return the model's answer; an empty or cut one is asked for once more."""
        hear = telling.hear(lambda reply: cleaned(reply, shown))
        try:
            try:
                reply = await self._ports.chat.complete(prompt, deadline, hear)
                return _usable(reply.text, shown)
            except UnusableReplyError as error:
                if error.detail not in WORTH_ASKING_AGAIN:
                    raise

            again = replace(prompt, user=prompt.user + _SHORTER)
            reply = await self._ports.chat.complete(again, deadline, hear)
            return _usable(reply.text, shown)
        except UnusableReplyError as error:
            raise ModelUnavailableError(error.sentence) from error


def _usable(text: str, shown: int) -> str:
    """Return an answer whose citations name nodes that are there; UnusableReplyError for none."""
    if answer := cleaned(text, shown):
        return answer
    raise UnusableReplyError("empty")


def _source(node: FoundNode, is_cited: bool) -> SourceOut:
    return SourceOut(
        node_id=node.id,
        node_type=node.node_type,
        title=node.title,
        score=round(node.score, 6),
        text=node.text,
        cited=is_cited,
        related=[
            RelatedOut(
                node_id=one.id, title=one.title, node_type=one.node_type, relation=one.relation
            )
            for one in node.related
        ],
    )

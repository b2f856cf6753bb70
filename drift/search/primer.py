"""The primer: a vector to search with, the best communities, and the first follow-ups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drift.contracts.progress import Phase
from drift.contracts.replies import PrimerReply
from drift.core.errors import UnusableReplyError
from drift.evidence.handles import without_handles
from drift.model.graph import (
    Chunk,
    LocalVector,
    Position,
    PrimerEvidence,
    PrimerQuery,
    Vector,
    texts_of,
)
from drift.model.tree import Proposal
from drift.prompting import budget
from drift.prompting.elements import RequestHandles, candidate_handles
from drift.search.progress import Progress, title_lines
from drift.search.quick import Look
from drift.search.scope import Scope

MAX_LEADS = 5  # candidates that a follow-up reads first, as many as its prompt asks for at most


@dataclass(frozen=True, slots=True)
class Primer:
    """The steps of a search before its first follow-up; `look` is the one look before them."""

    scope: Scope
    progress: Progress
    look: Look | None

    async def embed(self) -> tuple[Vector, bool]:
        """Return the vector to search with, and whether the project's communities are topics."""
        hyde = self.scope.limits.hyde
        vector = await self._embed(is_imagined=True) if hyde == "always" else ()
        has_topics = await self.scope.has_topics()
        if not vector:
            vector = await self._embed(is_imagined=hyde == "auto" and not has_topics)
        return vector, has_topics

    async def _embed(self, *, is_imagined: bool) -> Vector:
        """Return the vector of the question, with a hypothesis (HyDE) where one is imagined."""
        if self.look and self.look.vector and not is_imagined:
            return self.look.vector

        if is_imagined:
            hypothesis = await self._imagine()
        else:
            hypothesis = ""
            self.progress.report(Phase.EXPANDING_QUERY, "Searching with the question itself")
        [vector] = await self.scope.embed([f"{self.scope.question}\n{hypothesis}".strip()])
        return vector

    async def _imagine(self) -> str:
        """Return a hypothesis (HyDE); without a usable one, the question alone is searched with."""
        self.progress.report(Phase.EXPANDING_QUERY, "Imagining an ideal answer to search with")
        most = self.scope.limits.max_prompt_tokens
        prompt = budget.hypothesis(self.scope.question, most)
        try:
            reply = await self.scope.ports.chat.complete(prompt, self.scope.deadline)
        except UnusableReplyError as error:
            self.scope.lose("hypothesis_unusable", reason=error.detail)
            return ""

        # Characters of a hypothesis that are embedded: an embedding model refuses a longer text.
        return reply.text[:4000]

    async def find_communities(self, vector: Vector, has_topics: bool) -> PrimerEvidence:
        """Return the best communities, highest level first, and what the question finds."""
        self.progress.report(Phase.RETRIEVING_COMMUNITIES, "Looking for communities")
        if self.look and self.look.vector == vector:
            evidence = self.look.evidence
        else:
            evidence = await self.scope.find(self.scope.question, vector)

        asked, graph, deadline = self.scope.request, self.scope.ports.graph, self.scope.deadline
        voters = tuple(chunk.id for chunk in evidence.chunks)
        query = PrimerQuery(asked.project_id, voters, vector, asked.top_k)
        # Whether a project has second vectors is seen where they are looked at.
        votes = has_topics and not isinstance(vector, LocalVector)
        found = await graph.topics(query, deadline) if votes else ()
        if not found:
            found = await graph.primer(query, deadline)

        self.progress.report(
            Phase.RETRIEVING_COMMUNITIES,
            f"Found {len(found)} communities",
            title_lines(community.summary for community in found),
        )
        return PrimerEvidence(found, evidence.candidates).without_weak()

    async def plan(
        self, found: PrimerEvidence, handles: RequestHandles
    ) -> tuple[PrimerReply, list[Proposal]]:
        """Return the model's plan, empty where its reply is unusable, and the first follow-ups."""
        question, most = self.scope.question, self.scope.limits.max_primer_tokens
        reading = budget.primer(question, found, handles.communities, most)
        try:
            reply = await self.scope.ask(reading.prompt, PrimerReply)
        except UnusableReplyError as error:
            self.scope.lose("primer_unusable", reason=error.detail)
            reply = PrimerReply.empty()

        candidates = candidate_handles(reading.shown)
        summaries = (community.summary for community in found.communities)
        said_by = [question, *summaries, *texts_of(found.candidates)]
        in_prose = handles.in_prose({}) | dict.fromkeys(candidates.all_short(), "")
        reply = reply.said(lambda text: without_handles(text, in_prose, said_by))
        return reply, self._proposals(reply, reading.shown, handles)

    def _proposals(
        self, first: PrimerReply, shown: Sequence[Chunk], handles: RequestHandles
    ) -> list[Proposal]:
        """Return the first follow-ups, with the question itself where there are fewer than two."""
        names, candidates = handles.communities, candidate_handles(shown)
        chunks = {chunk.id: chunk for chunk in shown}
        proposed = []
        for asked in first.followups:
            targets = names.resolved(asked.target_communities)
            position = Position(asked.position, asked.document) if asked.position else None
            read = candidates.resolved(asked.read)[:MAX_LEADS]
            leads = tuple(map(chunks.__getitem__, read))
            proposed.append(Proposal(asked.question, targets, position=position, leads=leads))

        has_begun = self.look is not None and self.look.found
        if not proposed or (len(proposed) == 1 and not has_begun):
            proposed.append(Proposal(self.scope.question, names.keys))

        return proposed

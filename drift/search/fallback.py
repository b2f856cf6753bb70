"""Second vectors are searched while the provider of embeddings fails.

They are by a local model, in indexes of their own. A vector says itself of which model it is, so no
vector ever meets one of the other model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from drift.core.circuit_breaker import CircuitBreaker
from drift.core.deadline import Deadline
from drift.core.errors import DriftError, UpstreamError
from drift.core.shared_build import SharedBuild
from drift.model.calls import Embeddings
from drift.model.graph import (
    Candidates,
    FollowupQuery,
    LocalVector,
    PrimerEvidence,
    PrimerQuery,
    Topic,
    TopicsQuery,
)
from drift.model.health import GraphHealth
from drift.model.passages import Passages, PassagesQuery
from drift.model.reading import AboutProject
from drift.ports import Embedder, GraphStore, PassageReader, Ports

PROVIDER_S = 20.0
"""The provider gets no more of a request's time than this, and no more than half of it."""
ASKED = "ready?"
"""What the provider is asked to embed where it is asked how it stands."""


class FallbackEmbedder:
    """Embedder: the provider's vectors, or LocalVectors of `local` while the provider fails.

    One request says little of the provider: it may have no time left, or a text that no model
    takes. So a failure makes `model`, the provider itself without a cache, be asked beside the
    requests, and what that says counts for all of them.
    """

    def __init__(
        self, provider: Embedder, model: Embedder, local: Embedder, breaker: CircuitBreaker
    ) -> None:
        """Ask nobody yet."""
        self.provider, self.local = provider, local
        self.breaker = breaker
        self.probe = SharedBuild(lambda: self._ask(model))

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embeddings:
        """Return one vector a text; errors of the provider where there is no local model."""
        share = Deadline.after(min(deadline.require() / 2, PROVIDER_S))
        if self.breaker.problem:
            if self.breaker.allow():
                self.probe.start()
            return await self.local.embed(texts, deadline)

        try:
            return await self.provider.embed(texts, share)
        except UpstreamError as error:
            if share.total_s == PROVIDER_S and not share.remaining():  # silent for all that time
                self.breaker.fail(error.detail)
            else:
                self.probe.start()
            try:
                return await self.local.embed(texts, deadline)
            except DriftError:
                raise error from None

    async def _ask(self, model: Embedder) -> None:
        try:
            await model.embed([ASKED], Deadline.after(PROVIDER_S))
        except DriftError as error:
            self.breaker.fail(error.detail)
        else:
            self.breaker.succeed()


@dataclass(frozen=True, slots=True)
class FallbackGraph:
    """GraphStore: each query goes to the indexes of its vector's model."""

    provider: GraphStore
    local: GraphStore

    async def primer(self, query: PrimerQuery, deadline: Deadline) -> PrimerEvidence:
        """Return the best communities, or else the best chunks."""
        return await self._of(query.vector).primer(query, deadline)

    async def has_topics(self, project_id: str, deadline: Deadline) -> bool:
        """Tell whether the project's communities are topics."""
        return await self.provider.has_topics(project_id, deadline)

    async def topics(self, query: TopicsQuery, deadline: Deadline) -> tuple[Topic, ...]:
        """Return the topics that hold the best chunks, by whichever vectors these were found."""
        return await self.provider.topics(query, deadline)

    async def followup(self, query: FollowupQuery, deadline: Deadline) -> Candidates:
        """Return the best chunks for a follow-up and their neighbourhood."""
        return await self._of(query.vector).followup(query, deadline)

    async def health(self) -> GraphHealth:
        """Return the state of the provider's indexes."""
        return await self.provider.health()

    def _of(self, vector: Sequence[float]) -> GraphStore:
        return self.local if isinstance(vector, LocalVector) else self.provider


@dataclass(frozen=True, slots=True)
class FallbackPassages:
    """PassageReader: a passage is compared by the vector of the question's model."""

    provider: PassageReader
    local: PassageReader

    async def about(self, project_id: str, deadline: Deadline) -> AboutProject:
        """Return what the project knows of itself."""
        return await self.provider.about(project_id, deadline)

    async def passages(self, query: PassagesQuery, deadline: Deadline) -> Passages:
        """Return how near each is to the question, how old, and which documents say the same."""
        reader = self.local if isinstance(query.vector, LocalVector) else self.provider
        return await reader.passages(query, deadline)


def of_provider(ports: Ports) -> Ports:
    """Return the ports without the local model: people's own nodes have no second vector."""
    embedder = ports.embedder
    if isinstance(embedder, FallbackEmbedder):
        return replace(ports, embedder=embedder.provider)
    return ports


def breaker(clock: Callable[[], float]) -> CircuitBreaker:
    """Return what remembers that the provider fails."""
    return CircuitBreaker("embedding_provider", clock)

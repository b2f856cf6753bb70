"""Second vectors are searched while the provider of embeddings fails.

They are by a local model, in indexes of their own. A vector says itself of which model it is, so no
vector ever meets one of the other model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from drift.core.circuit_breaker import CircuitBreaker
from drift.core.deadline import Deadline
from drift.core.errors import DriftError, UpstreamError
from drift.core.shared_build import SharedBuild
from drift.model.calls import Embeddings
from drift.ports import Embedder, Ports

PROVIDER_S = 20.0
"""The provider gets no more of a request's time than this, and no more than half of it."""


class FallbackEmbedder:
    """Embedder: the provider's vectors, or LocalVectors of `local` while the provider fails.

    One request says little of the provider: it may have no time left, or a text that no model
    takes. So a failure makes `model`, the provider itself without a cache, be asked beside the
    requests, and its word counts for all of them.
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
            await model.embed(["ready?"], Deadline.after(PROVIDER_S))
        except DriftError as error:
            self.breaker.fail(error.detail)
        else:
            self.breaker.succeed()


def of_provider(ports: Ports) -> Ports:
    """Return the ports without the local model: people's own nodes have no second vector."""
    embedder = ports.embedder
    if isinstance(embedder, FallbackEmbedder):
        return replace(ports, embedder=embedder.provider)
    return ports

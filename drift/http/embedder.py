"""What embeds the questions of searches, by the settings."""

from __future__ import annotations

import time

from drift.core.circuit_breaker import CircuitBreaker
from drift.http.settings import Settings
from drift.http.settings_search import embedding_prefixes
from drift.llm.local_embedder import LocalEmbedder
from drift.ports import Embedder
from drift.redis.embedding_cache import CachedEmbedder, Space
from drift.redis.entries import CacheEntries, RedisEntries
from drift.search.fallback import FallbackEmbedder


def build_embedder(model: Embedder, settings: Settings, entries: RedisEntries | None) -> Embedder:
    """Return the model, behind a cache unless `CACHE=off`, and with the fallback where it is on."""
    embedder = model
    if settings.cache != "off":
        space = Space(
            server=settings.oai_base_url,
            model=settings.oai_embed_model_name,
            deployment=settings.oai_embed_deployment_name,
            dimensions=settings.vector_index_dimensions,
            prefix=embedding_prefixes(settings.oai_embed_prefixes)[0],
        )
        embedder = CachedEmbedder(model, space, CacheEntries(entries))
    if settings.embed_fallback == "local":
        known = CircuitBreaker("embedding_provider", time.monotonic)
        embedder = FallbackEmbedder(embedder, model, LocalEmbedder(), known)
    return embedder

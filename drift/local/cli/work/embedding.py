"""What `drift bench cache` does."""

from __future__ import annotations

from dataclasses import asdict

from drift.http import settings, wiring
from drift.local.cli.console import print_result
from drift.local.evals.embedding_cache import measure_cache, measure_own_share
from drift.local.stack.valkey_server import ValkeyServer
from tests.model_server.process import slow_model


async def bench(embed_ms: float, *, as_json: bool) -> None:
    """Measure embeddings that are kept, and such as are asked of a model of this latency."""
    with ValkeyServer() as valkey:
        measured = await measure_cache(valkey.url)

    # no database is spoken to
    nowhere = {"NEO4J_URI": "bolt://localhost", "NEO4J_PASSWORD": "unused"}
    with slow_model(embed_ms=embed_ms) as server:
        chat, embedder = wiring.build_models(settings.load({**server.env, **nowhere}))
        async with chat.client:
            measured.append(await measure_own_share(embedder, embed_ms / 1000))

    for one in measured:
        print_result(asdict(one), as_json=as_json)

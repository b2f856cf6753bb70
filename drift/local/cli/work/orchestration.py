"""What `drift bench orchestration` does."""

from __future__ import annotations

from dataclasses import asdict

from drift.http import settings, wiring
from drift.local.cli.console import print_result
from drift.local.evals.orchestration import measure
from tests.model_server.process import slow_model


async def orchestration(chat_ms: float, embed_ms: float, *, as_json: bool) -> None:
    """Measure one search against a model server of these latencies, and print what it cost."""
    # no database is spoken to: the graph is in memory
    nowhere = {"NEO4J_URI": "bolt://localhost", "NEO4J_PASSWORD": "unused"}
    with slow_model(chat_ms=chat_ms, embed_ms=embed_ms) as server:
        chat, embedder = wiring.build_models(settings.load({**server.env, **nowhere}))
        result = await measure(chat, embedder, chat_ms / 1000, embed_ms / 1000)
    print_result(asdict(result), as_json=as_json)

"""`drift bench orchestration`: the search against a model of fixed latency."""

from __future__ import annotations

from drift.local.cli.options import ChatLatency, EmbeddingLatency, Json
from drift.local.cli.run import run


def orchestration(
    chat_ms: ChatLatency = 200, embed_ms: EmbeddingLatency = 50, as_json: Json = False
) -> None:
    """Measure wall time over the longest chain of calls, with a model of fixed latency and a graph
    in memory.
    """
    from drift.local.cli.work import orchestration as work

    run(work.orchestration(chat_ms, embed_ms, as_json=as_json))

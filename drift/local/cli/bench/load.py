"""`drift bench load`: the servers, the function in a process of its own, the callers, the table."""

from __future__ import annotations

from typing import Annotated

import typer

from drift.local.cli.options import (
    DEFAULT_DATA_DIR,
    DEFAULT_VERSION,
    CacheDir,
    ChatLatency,
    DataDir,
    Depth,
    EmbeddingLatency,
    Json,
    Neo4jVersion,
    TokenLatency,
    numbers,
    stack_options,
)
from drift.local.cli.run import run
from drift.local.evals.load.process import GraphName, HostName

MAX_CALLERS = 1000


def load(
    callers: Annotated[
        str, typer.Option(help="Callers at once, with commas between the levels.")
    ] = "1,8,32,128",
    requests: Annotated[
        int, typer.Option(help="Answers at each level; at least two a caller.", min=1)
    ] = 200,
    soak: Annotated[
        int, typer.Option(help="Requests of the soak that follows; 0 leaves it out.", min=0)
    ] = 0,
    host: Annotated[
        HostName,
        typer.Option(help="The host of `make serve`, or the real worker library (Python 3.13)."),
    ] = "local",
    graph_: Annotated[
        GraphName,
        typer.Option("--graph", help="The sample corpus in Neo4j, or five communities in memory."),
    ] = "neo4j",
    chat_ms: ChatLatency = 0,
    embed_ms: EmbeddingLatency = 0,
    token_ms: TokenLatency = 0,
    depth: Depth = "drift",
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Put load on the function in a process of its own.

    Latency, refusals, loop lag, memory, sockets, tasks.

    The local model server answers what it was asked before at no cost, so that nothing but the
    latencies asked for is its own. In the soak one caller in ten leaves before the answer and one
    in ten in the middle of a stream.
    """
    levels = tuple(numbers(callers, "--callers", MAX_CALLERS))

    from drift.local.cli.work import load as work

    asked = work.LoadOptions(
        levels,
        requests,
        soak,
        host=host,
        graph=graph_,
        chat_ms=chat_ms,
        embed_ms=embed_ms,
        token_ms=token_ms,
        depth=depth,
    )
    run(work.load(stack_options(version, data_dir, cache_dir), asked, as_json=as_json))

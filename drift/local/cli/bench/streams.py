"""`drift bench streams`: how soon the words of an answer are there, and how late each sentence."""

from __future__ import annotations

from typing import Annotated

import typer

from drift.local.cli.options import (
    DEFAULT_DATA_DIR,
    DEFAULT_VERSION,
    CacheDir,
    ChatLatency,
    DataDir,
    Json,
    Neo4jVersion,
    TokenLatency,
    numbers,
    stack_options,
)
from drift.local.cli.run import run

MAX_CALLERS = 200
MAX_REQUESTS = 500


def streams(
    callers: Annotated[
        str, typer.Option(help="Callers at once, with commas between the levels.")
    ] = "1,32",
    requests: Annotated[
        int,
        typer.Option(help="Answers at each level; at least two a caller.", min=1, max=MAX_REQUESTS),
    ] = 64,
    depth: Annotated[str, typer.Option(help="How far to go: `quick` or `drift`.")] = "quick",
    chat_ms: ChatLatency = 1000,
    token_ms: TokenLatency = 16.7,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Stream answers from the function in a process of its own, by the clock of the model's server.

    The local model server writes a reply a token at a time and notes when. A sentence counts from
    the token with which it could be told, and from the one that ends it.
    """
    levels = tuple(numbers(callers, "--callers", MAX_CALLERS))
    if depth not in ("quick", "drift"):
        raise typer.BadParameter(f"quick or drift is expected, not {depth!r}", param_hint="--depth")

    from drift.local.cli.work import streams as work
    from drift.local.cli.work.load import LoadOptions

    asked = LoadOptions(levels, requests, chat_ms=chat_ms, token_ms=token_ms, depth=depth)
    run(work.streams(stack_options(version, data_dir, cache_dir), asked, as_json=as_json))

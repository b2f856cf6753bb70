"""`drift demo`: the sample corpus ingested and asked about, end to end on real servers."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drift.local.cli import options
from drift.local.cli.console import print_json, show_answer, stderr
from drift.local.cli.run import command

if TYPE_CHECKING:
    from drift.http.settings import Settings
    from drift.local.stack.stack import Stack

REDIS_INFO_S = 2.0


@command()
async def demo(
    stack_options: options.StackOptions,
    question: Annotated[
        str, options.text("What to ask about Python.", "--question", "-q")
    ] = options.DEMO_QUESTION,
    as_json: options.Json = False,
) -> None:
    """Ingest the Python reference manual and answer a question about it, end to end on real
    servers.

    Succeeds only with a cited answer.
    """
    from drift.local.cli.asking import ask_function
    from drift.local.cli.ingestion import ingest_sample
    from drift.local.cli.servers import running, warm_up
    from drift.local.hosts.local_host import serving

    times = {"begin": time.perf_counter()}
    async with running(stack_options) as (stack, values):
        times["stack_s"] = time.perf_counter()
        await ingest_sample(values)
        times["ingest_s"] = time.perf_counter()
        await warm_up(values)  # behind the first documents, which bring the indexes
        async with serving() as url:
            stderr.print(f"\nAsking POST {url}/retrieve", markup=False)
            include = [] if as_json else ["verdict"]
            body = {"query": question, "project_id": options.DEMO_PROJECT, "include": include}
            answered = await ask_function(url, values, body)
            times["retrieve_s"] = time.perf_counter()

        servers = await _servers(values, stack)

    timings = _seconds(times)
    if as_json:
        print_json(
            {
                "question": question,
                "response": answered.response,
                "progress": answered.progress,
                "timings": timings,
                "servers": servers,
            }
        )
    else:
        show_answer(question, answered.response)
        _say_what_next(timings, servers)

    if not answered.is_cited:
        stderr.print(
            "[yellow]No answer with evidence was found; the local model only copies sentences.[/]"
        )
        raise typer.Exit(1)


def _say_what_next(laps: dict[str, float], servers: dict[str, str]) -> None:
    seconds = ", ".join(f"{name.removesuffix('_s')} {value:.1f} s" for name, value in laps.items())
    stderr.print(f"\n[dim]{seconds}; {servers['neo4j']}, {servers['valkey']}[/]")
    stderr.print('[dim]Ask your own: make demo Q="..."   Keep the servers: make serve[/]')


async def _servers(values: Settings, stack: Stack) -> dict[str, str]:
    """Ask the servers what they are."""
    from drift.http import wiring
    from drift.local.wiring import closing

    async with closing(wiring.build_graph(values)) as graph:
        neo4j = (await graph.health()).server

    info = await _redis_info(values)
    version = info.get("valkey_version") or info.get("redis_version")
    redis = "Valkey" if "valkey_version" in info else "Redis"
    return {
        "neo4j": neo4j,
        "valkey": f"{redis}/{version}" if version else "none",
        "model": values.oai_model,
        "embedding_model": values.oai_embed_model_name,
        "started_here": ", ".join(name for name, pid in stack.pids.items() if pid) or "none",
    }


async def _redis_info(values: Settings) -> dict[str, Any]:
    """Ask Redis what it is; nothing when there is none, or it does not answer."""
    from drift.http import wiring

    try:
        server = await asyncio.to_thread(wiring.build_redis, values)
        if server is None:
            return {}
        async with asyncio.timeout(REDIS_INFO_S), server.client() as client:
            await server.signed_in()
            return dict(await client.info("server"))
    except Exception:  # noqa: BLE001 - it adorns one line, and progress has said what is wrong
        return {}


def _seconds(times: dict[str, float]) -> dict[str, float]:
    """Return the seconds between moments by the name of the later one, and `total_s`."""
    moments = list(times.values())
    pairs = zip(list(times)[1:], pairwise(moments), strict=True)
    seconds = {name: round(later - before, 2) for name, (before, later) in pairs}
    return {**seconds, "total_s": round(moments[-1] - moments[0], 2)}

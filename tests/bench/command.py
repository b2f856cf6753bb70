"""What benches share: options, servers, the event loop, times, JSON and percentiles."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from drift.core.errors import DriftError, LocalStackError
from drift.http.dispatcher import Dispatcher
from drift.http.settings import Settings
from drift.local.cli.console import log_to_stderr
from drift.local.cli.options import DEFAULT_VERSION, stack_options
from drift.local.cli.servers import running
from drift.local.hosts.local_host import serving
from drift.local.stack.stack import StackOptions

Options = argparse.Namespace


def read_options(about: str | None, *, servers: bool = False, **own: tuple[Any, ...]) -> Options:
    """Return what the command line says.

    Each of `own` is a default, its help, and the choices where there are some. The default says
    what is expected: a number, a text, numbers with commas between them (a tuple), a path that is
    wanted (`Path`), or paths, one each time the option is named (`[Path]`). `servers` adds what the
    local servers need: see `stack_of`.
    """
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    for name, (default, told, *choices) in own.items():
        kind = _kind_of(default) | ({"choices": choices} if choices else {})
        parser.add_argument(f"--{name.replace('_', '-')}", help=told, **kind)
    if servers:
        parser.add_argument("--neo4j", default=DEFAULT_VERSION, help="the local Neo4j's version")
        parser.add_argument("--data-dir", type=Path, help="where the local servers keep their data")
        parser.add_argument("--cache-dir", type=Path, help="where downloads are kept")
    parser.add_argument("--json", action="store_true", help="one document a line")
    return parser.parse_args()


def _kind_of(default: Any) -> dict[str, Any]:
    if default is Path:
        return {"type": Path, "required": True}
    if default == [Path]:
        return {"type": Path, "required": True, "action": "append"}
    if isinstance(default, tuple):
        return {"default": default, "type": numbers}
    return {"default": default, "type": type(default)}


def numbers(text: str) -> tuple[int, ...]:
    """Return the whole numbers of a list with commas, each once."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) for part in parts):
        raise argparse.ArgumentTypeError(f"whole numbers with commas between them, not {text!r}")
    return tuple(dict.fromkeys(map(int, parts)))


def stack_of(asked: Options) -> StackOptions:
    """Return how the local servers are started, beside those that the environment names."""
    return stack_options(asked.neo4j, asked.data_dir, asked.cache_dir)


def run(bench: Callable[[Options], Coroutine[Any, Any, None]], asked: Options) -> None:
    """Run a bench to its end; an error of ours is one line, with exit code 1."""
    log_to_stderr()
    try:
        asyncio.run(bench(asked))
    except DriftError as error:
        sys.exit(f"error: {error.detail}")


def show(document: Any, asked: Options) -> None:
    """Print a document: on one line for programs, else for people."""
    print(json.dumps(document, ensure_ascii=False, indent=None if asked.json else 2), flush=True)


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the value that `percent` of 100 do not exceed, by the nearest rank.

    There must be one.
    """
    ordered = sorted(values)
    return ordered[max(0, -(-percent * len(ordered) // 100) - 1)]


async def seconds_of(work: Awaitable[Any]) -> float:
    """Return how long something takes."""
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


async def answered(reply: Awaitable[httpx2.Response]) -> httpx2.Response:
    """Return the answer to a request; one that is refused ends the bench."""
    response = await reply
    if response.is_error:
        raise LocalStackError(f"{response.request.url} ({response.status_code}): {response.text}")
    return response


@asynccontextmanager
async def served(
    options: StackOptions, access: Mapping[str, str], dispatcher: Dispatcher | None = None
) -> AsyncIterator[tuple[httpx2.AsyncClient, Settings]]:
    """Yield a client of the function in this process, and its settings; see `running`."""
    async with (
        running(options, access) as (_, values),
        serving(dispatcher=dispatcher) as url,
        httpx2.AsyncClient(base_url=url, timeout=240, trust_env=False) as client,
    ):
        yield client, values


def milliseconds(
    seconds: Sequence[float], percents: Sequence[int] = (50, 95, 99), digits: int = 1
) -> dict[str, float]:
    """Return percentiles of times as `p50_ms` and so on; the hundredth is `most_ms`, of none 0."""
    values = seconds or [0.0]
    return {
        "most_ms" if percent == 100 else f"p{percent}_ms": round(
            1000 * percentile(values, percent), digits
        )
        for percent in percents
    }

"""What a call of an MCP tool takes beside the route that does the same, on one warm server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from statistics import median
from typing import Any
from urllib.parse import quote

from tests.bench.command import Options, read_options, run, seconds_of, served, show, stack_of
from tests.mcp.calling import ERAS, connected

Call = Callable[[], Awaitable[Any]]


async def bench(asked: Options) -> None:
    """Time each call in turn with the one beside it, so that both meet the same machine."""
    async with (
        served(stack_of(asked), reads=True) as (client, _),
        connected(str(client.base_url).rstrip("/"), ERAS[0]) as modern,
        connected(str(client.base_url).rstrip("/"), ERAS[1]) as legacy,
    ):
        named = {"project": asked.project}
        question = {"question": asked.question, **named}
        found = await modern.call_tool("search", question)
        chunk_id = found.structured_content["passages"][0]["chunk_id"]
        body = {
            "query": asked.question,
            "project_id": asked.project,
            "depth": "quick",
            "include": ["references", "verdict"],
        }
        chunk = f"/chunks/{quote(chunk_id, safe='')}?project_id={quote(asked.project)}"
        tools: dict[str, tuple[Call, dict[str, str]]] = {
            "retrieve": (
                partial(client.post, "/retrieve", json=body),
                {**question, "depth": "quick"},
            ),
            "read_source": (partial(client.get, chunk), {"chunk_id": chunk_id, **named}),
        }
        for tool, (route, arguments) in tools.items():
            calls: dict[str, Call] = {"route": route}
            for era, agent in zip(ERAS, (modern, legacy), strict=True):
                calls[era] = partial(agent.call_tool, tool, arguments)
            show({"tool": tool, **await _medians(calls, asked.calls)}, asked)


async def _medians(calls: dict[str, Call], count: int) -> dict[str, float]:
    """Return the median of each call in milliseconds; the first five of each warm up."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(count + 5):
        for name, call in calls.items():
            taken = await seconds_of(call())
            if turn >= 5:
                seconds[name].append(taken)
    return {f"{name}_ms": round(1000 * median(one), 1) for name, one in seconds.items()}


if __name__ == "__main__":
    run(
        bench,
        read_options(
            __doc__,
            servers=True,
            calls=(30, "calls of each"),
            project=("python-reference", "a project that holds something"),
            question=("How are default parameter values evaluated?", "what is asked"),
        ),
    )

"""What `drift serve` does: it serves the routes until it is stopped."""

from __future__ import annotations

from collections.abc import Sequence

from drift.offline.commands.console import print_json, stderr
from drift.offline.commands.options import DEMO_PROJECT, DEMO_QUESTION, SERVE_PORT
from drift.offline.commands.work.servers import running, warm_up
from drift.offline.hosts.local_host import serving
from drift.offline.stack.stack import StackOptions


async def serve(
    options: StackOptions, port: int | None, allowed: Sequence[str], *, as_json: bool
) -> None:
    """Serve at SERVE_PORT, or at another when `port` is None and it is taken, until cancelled."""
    async with running(options) as (stack, values), serving(port, SERVE_PORT, allowed) as url:
        if port is None and not url.endswith(f":{SERVE_PORT}"):
            stderr.print(f"Port {SERVE_PORT} is taken: another one is used.")
        if as_json:
            print_json({"env": stack.env, "pids": stack.pids, "url": url})

        await warm_up(values)
        stderr.print(f"[green]Ready.[/] The function's routes are at {url}; Ctrl-C ends all of it.")
        stderr.print(_example(url), markup=False)
        await stack.wait()


def _example(url: str) -> str:
    """Return a command that asks the demo's question."""
    return f"""  curl -s {url}/retrieve -H 'content-type: application/json' \\
    -d '{{"query": "{DEMO_QUESTION}", "project_id": "{DEMO_PROJECT}"}}'"""

"""What `drift up` does: it prints the environment of the running servers, and waits."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, AsyncExitStack

from drift.http.settings import Settings
from drift.local.cli.console import print_json, say, stderr
from drift.local.cli.work.servers import running
from drift.local.hosts.browser import browsing, open_page
from drift.local.stack.neo4j.jars import default_cache
from drift.local.stack.stack import Stack, StackOptions


async def up(options: StackOptions, *, browser: bool, as_json: bool) -> None:
    """Print the environment, and open Neo4j Browser if asked to; then wait to be cancelled."""
    async with AsyncExitStack() as ends, running(options) as (stack, values):
        page = await ends.enter_async_context(_browsing(options, values)) if browser else None
        _print_environment(stack, page, as_json=as_json)
        if page:
            _say_who_logs_in(page, stack, values)
            await asyncio.to_thread(open_page, page)
        stderr.print("[green]Ready.[/] Ctrl-C ends the servers, once no other command uses them.")
        await stack.wait()


def _browsing(options: StackOptions, values: Settings) -> AbstractAsyncContextManager[str]:
    cache = options.cache_dir or default_cache()
    return browsing(values.neo4j_uri, values.neo4j_username, values.neo4j_database, cache, say)


def _print_environment(stack: Stack, page: str | None, *, as_json: bool) -> None:
    if as_json:
        print_json({"env": stack.env, "pids": stack.pids, **({"browser": page} if page else {})})
        return
    for name, value in stack.env.items():
        print(f"{name}={value}", flush=True)  # noqa: T201 - the command's output


def _say_who_logs_in(page: str, stack: Stack, values: Settings) -> None:
    password = "that of NEO4J_PASSWORD"  # noqa: S105 - the name of a variable
    if stack.pids["neo4j"]:
        password = values.neo4j_password.get_secret_value()
    stderr.print(f"Neo4j Browser: {page}", markup=False)
    stderr.print(f"  user {values.neo4j_username}, password {password}", markup=False)

"""`drift mcp`: the tools of the Model Context Protocol, on standard input and output."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import redirect_stdout, suppress
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

from drift.local.cli import options
from drift.local.cli.console import stderr
from drift.local.cli.run import command, until_stopped

if TYPE_CHECKING:
    from drift.auth.caller import Caller


@command(until_stopped)
async def mcp(
    stack_options: options.StackOptions,
    project: Annotated[
        str | None,
        options.optional_project(
            "The id of the one project that may be read.", show_default="every one"
        ),
    ] = None,
) -> None:
    """Serve an agent the tools of the Model Context Protocol on standard input and output.

    They are `retrieve`, `search`, `read_source` and `list_projects`. It ends with its input.
    """
    from drift.auth.caller import EVERYBODY, Caller, Grant
    from drift.contracts.request import project_id_problem
    from drift.local.cli.servers import running

    caller = EVERYBODY
    if project is not None:
        problem = project_id_problem(project)
        options.refuse(problem, f"--project {problem}")
        caller = Caller("stdio", (Grant(project, frozenset({"read"})),))

    try:
        async with running(stack_options, reads=True):
            await _serve(caller)
    except asyncio.CancelledError:
        # a thread of the package waits for input, and only the other end could end that
        stderr.print("[dim]Stopped.[/]")
        os._exit(0)


async def _serve(caller: Caller) -> None:
    """Answer until the input ends, or nobody takes the output any more."""
    from drift.http.provider import ServiceProvider
    from drift.integrations.mcp_server import Asker, build_server

    provider = ServiceProvider()
    try:
        service = await provider.get()
        server = build_server(lambda _: Asker(caller, service, str(uuid4())))
        # the package writes to the stream itself, past the one that cleans what people see
        with redirect_stdout(sys.__stdout__), suppress(BrokenPipeError):
            serving = asyncio.create_task(server.run_stdio_async())
            await asyncio.wait({serving})
            _raise_alone(serving.exception())
    finally:
        await provider.close()


def _raise_alone(error: BaseException | None) -> None:
    """Raise an error without the groups around it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if error:
        raise error

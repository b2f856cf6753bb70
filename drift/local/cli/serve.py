"""`drift serve`: the local servers, and the function's routes on loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from drift.local.cli import options
from drift.local.cli.console import log_requests, print_json, stderr
from drift.local.cli.run import command, until_stopped

if TYPE_CHECKING:
    from drift.local.cli.trial import TrialKey


def _host(value: str) -> str:
    from drift.local.hosts.same_machine import host_name

    try:
        return host_name(value)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


@command(until_stopped)
async def serve(
    stack_options: options.StackOptions,
    port: Annotated[
        int | None,
        typer.Option(
            help="Port of the function's routes; 0 takes a free one.",
            min=0,
            max=65535,
            show_default=f"{options.SERVE_PORT}, or a free one when that is taken",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="A host name to answer to beside localhost, for a proxy in front, without a port; "
            "may be repeated.",
            parser=_host,
        ),
    ] = None,
    auth: Annotated[
        Literal["none", "keys"] | None,
        typer.Option(
            help="Who may ask: `none` lets everybody on this machine, `keys` makes two keys of two "
            "projects and prints them.",
            show_default="what AUTH_MODE says, and without that `none`",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Start the local servers and serve the function's own routes on 127.0.0.1.

    Ctrl-C ends all of it.

    With --auth keys callers are asked for a key, as with AUTH_MODE=keys; two are printed.

    The platform's function keys are off. For the Functions host itself use `func start` beside
    `python -m drift up`.
    """
    from drift.contracts.documents import MOST_DOCUMENT_MB
    from drift.http import settings, wiring
    from drift.local.cli import servers
    from drift.local.cli.trial import choose, how_to_ask, settings_with, where_to_look
    from drift.local.hosts.local_host import serving
    from drift.local.stack.loopback import check_port
    from drift.local.wiring import closing

    log_requests()
    if port:
        check_port(port)

    access = {"ENABLE_METRICS": "true"} | ({} if auth is None else servers.WITHOUT_KEYS)
    if not settings.environment().get("MAX_DOCUMENT_MB"):
        access["MAX_DOCUMENT_MB"] = str(MOST_DOCUMENT_MB)
    async with servers.running(stack_options, access) as (stack, values):
        await servers.take_documents(stack, values)
        keys: tuple[TrialKey, ...] = ()
        if auth == "keys":
            async with closing(wiring.build_graph(values)) as graph:
                keys = await choose(graph.reader())
            settings.export(settings_with(keys))

        async with serving(port, options.SERVE_PORT, allow_host or ()) as url:
            if port is None and not url.endswith(f":{options.SERVE_PORT}"):
                stderr.print(f"Port {options.SERVE_PORT} is taken: another one is used.")
            if as_json:
                shown = {"keys": {one.project: one.key for one in keys}} if keys else {}
                print_json({"env": stack.env, "pids": stack.pids, "url": url, **shown})

            await servers.warm_up(values)
            stderr.print(
                f"[green]Ready.[/] The function's routes are at {url}; Ctrl-C ends all of it."
            )
            stderr.print(where_to_look(url, keys), markup=False)
            folder = stack_options.data_dir if stack.pids["neo4j"] else None
            projects = await servers.projects_of(values)
            stderr.print(how_to_ask(url, keys, values.auth_mode, projects, folder), markup=False)
            await stack.wait()

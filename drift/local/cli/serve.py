"""`drift serve`: the local servers, and the function's routes on loopback."""

from __future__ import annotations

from typing import Annotated

import typer

from drift.local.cli.options import (
    DEFAULT_DATA_DIR,
    DEFAULT_VERSION,
    SERVE_PORT,
    Auth,
    CacheDir,
    DataDir,
    Json,
    Neo4jVersion,
    stack_options,
)
from drift.local.cli.run import run, until_stopped


def _host(value: str) -> str:
    from drift.local.hosts.same_machine import host_name

    try:
        return host_name(value)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def serve(
    port: Annotated[
        int | None,
        typer.Option(
            help="Port of the function's routes; 0 takes a free one.",
            min=0,
            max=65535,
            show_default=f"{SERVE_PORT}, or a free one when that is taken",
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
        Auth | None,
        typer.Option(
            help="Who may ask: `none` lets everybody on this machine, `keys` makes two keys of two "
            "projects and prints them.",
            show_default="what AUTH_MODE says, and without that `none`",
        ),
    ] = None,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Start the local servers and serve the function's own routes on 127.0.0.1.

    Ctrl-C ends all of it.

    With --auth keys callers are asked for a key, as with AUTH_MODE=keys; two are printed.

    The platform's function keys are off. For the Functions host itself use `func start` beside
    `python -m drift up`.
    """
    from drift.local.cli.work import serve as work

    options = stack_options(version, data_dir, cache_dir)
    how = work.HowToServe(port, allow_host or (), auth)
    run(until_stopped(work.serve(options, how, as_json=as_json)))

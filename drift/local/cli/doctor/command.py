"""`drift doctor`: what is there and what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drift.local.cli import options
from drift.local.cli.run import command


@command()
async def doctor(
    stack_options: options.StackOptions,
    infra: Annotated[
        bool,
        typer.Option(
            "--infra",
            help="Check the parameters of the deployment to Azure instead, without Azure.",
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Say what is there and what is missing.

    Python, Java, Neo4j's jars, settings, and the servers they name.

    With --infra: what is wrong with infra/main.bicepparam and the environment that it reads, azd's
    (.azure) or this shell's.
    """
    if infra:
        from drift.local.cli.doctor.infra import examine_infra

        fine = examine_infra(Path(), stack_options.given, as_json=as_json)
    else:
        from drift.local.cli.doctor.machine import examine

        fine = await examine(stack_options, as_json=as_json)

    if not fine:
        raise typer.Exit(1)

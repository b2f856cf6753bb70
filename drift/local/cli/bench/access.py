"""`drift bench access`: what telling callers apart costs, and a change of keys under load."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from drift.local.cli.console import print_result
from drift.local.cli.options import Json
from drift.local.cli.run import run


def access(
    rotations: Annotated[
        int, typer.Option(help="Keys that are changed under load; 0 leaves it out.", min=0)
    ] = 100,
    as_json: Json = False,
) -> None:
    """Measure the entrance in every mode, and whether a change of keys refuses anybody.

    The keys' minute passes in a tenth of a second, so that a hundred changes take half a minute.
    """
    from drift.local.evals.access import measure_entrance, rotate

    async def measure() -> None:
        for one in await measure_entrance():
            print_result(asdict(one), as_json=as_json)
        if rotations:
            print_result(asdict(await rotate(rotations)), as_json=as_json)

    run(measure())

"""`drift eval names`: how often a question is refused for a name that nothing shown has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drift.local.cli.options import Json
from drift.local.cli.run import run


def names(
    sets: Annotated[
        Path, typer.Option(metavar="DIR", help="Question sets, as `drift eval recall` takes them.")
    ],
    as_json: Json = False,
) -> None:
    """Measure how often a question is refused for a name that nothing shown has.

    Once with the passages that answer, once with each name misspelt, once without those passages.
    No server is needed.
    """
    from drift.local.cli.work import names as work

    run(work.names(sets, as_json=as_json))

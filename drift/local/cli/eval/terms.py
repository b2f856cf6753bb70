"""`drift eval terms`: how many of the names that people ask about ingestion finds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drift.local.cli.options import Json
from drift.local.cli.run import run


def terms(
    documents: Annotated[
        Path, typer.Option(metavar="DIR", help="The documents, as `drift ingest` takes them.")
    ],
    listed: Annotated[
        Path,
        typer.Option(
            "--terms", metavar="FILE", help='A line a question: {"terms": [...], "topic": "..."}.'
        ),
    ],
    topic: Annotated[str, typer.Option(help="Only the terms of this topic's lines.")] = "",
    as_json: Json = False,
) -> None:
    """Measure which listed names and terms are entities of the graph that ingestion makes.

    No server is needed. The entities drawn at random are to be judged by reading.
    """
    from drift.local.cli.work import terms as work

    run(work.terms(documents, listed, topic, as_json=as_json))

"""`drift eval place`: whether a question about a place is shown the chunk that stands there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drift.local.cli.options import (
    DEFAULT_DATA_DIR,
    DEFAULT_VERSION,
    CacheDir,
    DataDir,
    Embedder,
    Json,
    Neo4jVersion,
    paired,
    stack_options,
)
from drift.local.cli.run import run


def place(
    index: Annotated[
        list[Path],
        typer.Option(
            metavar="DIR", help="documents.jsonl and chunks.jsonl; once for each --questions."
        ),
    ],
    questions: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE", help='A line a question: {"question", "place", "quotes": [...]}.'
        ),
    ],
    embedder: Embedder = "wordllama",
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Measure whether questions about a place are shown the chunk asked for.

    Each index is written into a project of its own, place-NAME, as it is: documents and chunks,
    without a graph. A question is answered when one of the first 5, or 10, chunks holds one of its
    quotes; beside it stands the same search without a position.
    """
    from drift.local.cli.work import place as work

    pairs = paired(index, questions, "index", "indexes")
    options = stack_options(version, data_dir, cache_dir)
    run(work.place(options, pairs, embedder, as_json=as_json))

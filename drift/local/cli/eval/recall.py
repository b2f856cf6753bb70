"""`drift eval recall`: how much of the evidence is found on labelled questions."""

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
    stack_options,
)
from drift.local.cli.run import run


def recall(
    questions: Annotated[
        Path,
        typer.Option(
            "--data",
            metavar="DIR",
            help="Folders with documents.jsonl, questions.jsonl and triples.jsonl.",
        ),
    ],
    embedder: Embedder = "wordllama",
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Measure recall on labelled questions.

    Vector, BM25, their hybrid, hard and soft scope, and the search as it is.

    Each set is loaded into a project of its own; a second run loads nothing. NEO4J_URI, when set,
    must name a database whose vector indexes have the embedder's dimensions, or none.
    """
    from drift.local.cli.work import recall as work

    options = stack_options(version, data_dir, cache_dir)
    run(work.recall(options, questions, embedder, as_json=as_json))

